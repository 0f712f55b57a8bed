/** What the metadata of a tenant's authorization server says besides what the library knows: settings of the Tenant may change. */
import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import type { TenantSnapshot } from '../snapshot/index.ts';
import { claimScopes } from './enrich-rules.ts';

type Context = KoaContextWithOIDC & { _matchedRouteName?: string };

/** Scopes of claims that the Tenant has not switched on are not listed. */
export function listUsefulScopes(current: () => TenantSnapshot): Parameters<Provider['use']>[0] {
  return async (context, next) => {
    await next();
    const ctx = context as unknown as Context;
    const body = ctx.body as { scopes_supported?: string[] } | undefined;
    if (ctx._matchedRouteName !== 'discovery' || body?.scopes_supported === undefined) return;
    const { claims } = current().spec;
    const off = new Set<string>(claimScopes.filter((scope) => claims?.[scope] !== true));
    body.scopes_supported = body.scopes_supported.filter((scope) => !off.has(scope));
  };
}
