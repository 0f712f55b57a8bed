/**
 * The link by which somebody at the machine of an `accord start` logs in at the portal as a tenant's first security-admin, without a
 * password: it works once and for some minutes, and a newer one replaces it. Its token is the tenant's code, a dot and 256 random bits.
 */
import { createHash, randomBytes } from 'node:crypto';
import { type AccountServices, ensureAccount } from '../accounts/index.ts';
import { utc } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import { portalTenant } from '../core/portal-tenant.ts';
import { admitFirstAdmin, findFirstAdmin } from '../members/index.ts';
import { readTenants } from '../tenants/index.ts';
import { type WriteServices, write } from '../writes/index.ts';
import { noteMembership } from './memberships.ts';
import { beginSession } from './sessions.ts';
import { putLogInLink, takeLogInLink } from './store.ts';
import { ensurePortalTenant } from './tenant.ts';

type LinkMakingServices = Parameters<typeof ensurePortalTenant>[0] & { members: WriteServices };

/** Below {base}. */
export const logInLinkPath = '/portal/log-in/link';

const SECRET_BYTES = 32;
const TOKEN = /^([a-z][a-z0-9-]{1,39})\.[\w-]{43}$/;
const hashOf = (token: string) => createHash('sha256').update(token).digest();

export type LogInLink = { tenant: string; email: string; url: string };

/**
 * @param wanted the tenant's code. @default the first that has a security-admin, by its code
 * @returns undefined when there is no security-admin, and no manifest invites one
 */
export async function createLogInLink(services: LinkMakingServices, wanted?: string): Promise<LogInLink | undefined> {
  const { members, baseUrl } = services;
  for (const tenant of wanted === undefined ? await codes(members) : [wanted]) {
    const email = await findFirstAdmin(members, tenant);
    if (email === undefined) continue;
    await ensurePortalTenant(services);
    const token = `${tenant}.${randomBytes(SECRET_BYTES).toString('base64url')}`;
    const tokenHash = hashOf(token);
    await write(members, { tenant: portalTenant }, { locks: 'records' }, ({ tx, now }) =>
      putLogInLink(tx, portalTenant, {
        ...{ code: tenant, email, tokenHash, expiresAt: utc(now + limits.portalLogInLinkMs) },
      }),
    );
    // The fragment is not sent to servers, so that no log of theirs holds it.
    return { tenant, email, url: `${baseUrl}${logInLinkPath}#${token}` };
  }
  return undefined;
}

async function codes({ database }: WriteServices): Promise<string[]> {
  const rows = await database.system((tx) => readTenants(tx));
  return rows
    .filter(({ tenant, state }) => state === 'active' && tenant !== portalTenant)
    .map(({ tenant }) => tenant)
    .sort();
}

type LinkUsingServices = { accounts: AccountServices; members: WriteServices };

/**
 * Logs the security-admin of the link in.
 * @returns the value of a session and its tenant; undefined when the link was used or replaced, has expired, or its account is disabled
 * @throws Problem member_invitation_gone: who the link is for is no security-admin any more
 */
export async function useLogInLink(
  { accounts, members }: LinkUsingServices,
  token: string,
  requestId: string,
): Promise<{ session: string; tenant: string } | undefined> {
  const [, tenant] = TOKEN.exec(token) ?? [];
  if (tenant === undefined) return undefined;
  const { result: link } = await write(
    accounts,
    { tenant: portalTenant },
    { locks: 'records' },
    ({ tx, nowText: now }) => takeLogInLink(tx, portalTenant, { code: tenant, tokenHash: hashOf(token), now }),
  );
  if (link === undefined) return undefined;
  const { email } = link;
  const account = await ensureAccount(accounts, portalTenant, { email, requestId });
  if (account === undefined) return undefined;
  await noteMembership(accounts, account.id, tenant);
  await admitFirstAdmin(members, tenant, { email, person: account.id, requestId });
  return { session: await beginSession(accounts, portalTenant, account, accounts.clock.now()), tenant };
}
