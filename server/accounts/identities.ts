/** Log-ins of other issuers: logging in by them, and linking one after proof on both sides. */
import type { Transaction } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { comparableAddress } from '../core/mail-address.ts';
import { type RecordUnit, write } from '../writes/index.ts';
import { accountAuthor, actorTypeOf, createAccount, nameOf, requireTenant } from './actions.ts';
import {
  countCredentials,
  deleteIdentity,
  insertIdentity,
  listIdentityRows,
  readIdentity,
} from './credential-store.ts';
import { decideUpstream, type UpstreamDecision } from './linking.ts';
import type { LoggedIn, Refused } from './logging-in.ts';
import { accountProblem } from './problems.ts';
import { accountOf, checkDisplayName, languageOf, maySignUp } from './rules.ts';
import type { AccountRow } from './schema.ts';
import type { AccountServices } from './services.ts';
import { readAccountRow, readByEmail } from './store.ts';
import { findToken, makeToken } from './tokens.ts';

type Identity = { issuer: string; subject: string };
export type LinkedIdentity = Identity & { createdAt: string };

/** Of an ID token that is verified, with its state, nonce and browser: each result of an issuer is used once. */
export type Upstream = Identity & {
  email?: string | undefined;
  emailVerified: boolean;
  displayName?: string | undefined;
  language?: string | undefined;
};

type LoggingInUpstream = {
  identity: Upstream;
  /** Whether the tenant trusts an issuer now, with `login` settings. */
  isEnabled: (issuer: string) => boolean;
  /** The address that an invitation was sent to, of which the person has the requestToken. */
  invitedEmail?: string | undefined;
  requestId?: string | undefined;
};

/** `prove`: of the account with this address; then the token links the two (linkIdentity). */
export type LoggedInUpstream =
  | LoggedIn
  | Refused
  | { prove: { account: string; email: string; token: string; expiresAt: string } }
  | Extract<UpstreamDecision, { refuse: string }>;

/** Logs somebody in who was authenticated by another issuer. */
export async function logInWithIdentity(
  services: AccountServices,
  tenant: string,
  given: LoggingInUpstream,
): Promise<LoggedInUpstream> {
  const { identity, isEnabled } = given;
  const { issuer, subject } = identity;
  const read = comparableAddress(identity.email ?? '');
  const email = read.ok ? read.address : undefined;
  const { result } = await write(services, { tenant }, { locks: 'records' }, async (unit) => {
    const { tx } = unit;
    const { spec } = await requireTenant(tx, tenant);
    const linked = await readIdentity(tx, tenant, identity);
    const same = email === undefined ? undefined : await readByEmail(tx, tenant, email);
    const isInvited = email !== undefined && sameAddress(given.invitedEmail, email);
    const decision = decideUpstream(
      { issuer, subject, email, emailVerified: identity.emailVerified },
      {
        ...{ isEnabled: isEnabled(issuer), linked: linked?.account, sameAddress: same?.id },
        maySignUp: maySignUp(spec, isInvited),
      },
    );
    if ('refuse' in decision) return decision;
    if ('logIn' in decision) return loggedIn(await readAccountRow(tx, tenant, decision.logIn));
    if ('prove' in decision) return same?.enabled ? proofFor(services, unit, same, identity) : loggedIn(undefined);
    const { requestId } = given;
    const [displayName, language] = [nameFrom(identity.displayName), languageOf(identity.language)];
    const one = { ...(displayName ? { displayName } : {}), ...(language ? { language } : {}) };
    const made = await createAccount(services, unit, { spec }, { ...one, email: email as string, requestId });
    if (made === undefined) return loggedIn(undefined); // another request was faster: tried again, it has to prove
    await link(unit, { spec }, made, identity, requestId);
    return loggedIn(made);
  });
  return result;
}

function sameAddress(invited: string | undefined, email: string): boolean {
  const read = comparableAddress(invited ?? '');
  return read.ok && read.address === email;
}

/** A name that another issuer tells is taken when it can be one. */
function nameFrom(name: string | undefined): string | undefined {
  try {
    return checkDisplayName(name);
  } catch {
    return undefined;
  }
}

function loggedIn(row: AccountRow | undefined): LoggedIn | Refused {
  return row?.enabled ? { account: accountOf(row), amr: ['fed'] } : { refused: 'credentials' };
}

/** What links the identity to this account and to no other. */
async function proofFor(services: AccountServices, unit: RecordUnit, row: AccountRow, { issuer, subject }: Identity) {
  const { id: account, email } = row;
  const content: Identity = { issuer, subject };
  return {
    prove: {
      account,
      email,
      ...(await makeToken(services.encrypter, unit, 'link_identity', { account: row, email, content })),
    },
  };
}

/** The token that links an identity, just authenticated, to the account that is logged in. @throws Problem account_not_found */
export async function identityProof(
  services: AccountServices,
  tenant: string,
  { account, identity }: { account: string; identity: Identity },
): Promise<{ token: string; expiresAt: string }> {
  const { result } = await write(services, { tenant }, { locks: 'records' }, async (unit) => {
    const row = await readAccountRow(unit.tx, tenant, account);
    if (!row?.enabled) throw accountProblem('account_not_found');
    const { token, expiresAt } = (await proofFor(services, unit, row, identity)).prove;
    return { token, expiresAt };
  });
  return result;
}

type Linking = {
  token: string;
  /** Who has just proved to be this account, by its password or a passkey. */
  account: string;
  isEnabled: (issuer: string) => boolean;
  requestId?: string | undefined;
};

/**
 * Links the identity of a token to the account that it was made for.
 * @throws Problem account_link_gone, also for another account than the token's and for an issuer that is disabled now;
 *   identity_linked, identity_quota_reached
 */
export async function linkIdentity(
  services: AccountServices,
  tenant: string,
  { token, account, isEnabled, requestId }: Linking,
): Promise<LinkedIdentity> {
  const { result } = await write(services, { tenant }, { locks: 'records' }, async (unit) => {
    const { tx } = unit;
    const tenantRow = await requireTenant(tx, tenant);
    const found = await findToken<Identity>(services.encrypter, unit, token, 'link_identity');
    const row = await readAccountRow(tx, tenant, account, true);
    const isIts = found.account === account && row?.enabled && row.epoch === found.epoch;
    if (!isIts || !isEnabled(found.content.issuer)) throw accountProblem('account_link_gone');
    await found.use();
    await link(unit, tenantRow, row, found.content, requestId);
    return { ...found.content, createdAt: unit.nowText };
  });
  return result;
}

async function link(
  unit: RecordUnit,
  tenantRow: Parameters<typeof nameOf>[0],
  { id: account }: AccountRow,
  { issuer, subject }: Identity,
  requestId: string | undefined,
): Promise<void> {
  const { tx, tenant, nowText: now } = unit;
  const linked = await listIdentityRows(tx, tenant, account);
  if (linked.some((one) => one.issuer === issuer && one.subject === subject)) return;
  if (linked.length >= limits.identitiesMax) throw accountProblem('identity_quota_reached');
  if ((await insertIdentity(tx, tenant, { issuer, subject, account, now })) === 0)
    throw accountProblem('identity_linked');
  const { by } = accountAuthor(tenant, actorTypeOf(tenantRow), account, requestId);
  unit.as(by).audit({ action: 'create', kind: 'identity', name: nameOf(tenantRow, account), detail: { issuer } });
}

export async function listIdentities(
  services: AccountServices,
  tenant: string,
  account: string,
): Promise<LinkedIdentity[]> {
  const rows = await services.database.read(tenant, (tx) => listIdentityRows(tx, tenant, account));
  return rows.map(({ issuer, subject, created_at: createdAt }) => ({ issuer, subject, createdAt }));
}

/** Ends the link of an identity to the account. @throws Problem identity_not_found, last_login_method */
export async function unlinkIdentity(
  services: AccountServices,
  tenant: string,
  { account, issuer, subject, requestId }: Identity & { account: string; requestId?: string },
): Promise<void> {
  await write(services, { tenant }, { locks: 'records' }, async (unit) => {
    const { tx } = unit;
    const tenantRow = await requireTenant(tx, tenant);
    const row = await readAccountRow(tx, tenant, account, true);
    const removed = await deleteIdentity(tx, tenant, { account, issuer, subject });
    if (removed === 0 || row === undefined) throw accountProblem('identity_not_found');
    await requireOtherMethod(tx, tenant, row);
    const { by } = accountAuthor(tenant, actorTypeOf(tenantRow), account, requestId);
    unit.as(by).audit({ action: 'delete', kind: 'identity', name: nameOf(tenantRow, account), detail: { issuer } });
  });
}

/** What is removed is removed already. @throws Problem last_login_method */
export async function requireOtherMethod(tx: Transaction, tenant: string, row: AccountRow): Promise<void> {
  if (row.password_encrypted !== null) return;
  const left = (await countCredentials(tx, tenant, row.id)) + (await listIdentityRows(tx, tenant, row.id)).length;
  if (left === 0) throw accountProblem('last_login_method');
}
