/**
 * Introspection (RFC 7662) and revocation (RFC 7009) of access tokens that are JWTs, which the library refuses as structured
 * ones: by then it has authenticated the client.
 */
import { decodeJwt, type JWTPayload } from 'jose';
import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import { verifyAccessToken } from '../core/auth/access-token.ts';
import type { TenantAuth } from '../core/auth/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';

type Services = {
  clock: Clock;
  denyToken: (tenant: string, jti: string, expiresAtMs: number) => Promise<void>;
};
type Middleware = Parameters<Provider['use']>[0];
type Context = KoaContextWithOIDC & { _matchedRouteName?: string };

export function knowJwts(services: Services, current: () => TenantSnapshot): Middleware {
  return async (context, next) => {
    await next();
    const ctx = context as unknown as Context;
    const route = ctx._matchedRouteName;
    if (route !== 'introspection' && route !== 'revocation') return;
    if (ctx.status !== 400 || (ctx.body as { error?: string } | undefined)?.error !== 'unsupported_token_type') return;
    const { client } = ctx.oidc;
    const token = ctx.oidc.params?.token;
    if (client === undefined || typeof token !== 'string') return;
    const claims = await claimsOf(services, token, current().auth);
    const isOwn = claims?.client_id === client.clientId;
    if (route === 'introspection') {
      const known = claims !== undefined && (isOwn || client.clientAuthMethod !== 'none');
      answer(
        ctx,
        known
          ? { active: true, ...claims, token_type: claims.cnf === undefined ? 'Bearer' : 'DPoP' }
          : { active: false },
      );
    } else if (claims !== undefined && !isOwn) {
      answer(ctx, { error: 'invalid_request', error_description: 'the token was issued to another client' }, 400);
    } else {
      // RFC 7009 section 2.2: a token that is not valid is as good as revoked.
      if (claims !== undefined)
        await services.denyToken(current().tenant, String(claims.jti), Number(claims.exp) * 1000);
      answer(ctx, '');
    }
  };
}

function answer(ctx: KoaContextWithOIDC, body: object | string, status = 200): void {
  ctx.status = status;
  ctx.remove('content-type'); // of the refusal before it
  ctx.body = body;
}

/** Of a token of the tenant's own issuer that our own endpoints take now. */
async function claimsOf({ clock }: Services, token: string, auth: TenantAuth): Promise<JWTPayload | undefined> {
  const source = () => {
    throw new Error('no other issuer');
  };
  try {
    await verifyAccessToken({ clock, jwks: { source } }, token, { ...auth, issuers: new Map() });
    return decodeJwt(token);
  } catch {
    return undefined;
  }
}
