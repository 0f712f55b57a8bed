/**
 * A request without client authentication, or with one that cannot be read, is answered as RFC 6749 section 5.2 says: 401
 * invalid_client. The library answers 400 invalid_request.
 */
import type { KoaContextWithOIDC, Provider } from 'oidc-provider';

/** What the library says of these. A client that authenticates in two ways at once stays an invalid_request, as the RFC has it. */
const failures = new Set([
  'no client authentication mechanism provided',
  'invalid authorization header value format',
  'client_id and client_secret in the authorization header are not properly encoded',
  'client_secret must be provided in the Authorization header',
  'invalid client_assertion format',
]);

type Refusal = { error?: string; error_description?: string };

export const failedAuthentication: Parameters<Provider['use']>[0] = async (context, next) => {
  await next();
  const ctx = context as unknown as KoaContextWithOIDC;
  const { error, error_description: detail = '' } = (ctx.body ?? {}) as Refusal;
  if (ctx.status !== 400 || error !== 'invalid_request' || !failures.has(detail)) return;
  ctx.status = 401;
  ctx.body = { error: 'invalid_client', error_description: detail };
  // Of the scheme that was used, as the RFC wants it; without one, a browser would ask its user for a password.
  if (ctx.get('authorization') !== '')
    ctx.set('www-authenticate', `Basic realm="${ctx.oidc.provider.issuer}", error="invalid_client"`);
};
