/** How oidc-provider is configured for a tenant: what it may do, and for how long things last. All that it would print is replaced. */
import type { ClientAuthMethod, Configuration, KoaContextWithOIDC } from 'oidc-provider';
import { identityScopes } from '../../crds/scopes.ts';
import { limits } from '../core/limits.ts';
import { accessTokenTtlMs, refreshTokenTtlMs, sessionTtlMs } from '../keys/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';

export const passwordAcr = 'urn:accord:password';
export const passkeyAcr = 'urn:accord:passkey';
/** By another issuer: how it asked the person is not told, because nobody here has seen it. */
export const upstreamAcr = 'urn:accord:upstream';

/** Addresses below the issuer. */
export const routes = {
  authorization: '/authorize',
  token: '/token',
  userinfo: '/userinfo',
  jwks: '/jwks',
  pushed_authorization_request: '/par',
  introspection: '/introspection',
  revocation: '/revocation',
  end_session: '/end-session',
  device_authorization: '/device/authorize',
  code_verification: '/device',
} as const;

/** The parameter user_code of a device's link, as it reaches our page (mount.ts). */
export const shownUserCode = 'shown_user_code';

const clientAuthMethods: ClientAuthMethod[] = ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'];

const seconds = (ms: number): number => Math.max(1, Math.floor(ms / 1000));

const claimsOfScopes: Record<string, string[]> = {
  openid: ['sub'],
  email: ['email', 'email_verified'],
  profile: ['name', 'locale', 'updated_at'],
  address: ['address'],
  phone: ['phone_number', 'phone_number_verified'],
};

/** The scopes that have the claims: what these tell of a person is said in the same words. */
export function scopesOfClaims(claims: readonly string[]): string[] {
  return Object.keys(claimsOfScopes).filter((scope) => claimsOfScopes[scope]?.some((claim) => claims.includes(claim)));
}

/** What of a configuration is the same for all tenants. */
export function common(): Configuration {
  return {
    routes,
    clientAuthMethods,
    responseTypes: ['code'],
    scopes: identityScopes,
    clientDefaults: { id_token_signed_response_alg: 'RS256', grant_types: [], response_types: [] },
    // No algorithm with a shared secret: nobody holds the secrets of clients.
    enabledJWA: {
      idTokenSigningAlgValues: ['RS256'],
      userinfoSigningAlgValues: ['RS256'],
      clientAuthSigningAlgValues: ['ES256', 'RS256'],
      requestObjectSigningAlgValues: ['ES256', 'RS256'],
      dPoPSigningAlgValues: ['ES256'],
    },
    claims: {
      ...claimsOfScopes,
      acr: null,
      amr: null,
      auth_time: null,
      iss: null,
      sid: null,
    },
    acrValues: [passwordAcr, passkeyAcr, upstreamAcr],
    pkce: { required: (_ctx, client) => client.clientAuthMethod === 'none' },
    // Without offline_access a refresh token ends with the session of its user.
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    allowOmittingSingleRegisteredRedirectUri: false,
    fetchResponseBodyLimits: { jwks_uri: limits.clientJwksBytesMax },
  };
}

/** @param current the tenant as it is now */
export function lifetimes(current: () => TenantSnapshot, nowMs: () => number): NonNullable<Configuration['ttl']> {
  const access = () => seconds(accessTokenTtlMs(current().spec));
  return {
    AccessToken: access,
    ClientCredentials: access,
    IdToken: access,
    AuthorizationCode: seconds(limits.authorizationCodeTtlMs),
    DeviceCode: seconds(limits.deviceCodeTtlMs),
    Interaction: seconds(limits.interactionTtlMs),
    // Without somebody it holds no more than what a form is compared with.
    Session: (_ctx, { accountId }) =>
      seconds(accountId === undefined ? limits.interactionTtlMs : sessionTtlMs(current().spec)),
    Grant: () => seconds(refreshTokenTtlMs(current().spec) + limits.grantSpareMs),
    // A family of refresh tokens ends when its first one would have: rotation does not make it older.
    RefreshToken: (_ctx, token) => {
      const since = (token as { iiat?: number }).iiat ?? Math.floor(nowMs() / 1000);
      return seconds(since * 1000 + refreshTokenTtlMs(current().spec) - nowMs());
    },
  };
}

/** `audience` and `resource` of RFC 8707 are asked for once. */
export function askedAudience(ctx: KoaContextWithOIDC): unknown {
  return (ctx.oidc.body as Record<string, unknown> | undefined)?.audience ?? ctx.query?.audience;
}
