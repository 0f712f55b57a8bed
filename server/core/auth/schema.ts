/** The shapes of authentication: who a caller can be, what a route asks for, and what verifying a token needs. */
import type { JWK } from 'jose';
import { scopes } from '../../../crds/scopes.ts';

export const roles = ['security-admin', 'config-editor', 'config-viewer', 'support'] as const;
export type Role = (typeof roles)[number];

export { scopes };
export type Scope = (typeof scopes)[number];

/** The signature algorithms that are accepted and made. */
export const algorithms = ['ES256', 'RS256'] as const;
export type Algorithm = (typeof algorithms)[number];

/** How an issuer marks the tokens that a client got for itself, and not for a user. */
const clientMarks = ['auth0', 'rfc9068', 'keycloak', 'claim', 'none'] as const;
type ClientMark = (typeof clientMarks)[number];

export type Actor = { type: string; id: string };

/** A verified caller. Every token has one kind, and no endpoint takes another's. */
export type Caller =
  | {
      kind: 'member';
      tenant: string;
      id: string;
      email: string;
      role: Role;
      jti: string;
      /** ms, when the person of the portal's cookie session proved who it is; absent for a portal token. */
      authenticatedAt?: number;
    }
  | {
      kind: 'backend';
      tenant: string;
      clientId: string;
      scopes: ReadonlySet<string>;
      issuer: string;
      /** The thumbprint of the key that the token is bound to: each request needs a proof of it (DPoP). */
      jkt?: string;
    }
  | {
      kind: 'user';
      tenant: string;
      actor: Actor;
      issuer: string;
      claims: Readonly<Record<string, unknown>>;
      /** The mail address that the issuer has verified, as addresses are compared (core/mail-address.ts). */
      email?: string | undefined;
      jkt?: string;
    };

/** What a route asks of its caller; every route states one, and app.ts refuses to start with a route that does not. */
export type Access =
  /** Nobody in particular: documents, keys, health. `scarce`: few need it, and each request of nobody takes the database's time. */
  | { api: 'public'; scarce?: true }
  /** The Config API: members with one of these roles. */
  | { api: 'config'; roles: readonly Role[] }
  /**
   * The Management and Authorization APIs: tenant back ends with the scope (or pg:tenant:admin), and end users where `users` says so.
   * `session`: also those who are logged in at their account page, for requests of the sharing page.
   */
  | { api: 'management'; scope: Scope; users: boolean; session?: true };

/** Which claims hold a user's mail address, and that the issuer has verified it. */
export type ContactClaims = { readonly email: string; readonly emailVerified: string };
type TokenMapping = { actorIdClaimPath: string; actorTypeClaimPath?: string; defaultActorType: string };

/** A trusted issuer as verification needs it. */
export type IssuerConfig = {
  name: string;
  issuer: string;
  jwksUri?: string;
  audiences: readonly string[];
  algorithms: readonly Algorithm[];
  tokenMapping: TokenMapping;
  contactClaims: ContactClaims;
  actorIdPrefix?: string;
  /** Prefixes that belong to other issuers of the tenant: an id of this one that begins so would be somebody else's. */
  foreignPrefixes: readonly string[];
  clients: ClientMark;
  /** With clients `claim`. */
  clientMatch?: { claim: string; value: string };
  /** Of a client whose token has neither `scope` nor `scp`. */
  clientScopes?: readonly Scope[];
  /** Users of the issuer log in at the tenant's own issuer by it. */
  login?: { clientId: string; secretRef?: { name: string }; scopes: readonly string[]; displayName: string };
};

/** A public key of the tenant's own issuer. A retired one verifies until its last token has expired. */
export type OwnKey = { readonly jwk: JWK; readonly retiresAtMs?: number };

/** Which tokens are refused: those issued until an instant, or all (Infinity); and until when. In ms. */
export type Denied = { readonly untilMs: number; readonly expiresAtMs: number };

/** Tokens of the tenant's own issuer that are refused although they have not expired. */
export type DeniedTokens = {
  /** The tenant's revision as of which this was read. */
  readonly revision: number;
  readonly clients: ReadonlyMap<string, Denied>;
  /** By `sub`. */
  readonly subjects: ReadonlyMap<string, Denied>;
  /** By the hash of `sub` (erasedName): nobody's id is kept who was erased. */
  readonly erased: ReadonlyMap<string, Denied>;
  /** What a client got for a subject, by grantName. */
  readonly grants: ReadonlyMap<string, Denied>;
  /** Single tokens. */
  readonly jtis: ReadonlyMap<string, Denied>;
};

/**
 * All that verifying a tenant's access tokens needs. Nothing in it changes: what is another than before makes another
 * object, and verified tokens are cached under the identity of `own`, `ownKeys` and `issuers` (token-cache.ts).
 */
export type TenantAuth = {
  readonly tenant: string;
  /** The tenant's own issuer, {base_url}/{tenant}/oidc: its keys are at hand and never fetched. */
  readonly own: IssuerConfig;
  /** Public keys of the tenant's own issuer, purpose `access`. */
  readonly ownKeys: readonly OwnKey[];
  readonly denied: DeniedTokens;
  /** Trusted issuers by URL (`iss`). */
  readonly issuers: ReadonlyMap<string, IssuerConfig>;
};
