/** Claims that access tokens of users carry besides the registered ones. */
import type { AccessToken, ClientCredentials, KoaContextWithOIDC } from 'oidc-provider';
import type { TenantSnapshot } from '../snapshot/index.ts';
import type { KnownAccount } from './accounts.ts';
import type { Enrichment } from './enrich.ts';

/** It never throws: a token without a claim is better than none. */
export type ExtraClaims = (
  tenant: TenantSnapshot,
  token: AccessToken | ClientCredentials,
  ctx: KoaContextWithOIDC | undefined,
) => Promise<Record<string, unknown> | undefined>;

export function extraClaims(enrichment: Pick<Enrichment, 'claimsFor'>): ExtraClaims {
  return async (snapshot, token, ctx) => {
    const { accountId, scope = '' } = token as AccessToken;
    if (accountId === undefined || token.aud === undefined) return undefined;
    const scopes = new Set(scope.split(' '));
    const actor = { type: snapshot.spec.tokenMapping.defaultActorType, id: accountId };
    const claims = await enrichment.claimsFor({ tenant: snapshot.tenant, snapshot, actor, scopes });
    return { ...emailOf(ctx, scopes), ...claims };
  };
}

/** What an invitation to an address is compared with. */
function emailOf(ctx: KoaContextWithOIDC | undefined, scopes: ReadonlySet<string>): Record<string, unknown> {
  const known = ctx?.oidc.account as KnownAccount | undefined;
  if (known === undefined || !known.account.emailVerified || !scopes.has('email')) return {};
  return { email: known.account.email, email_verified: true };
}
