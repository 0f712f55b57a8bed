/** Issuers that people of a tenant may log in by: trusted ones with `login` settings. */
import type { IssuerConfig } from '../core/auth/schema.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';

export type LogInIssuer = IssuerConfig & { login: NonNullable<IssuerConfig['login']> };

export function logInIssuers({ auth }: Pick<TenantSnapshot, 'auth'>): LogInIssuer[] {
  return [...auth.issuers.values()].filter((one): one is LogInIssuer => one.login !== undefined);
}

/** @param issuer as `iss` names it */
export function isLogInIssuer({ auth }: Pick<TenantSnapshot, 'auth'>, issuer: string): boolean {
  return auth.issuers.get(issuer)?.login !== undefined;
}

/** What a button of the log-in page shows; `id` is the issuer's name. */
export function logInButtons(tenant: Pick<TenantSnapshot, 'auth'>): { id: string; name: string }[] {
  return logInIssuers(tenant).map(({ name: id, login }) => ({ id, name: login.displayName }));
}

type Begun = { name: string; issuer: string; clientId: string };

/** The issuer of a log-in under way, as the tenant trusts it now; undefined when it does not, or has other settings. */
export function issuerOf(
  tenant: Pick<TenantSnapshot, 'auth'>,
  { name, issuer, clientId }: Begun,
): LogInIssuer | undefined {
  return logInIssuers(tenant).find(
    (one) => one.name === name && one.issuer === issuer && one.login.clientId === clientId,
  );
}
