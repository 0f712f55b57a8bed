/** Shapes of the clients room. A client's spec is the custom resource's, without what only a manifest needs. */
import { type Static, Type } from 'typebox';
import { definitionOf, type OAuthClientSpec } from '../../crds/index.ts';
import { Instant, Json, Nullable } from '../core/db/rows.ts';
import type { Owner } from '../core/ownership.ts';

export type ClientSpec = Omit<OAuthClientSpec, 'tenantRef' | 'managementPolicy' | 'adoptionPolicy'>;

const {
  tenantRef: _ref,
  managementPolicy: _management,
  adoptionPolicy: _adoption,
  secretRef: _secretRef,
  generateSecret: _generateSecret,
  clientId,
  ...fields
} = definitionOf('OAuthClient').specSchema.properties;

const { grantTypes, ...optional } = fields;

/** The body of PUT /tenants/{tenant}/clients/{id}; what is absent has its default. */
export const ClientBody = Type.Object(
  { grantTypes, ...Type.Partial(Type.Object(optional)).properties },
  { additionalProperties: false },
);
export type ClientBody = Static<typeof ClientBody>;

/** A secret as it is shown: never its value. */
const SecretView = Type.Object({
  id: Type.String({ description: 'Names the secret, to delete it.' }),
  createdAt: Type.String(),
  createdBy: Type.String(),
  expiresAt: Type.Optional(Type.String()),
});

export const ClientView = Type.Object({
  clientId,
  ...fields,
  secrets: Type.Array(SecretView),
  revision: Type.Integer(),
  updatedAt: Type.String(),
  updatedBy: Type.String(),
  managedBy: Type.String(),
});

export const NewSecretView = Type.Object({
  id: Type.String({ description: 'Names the secret, to delete it.' }),
  clientId: Type.String(),
  clientSecret: Type.String({ description: 'The secret. It is shown once and stored nowhere.' }),
});

export const ClientRow = Type.Object({
  tenant: Type.String(),
  client_id: Type.String(),
  spec: Json<ClientSpec>(),
  revision: Type.Integer(),
  owner: Json<Owner>(),
  created_at: Instant,
  updated_at: Instant,
  updated_by: Type.String(),
});
export type ClientRow = Static<typeof ClientRow>;

export const SecretRow = Type.Object({
  tenant: Type.String(),
  client_id: Type.String(),
  id: Type.String(),
  digest: Type.String(),
  created_at: Instant,
  created_by: Type.String(),
  expires_at: Nullable(Instant),
});
export type SecretRow = Static<typeof SecretRow>;

/** What of a secret the snapshot has: its keyed digest. */
export type ClientSecret = { readonly id: string; readonly digest: string; readonly expiresAtMs?: number };

/** A client as the authorization server uses it. */
export type Client = Readonly<{
  clientId: string;
  displayName?: string;
  enabled: boolean;
  applicationType: OAuthClientSpec['applicationType'];
  grantTypes: readonly OAuthClientSpec['grantTypes'][number][];
  redirectUris: readonly string[];
  postLogoutRedirectUris: readonly string[];
  backchannelLogoutUri?: string;
  scopes: readonly string[];
  /** Those of the tenant that it may ask for. */
  audiences: readonly string[];
  tokenEndpointAuthMethod: OAuthClientSpec['tokenEndpointAuthMethod'];
  jwks?: NonNullable<OAuthClientSpec['jwks']>;
  jwksUri?: string;
  dpopBoundAccessTokens: boolean;
  requirePushedAuthorizationRequests: boolean;
  /** Users are not asked for their consent. */
  firstParty: boolean;
  secrets: readonly ClientSecret[];
  createdAtMs: number;
  revision: number;
}>;

/** By client_id. */
export type Clients = ReadonlyMap<string, Client>;
