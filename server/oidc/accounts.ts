/** Accounts as oidc-provider wants to see them. */
import type { Account as ProviderAccount } from 'oidc-provider';
import { type Account, type AccountServices, readAccount } from '../accounts/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';

/** Of one request: the account was read for it. */
export type KnownAccount = ProviderAccount & { readonly account: Account };

/** Undefined for an account that is disabled or gone: sessions and refresh tokens of it end there. */
export type AccountOf = (
  tenant: TenantSnapshot,
  id: string,
  clientId: string | undefined,
) => Promise<KnownAccount | undefined>;

export function accountsOf(services: Pick<AccountServices, 'database'>): AccountOf {
  return async ({ tenant, clients }, id, clientId) => {
    const account = await readAccount(services, tenant, id);
    if (account === undefined) return undefined;
    // What was taken away from a client is not told any more, whatever its tokens say.
    const scopes = new Set(clients.get(clientId ?? '')?.scopes);
    return { account, accountId: id, claims: async () => ({ sub: id, ...claimsOf(account, scopes) }) };
  };
}

/** OpenID Connect Core section 5.4. */
function claimsOf(account: Account, scopes: ReadonlySet<string>): Record<string, unknown> {
  const { email, emailVerified, displayName, language, updatedAt } = account;
  return {
    ...(scopes.has('email') ? { email, email_verified: emailVerified } : {}),
    ...(scopes.has('profile')
      ? {
          ...(displayName === undefined ? {} : { name: displayName }),
          ...(language === undefined ? {} : { locale: language }),
          updated_at: Math.floor(Date.parse(updatedAt) / 1000),
        }
      : {}),
  };
}
