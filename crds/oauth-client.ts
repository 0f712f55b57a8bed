/** OAuthClient: an application that gets tokens from the tenant's own issuer. */
import Type, { type Static } from 'typebox';
import { bounds } from './bounds.ts';
import { Audiences, ownershipFields, strictObject, TenantRef, text } from './fields.ts';
import { column, columns, type Kind, Status } from './kind.ts';
import { patterns } from './patterns.ts';
import { redirectUriRules } from './redirect-uris.ts';
import { fetchableUrl, immutable, type Rule, rule } from './rule.ts';
import { identityScopes, scopes } from './scopes.ts';

const Uris = (description: string) =>
  Type.Optional(
    Type.Array(text(patterns.visible, bounds.urlCharsMax, 'One URI, compared exactly.'), {
      minItems: 1,
      maxItems: bounds.redirectUrisMax,
      uniqueItems: true,
      description,
    }),
  );

const Url = (description: string) => Type.Optional(text(patterns.visible, bounds.urlCharsMax, description));

const flag = (description: string) => Type.Boolean({ default: false, description });

const member = (description: string) => Type.Optional(text(patterns.base64url, bounds.jwkMemberCharsMax, description));

const Key = strictObject(
  {
    kty: Type.Enum(['EC', 'RSA'], { description: 'Key type.' }),
    kid: Type.Optional(text(patterns.visible, bounds.jwkIdCharsMax, 'Key id, which the header of an assertion names.')),
    alg: Type.Optional(Type.Enum(['ES256', 'RS256'], { description: 'Signature algorithm.' })),
    use: Type.Optional(Type.Enum(['sig'], { description: 'What the key is for: signatures.' })),
    crv: Type.Optional(Type.Enum(['P-256'], { description: 'Curve of an EC key.' })),
    x: member('Coordinate x of an EC key, base64url.'),
    y: member(
      'Coordinate y of an EC key, base64url. Quote "y": YAML 1.1, which kubectl reads, takes the bare word for true.',
    ),
    n: member('Modulus of an RSA key, base64url.'),
    e: member('Exponent of an RSA key, base64url.'),
  },
  { description: 'One public key. A private member, such as d, is refused.' },
);

const SecretName = (description: string) =>
  strictObject({ name: text(patterns.subdomain, bounds.objectNameCharsMax, 'Name of the Secret.') }, { description });

export const OAuthClientSpec = strictObject(
  {
    tenantRef: TenantRef,
    clientId: text(
      patterns.clientId,
      bounds.clientIdCharsMax,
      'The client_id, which also names the client in the API. Immutable.',
    ),
    displayName: Type.Optional(
      text(patterns.oneLine, bounds.displayNameCharsMax, 'Name that users see. Defaults to the clientId.'),
    ),
    enabled: Type.Boolean({
      default: true,
      description: 'Whether the client gets tokens. When it is set to false, tokens that it already has are refused.',
    }),
    applicationType: Type.Enum(['web', 'native', 'spa'], {
      default: 'web',
      description:
        'web: an application on a server. spa: a page in a browser, which has no secret. native: an app on a device, whose redirect URIs may have a private scheme, or any port of a loopback address.',
    }),
    grantTypes: Type.Array(
      Type.Enum(
        ['authorization_code', 'client_credentials', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
        { description: 'One grant type.' },
      ),
      { minItems: 1, maxItems: 4, uniqueItems: true, description: 'How the client may get tokens.' },
    ),
    redirectUris: Uris(
      'Where users may be sent back to after they logged in. Each is compared exactly; there are no wildcards.',
    ),
    postLogoutRedirectUris: Uris('Where users may be sent back to after they logged out.'),
    backchannelLogoutUri: Url(
      'Where the client is told that a session of a user ended (OpenID Connect Back-Channel Logout).',
    ),
    scopes: Type.Optional(
      Type.Array(Type.Enum([...identityScopes, ...scopes], { description: 'One scope.' }), {
        minItems: 1,
        maxItems: identityScopes.length + scopes.length,
        uniqueItems: true,
        description:
          'Scopes that the client may ask for. Those of a back end, such as authz:evaluate, count in tokens of client_credentials; pg:tenant:admin includes all of them. Defaults to none.',
      }),
    ),
    audiences: Type.Optional(
      Audiences(
        "Values of aud that the client may ask for, each of them one of the tenant's audiences. Defaults to all of the tenant's audiences.",
      ),
    ),
    tokenEndpointAuthMethod: Type.Enum(['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'], {
      default: 'client_secret_basic',
      description:
        'How the client authenticates. none: a public client, such as a page or an app, which must use PKCE. private_key_jwt: with a signed assertion.',
    }),
    jwks: Type.Optional(
      strictObject(
        {
          keys: Type.Array(Key, { minItems: 1, maxItems: bounds.clientKeysMax, description: 'The keys.' }),
        },
        { description: "The client's public keys, with private_key_jwt." },
      ),
    ),
    jwksUri: Url("URL of the client's public keys, with private_key_jwt."),
    dpopBoundAccessTokens: flag('Whether the client must use DPoP, which binds its tokens to a key that it has.'),
    requirePushedAuthorizationRequests: flag('Whether the client must push its authorization requests (PAR).'),
    firstParty: flag('Whether users are not asked for their consent to this client, because it belongs to the tenant.'),
    secretRef: Type.Optional(
      SecretName(
        "A Secret in the object's namespace with the key client_secret: 32 to 256 of A-Z, a-z, 0-9, hyphen, dot, underscore and tilde, made by a random generator.",
      ),
    ),
    generateSecret: Type.Optional(
      SecretName(
        "The Secret that is made in the object's namespace, with the keys client_id and client_secret. Where there are no Secrets it is a file for its owner. When it is deleted, another secret is generated, and the one before works for another day.",
      ),
    ),
    ...ownershipFields,
  },
  { description: 'The client and what it may do.' },
);
export type OAuthClientSpec = Static<typeof OAuthClientSpec>;

type Spec = OAuthClientSpec;

/** Those of a back end have a colon, those of users have none. */
const ofBackEnds = (scope: string) => scope.includes(':');

const deviceCode = 'urn:ietf:params:oauth:grant-type:device_code';

const rules: readonly Rule[] = [
  immutable('/spec/tenantRef/name', 'must not change: delete the client and make it in the other tenant'),
  immutable('/spec/clientId', 'must not change: delete the client and make one with the other id'),
  rule<string>({
    at: '/spec/clientId',
    cel: "!(self in ['accord-cli', 'accord-account'])",
    message:
      'must not be accord-cli, which tokens of the command accord name, or accord-account, which is the account page',
    check: (self) => self !== 'accord-cli' && self !== 'accord-account',
  }),
  rule<string>({
    at: '/spec/clientId',
    cel: `!self.matches(r"${patterns.anyUuid.source}")`,
    message: 'must not be a UUID, because users have those ids',
    check: (self) => !new RegExp(patterns.anyUuid.source, 'u').test(self),
  }),
  ...redirectUriRules('/spec/redirectUris'),
  ...redirectUriRules('/spec/postLogoutRedirectUris'),
  rule<Spec>({
    at: '/spec',
    field: '/redirectUris',
    cel: "('authorization_code' in self.grantTypes) == has(self.redirectUris)",
    message: 'must be there with the grant type authorization_code, and only with it',
    check: (self) => self.grantTypes.includes('authorization_code') === (self.redirectUris !== undefined),
  }),
  rule<Spec>({
    at: '/spec',
    field: '/redirectUris',
    cel: "self.applicationType == 'native' || !has(self.redirectUris) || self.redirectUris.all(u, u.startsWith('https://') || u.startsWith('http://'))",
    message: 'must not have a private scheme unless applicationType is native',
    check: ({ applicationType, redirectUris = [] }) =>
      applicationType === 'native' || redirectUris.every((uri) => /^https?:\/\//.test(uri)),
  }),
  fetchableUrl('/spec/backchannelLogoutUri', 'withQuery'),
  fetchableUrl('/spec/jwksUri', 'withQuery'),
  rule<Spec>({
    at: '/spec',
    field: '/grantTypes',
    cel: `!('refresh_token' in self.grantTypes) || 'authorization_code' in self.grantTypes || '${deviceCode}' in self.grantTypes`,
    message: 'must have authorization_code or the device code beside refresh_token: other grants give no refresh token',
    check: ({ grantTypes }) =>
      !grantTypes.includes('refresh_token') ||
      grantTypes.includes('authorization_code') ||
      grantTypes.includes(deviceCode),
  }),
  rule<Spec>({
    at: '/spec',
    field: '/grantTypes',
    cel: "self.tokenEndpointAuthMethod != 'none' || !('client_credentials' in self.grantTypes)",
    message: 'must not have client_credentials with tokenEndpointAuthMethod none: anybody could get such tokens',
    check: (self) => self.tokenEndpointAuthMethod !== 'none' || !self.grantTypes.includes('client_credentials'),
  }),
  rule<Spec>({
    at: '/spec',
    field: '/tokenEndpointAuthMethod',
    cel: "self.applicationType != 'spa' || self.tokenEndpointAuthMethod == 'none'",
    message: 'must be none with applicationType spa: a page cannot keep a secret',
    check: (self) => self.applicationType !== 'spa' || self.tokenEndpointAuthMethod === 'none',
  }),
  rule<Spec>({
    at: '/spec',
    field: '/scopes',
    cel: "!has(self.scopes) || 'client_credentials' in self.grantTypes || self.scopes.all(s, !s.contains(':'))",
    message:
      'must have scopes of back ends only with the grant type client_credentials: in tokens of users they do not count',
    check: ({ scopes: granted = [], grantTypes }) =>
      grantTypes.includes('client_credentials') || !granted.some(ofBackEnds),
  }),
  rule<Spec>({
    at: '/spec',
    field: '/scopes',
    cel: "!has(self.scopes) || !('offline_access' in self.scopes) || 'refresh_token' in self.grantTypes",
    message: 'must have offline_access only with the grant type refresh_token',
    check: ({ scopes: granted = [], grantTypes }) =>
      !granted.includes('offline_access') || grantTypes.includes('refresh_token'),
  }),
  rule<Spec>({
    at: '/spec',
    cel: "self.tokenEndpointAuthMethod == 'private_key_jwt' ? has(self.jwks) != has(self.jwksUri) : !has(self.jwks) && !has(self.jwksUri)",
    message: 'must have one of jwks and jwksUri with tokenEndpointAuthMethod private_key_jwt, and neither with another',
    check: ({ tokenEndpointAuthMethod: method, jwks, jwksUri }) =>
      method === 'private_key_jwt'
        ? (jwks !== undefined) !== (jwksUri !== undefined)
        : jwks === undefined && jwksUri === undefined,
  }),
  rule<Spec>({
    at: '/spec',
    cel: "self.tokenEndpointAuthMethod.startsWith('client_secret_') ? has(self.secretRef) != has(self.generateSecret) : !has(self.secretRef) && !has(self.generateSecret)",
    message:
      'must have one of secretRef and generateSecret with tokenEndpointAuthMethod client_secret_basic and client_secret_post, and neither with none and private_key_jwt',
    check: ({ tokenEndpointAuthMethod: method, secretRef, generateSecret }) =>
      method.startsWith('client_secret_')
        ? (secretRef !== undefined) !== (generateSecret !== undefined)
        : secretRef === undefined && generateSecret === undefined,
  }),
  rule<Static<typeof Key>>({
    at: '/spec/jwks/keys/*',
    cel: "self.kty == 'EC' ? has(self.crv) && has(self.x) && has(self.y) && !has(self.n) && !has(self.e) && (!has(self.alg) || self.alg == 'ES256') : has(self.n) && has(self.e) && !has(self.crv) && !has(self.x) && !has(self.y) && (!has(self.alg) || self.alg == 'RS256')",
    message: 'must have crv, x and y with kty EC (ES256), n and e with kty RSA (RS256), and no others',
    check: ({ kty, alg, crv, x, y, n, e }) => {
      const ec = [crv, x, y];
      const rsa = [n, e];
      const [own, other, fitting] = kty === 'EC' ? [ec, rsa, 'ES256'] : [rsa, ec, 'RS256'];
      const fits = alg === undefined || alg === fitting;
      return fits && own.every((one) => one !== undefined) && other.every((one) => one === undefined);
    },
  }),
];

export const oauthClient = {
  kind: 'OAuthClient',
  plural: 'oauthclients',
  singular: 'oauthclient',
  shortNames: ['aoc'],
  scope: 'Namespaced',
  description:
    "An application that gets tokens from the tenant's own issuer. Whoever may write one can give a back end every right in the tenant.",
  specSchema: OAuthClientSpec,
  statusSchema: Status,
  printerColumns: columns({ tenant: true, own: [column('Client ID', '.spec.clientId', 'The client_id.')] }),
  rules,
  // Who may grant pg:tenant:admin may become a back end with every right.
  editorRole: 'issuer-editor',
  listKeys: [],
} as const satisfies Kind;
