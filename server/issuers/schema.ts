/** Shapes of the issuers room. An issuer's spec is the custom resource's, without what only a manifest needs. */
import { type Static, Type } from 'typebox';
import { applyDefaults, definitionOf, type TenantSpec, type TrustedIssuerSpec } from '../../crds/index.ts';
import { tokenSteps } from '../core/auth/access-token.ts';
import { Instant, Json } from '../core/db/rows.ts';
import { limits } from '../core/limits.ts';
import type { Owner } from '../core/ownership.ts';

export type IssuerSpec = Omit<TrustedIssuerSpec, 'tenantRef' | 'managementPolicy' | 'adoptionPolicy'>;
export type TokenMappingSpec = TenantSpec['tokenMapping'];

const issuerFields = definitionOf('TrustedIssuer').specSchema.properties;
const { tenantRef: _ref, managementPolicy: _management, adoptionPolicy: _adoption, ...fields } = issuerFields;

const mapping = definitionOf('Tenant').specSchema.properties.tokenMapping;
const contactClaims = issuerFields.contactClaims;
const { issuer, login, ...optional } = fields;
const { secretRef: _secretRef, scopes, ...loginFields } = login.properties;

/** The body of PUT /tenants/{tenant}/token-mapping; what is absent has its default. */
export const TokenMappingBody = Type.Partial(Type.Object(mapping.properties), { additionalProperties: false });

const ContactClaimsBody = Type.Partial(Type.Object(contactClaims.properties), { additionalProperties: false });

/** A manifest names a Secret; in a body its value stands in that place. */
const LoginBody = Type.Object(
  {
    ...loginFields,
    scopes: Type.Optional(scopes),
    clientSecret: Type.Optional(
      Type.Union([Type.String({ minLength: 1, maxLength: limits.secretValueBytesMax }), Type.Null()], {
        description:
          'The secret that the issuer has given. It is never shown. Absent: the one that is stored stays, for the same issuer and clientId. null: none, and PKCE protects the log-in.',
      }),
    ),
  },
  { additionalProperties: false, description: "Lets users of this issuer log in at the tenant's own issuer." },
);

/** The body of PUT /tenants/{tenant}/trusted-issuers/{name}; what is absent has its default. */
export const IssuerBody = Type.Object(
  {
    issuer,
    ...Type.Partial(
      Type.Object({
        ...optional,
        ...{ tokenMapping: TokenMappingBody, contactClaims: ContactClaimsBody, login: LoginBody },
      }),
    ).properties,
  },
  { additionalProperties: false },
);
export type IssuerBody = Static<typeof IssuerBody>;

/** A body with its defaults. */
export function tokenMappingOf(body: Static<typeof TokenMappingBody>): TokenMappingSpec {
  return applyDefaults(mapping, body) as TokenMappingSpec;
}

export const IssuerView = Type.Object({
  name: Type.String(),
  ...fields,
  login: Type.Optional(
    Type.Object({
      ...{ ...loginFields, scopes },
      hasClientSecret: Type.Boolean({ description: 'Whether the client has a secret, which is never shown.' }),
    }),
  ),
  revision: Type.Integer(),
  updatedAt: Type.String(),
  updatedBy: Type.String(),
  managedBy: Type.String(),
});

export const TokenMappingView = Type.Object({ ...mapping.properties, managedBy: Type.String() });

export const IssuerRow = Type.Object({
  tenant: Type.String(),
  name: Type.String(),
  spec: Json<IssuerSpec>(),
  revision: Type.Integer(),
  owner: Json<Owner>(),
  updated_at: Instant,
  updated_by: Type.String(),
});
export type IssuerRow = Static<typeof IssuerRow>;

const TokenStepView = Type.Object({
  step: Type.Enum([...tokenSteps], {
    description:
      "What is checked, in this order. times: exp, nbf and iat. binding: a token that is bound to a key is bound by DPoP. revocation: of tokens of the tenant's own issuer. caller: whom the claims name.",
  }),
  result: Type.Enum(['passed', 'failed', 'skipped'], {
    description: 'skipped: a check before it failed, and this one says nothing without it.',
  }),
  detail: Type.Optional(
    Type.String({ description: 'Why it failed: the detail of the answer to a request with this token.' }),
  ),
  found: Type.Record(Type.String(), Type.Unknown(), { description: 'What of the token was compared, by name.' }),
  accepted: Type.Optional(
    Type.Array(Type.String(), { description: 'What would pass: issuers, algorithms, kids of the keys, audiences.' }),
  ),
});

const UserView = Type.Object({
  kind: Type.Literal('user'),
  actor: Type.Object({ type: Type.String(), id: Type.String() }),
  email: Type.Optional(Type.String({ description: 'A mail address that the issuer has verified.' })),
});
const BackendView = Type.Object({
  kind: Type.Literal('backend'),
  clientId: Type.String(),
  scopes: Type.Array(Type.String()),
});

export const TokenCheckBody = Type.Object(
  { token: Type.String({ minLength: 1, description: 'An access token. It is neither stored nor logged.' }) },
  { additionalProperties: false, examples: [{ token: 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl' }] },
);

export const TokenCheckView = Type.Object(
  {
    accepted: Type.Boolean({ description: 'Whether this server would accept a request with the token now.' }),
    trustedIssuer: Type.Optional(
      Type.String({ description: "The TrustedIssuer that the token is of; absent for the tenant's own issuer." }),
    ),
    steps: Type.Array(TokenStepView),
    caller: Type.Optional(Type.Union([UserView, BackendView])),
    boundToKey: Type.Boolean({ description: 'Whether each request needs a proof of possession (DPoP).' }),
  },
  {
    examples: [
      {
        accepted: false,
        trustedIssuer: 'login',
        steps: [
          { step: 'format', result: 'passed', found: { characters: 612, parts: 3 } },
          {
            ...{ step: 'audience', result: 'failed', found: { aud: 'https://other.example' } },
            detail: 'The access token was refused: aud names no audience of this tenant.',
            accepted: ['https://api.example'],
          },
        ],
        boundToKey: false,
      },
    ],
  },
);
export type TokenCheckView = Static<typeof TokenCheckView>;
