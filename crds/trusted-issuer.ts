/** TrustedIssuer: an identity provider whose access tokens a tenant accepts. Its object name is its name in the API. */
import Type, { type Static } from 'typebox';
import { bounds } from './bounds.ts';
import {
  Audiences,
  contactClaimsFields,
  ownershipFields,
  strictObject,
  TenantRef,
  text,
  tokenMappingFields,
} from './fields.ts';
import { column, columns, type Kind, Status } from './kind.ts';
import { patterns } from './patterns.ts';
import { fetchableUrl, immutable, type Rule, rule } from './rule.ts';
import { scopes } from './scopes.ts';

export const TrustedIssuerSpec = strictObject(
  {
    tenantRef: TenantRef,
    issuer: text(
      patterns.visible,
      bounds.urlCharsMax,
      "The issuer, compared exactly with the claim iss, trailing slash included. Its keys are found through its discovery document unless jwksUri says where they are. Never the portal's issuer or another tenant's.",
    ),
    jwksUri: Type.Optional(
      text(
        patterns.visible,
        bounds.urlCharsMax,
        "URL of the issuer's key set (JWKS). Defaults to the one in the issuer's discovery document.",
      ),
    ),
    audiences: Type.Optional(
      Audiences(
        "Values of aud that tokens of this issuer may have, each of them one of the tenant's audiences. Defaults to all of the tenant's audiences.",
      ),
    ),
    algorithms: Type.Array(Type.Enum(['ES256', 'RS256'], { description: 'One signature algorithm.' }), {
      minItems: 1,
      maxItems: 2,
      uniqueItems: true,
      default: ['ES256', 'RS256'],
      description: 'Signature algorithms that are accepted from this issuer.',
    }),
    tokenMapping: Type.Optional(
      strictObject(tokenMappingFields, {
        description:
          "Claims of this issuer's tokens that name the actor. Defaults to the tenant's mapping; the two are not merged.",
      }),
    ),
    contactClaims: Type.Optional(
      strictObject(contactClaimsFields, {
        description:
          "Claims of this issuer's tokens that hold a user's mail address, and that the issuer has verified it. Only a verified address accepts invitations that are bound to it.",
      }),
    ),
    actorIdPrefix: Type.Optional(
      text(
        patterns.actorIdPrefix,
        bounds.actorIdPrefixCharsMax,
        "Put before each actor id of this issuer, so that its users differ from another issuer's users of the same id.",
      ),
    ),
    sharesActors: Type.Boolean({
      default: false,
      description:
        'Whether equal actor ids of this issuer and of other issuers name the same person. A second issuer needs this or actorIdPrefix.',
    }),
    clients: Type.Enum(['auth0', 'rfc9068', 'keycloak', 'claim', 'none'], {
      default: 'none',
      description:
        "How a client's own token (a back end's, by client_credentials) is told from a user's. auth0: gty is client-credentials, or sub is CLIENT@clients. rfc9068: sub is client_id. keycloak: preferred_username is service-account-AZP. claim: as clientMatch says. none: this issuer has no clients, and every token is a user's. Scopes count in a client's token only.",
    }),
    clientMatch: Type.Optional(
      strictObject(
        {
          claim: text(patterns.visible, bounds.claimPathCharsMax, 'Name of the claim, or a dotted path.'),
          value: Type.String({
            minLength: 1,
            maxLength: bounds.claimValueCharsMax,
            description: 'The value that the claim has in tokens of clients.',
          }),
        },
        {
          description:
            "The claim that marks a client's token, with clients: claim. Whoever can get a token with this value is a back end of the tenant.",
        },
      ),
    ),
    clientScopes: Type.Optional(
      Type.Array(Type.Enum([...scopes], { description: 'One scope.' }), {
        minItems: 1,
        maxItems: scopes.length,
        uniqueItems: true,
        description:
          'Scopes of a client whose token has neither the claim scope nor scp, with clients: claim. For issuers that put no scopes into tokens, such as Kubernetes.',
      }),
    ),
    login: Type.Optional(
      strictObject(
        {
          clientId: text(patterns.visible, bounds.upstreamClientIdCharsMax, 'The client_id that the issuer has given.'),
          secretRef: Type.Optional(
            strictObject(
              { name: text(patterns.subdomain, bounds.objectNameCharsMax, 'Name of the Secret.') },
              {
                description:
                  "A Secret in the object's namespace with the key client_secret. Without it the client has none, and PKCE protects the log-in.",
              },
            ),
          ),
          scopes: Type.Array(text(patterns.scopeToken, bounds.upstreamScopeCharsMax, 'One scope.'), {
            minItems: 1,
            maxItems: bounds.upstreamScopesMax,
            uniqueItems: true,
            default: ['openid', 'email', 'profile'],
            description: 'Scopes that are asked for; openid is one of them.',
          }),
          displayName: text(patterns.oneLine, bounds.displayNameCharsMax, 'Name on the button of the log-in page.'),
        },
        { description: "Lets users of this issuer log in at the tenant's own issuer." },
      ),
    ),
    ...ownershipFields,
  },
  { description: 'The issuer and how its tokens are read.' },
);
export type TrustedIssuerSpec = Static<typeof TrustedIssuerSpec>;

const rules: readonly Rule[] = [
  immutable('/spec/tenantRef/name', 'must not change: delete the issuer and make it in the other tenant'),
  fetchableUrl('/spec/issuer', 'withoutQuery'),
  fetchableUrl('/spec/jwksUri', 'withQuery'),
  rule<{ actorIdPrefix?: string; sharesActors: boolean }>({
    at: '/spec',
    cel: '!(has(self.actorIdPrefix) && self.sharesActors)',
    message:
      'must not have both actorIdPrefix, which keeps the actors of issuers apart, and sharesActors: true, which makes them one',
    check: (self) => !(self.actorIdPrefix !== undefined && self.sharesActors),
  }),
  rule<{ clients: string; clientMatch?: object }>({
    at: '/spec',
    field: '/clientMatch',
    cel: "(self.clients == 'claim') == has(self.clientMatch)",
    message: 'must be there with clients: claim, and only with it',
    check: (self) => (self.clients === 'claim') === (self.clientMatch !== undefined),
  }),
  rule<{ clients: string; clientScopes?: object }>({
    at: '/spec',
    field: '/clientScopes',
    cel: "self.clients == 'claim' || !has(self.clientScopes)",
    message: 'must be there only with clients: claim',
    check: (self) => self.clients === 'claim' || self.clientScopes === undefined,
  }),
  rule<string[]>({
    at: '/spec/login/scopes',
    cel: "'openid' in self",
    message: 'must have the scope openid',
    check: (self) => self.includes('openid'),
  }),
];

export const trustedIssuer = {
  kind: 'TrustedIssuer',
  plural: 'trustedissuers',
  singular: 'trustedissuer',
  shortNames: ['aiss'],
  scope: 'Namespaced',
  description:
    'An identity provider whose access tokens a tenant accepts. Whoever may write one can act as any actor of the tenant.',
  specSchema: TrustedIssuerSpec,
  statusSchema: Status,
  printerColumns: columns({ tenant: true, own: [column('Issuer', '.spec.issuer', 'The issuer: iss of its tokens.')] }),
  rules,
  // Who may trust an issuer may become anybody in that tenant.
  editorRole: 'issuer-editor',
  listKeys: [],
} as const satisfies Kind;
