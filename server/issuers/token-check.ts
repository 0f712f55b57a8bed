/**
 * POST C/tokens/check: whether a token would be accepted, and why not, by the verification that requests pass. It is a read: nothing
 * is stored, logged or remembered of the token.
 */
import { explainToken } from '../core/auth/explain-token.ts';
import type { JwksCache } from '../core/auth/jwks.ts';
import type { Caller } from '../core/auth/schema.ts';
import type { Clock } from '../core/clock.ts';
import { limits } from '../core/limits.ts';
import { type App, TenantParams, tenantOf } from '../http/fastify.ts';
import { TokenCheckBody, TokenCheckView } from './schema.ts';

export type TokenCheckServices = { jwks: Pick<JwksCache, 'source'>; clock: Clock };

export function registerTokenCheck(app: App, services: TokenCheckServices): void {
  app.route({
    method: 'POST',
    url: '/tenants/:tenant/tokens/check',
    // Each check may have the issuer's keys read: it is for those who change what issuers are trusted for.
    config: { access: { api: 'config', roles: ['security-admin', 'config-editor'] } },
    bodyLimit: limits.tokenBodyBytesMax,
    schema: {
      summary: 'Check whether an access token is accepted, step by step',
      params: TenantParams,
      body: TokenCheckBody,
      response: { 200: TokenCheckView },
    },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store'); // the answer has claims of the token
      const { auth } = tenantOf(request).snapshot;
      const { accepted, issuer, steps, caller } = await explainToken(services, request.body.token, auth);
      return {
        accepted,
        ...(issuer === undefined || issuer === auth.own ? {} : { trustedIssuer: issuer.name }),
        steps,
        ...(caller === undefined ? {} : { caller: view(caller) }),
        boundToKey: caller !== undefined && 'jkt' in caller && caller.jkt !== undefined,
      } as TokenCheckView;
    },
  });
}

function view(caller: Caller): TokenCheckView['caller'] {
  if (caller.kind === 'backend')
    return { kind: 'backend', clientId: caller.clientId, scopes: [...caller.scopes].sort() };
  if (caller.kind !== 'user') return undefined;
  return { kind: 'user', actor: caller.actor, ...(caller.email === undefined ? {} : { email: caller.email }) };
}
