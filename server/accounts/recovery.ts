/** Links of mails: confirming an address, and choosing a new password. Each works once, and only for the step that it was made for. */
import { limits } from '../core/limits.ts';
import { sendMail } from '../mail/index.ts';
import { type RecordUnit, write } from '../writes/index.ts';
import { accountAuthor, actorTypeOf, createAccount, nameOf, type PendingSignUp, requireTenant } from './actions.ts';
import { deleteAttempt } from './attempt-store.ts';
import { type Attempt, attemptDigest, beginAttempt, beginMail, endAttempt, endMail } from './lockout.ts';
import { provePassword, type Refused, verifyAttempt } from './logging-in.ts';
import { accountProblem } from './problems.ts';
import { accountOf, attemptKeyOf, checkAddress, checkPassword, linkTo, maySignUp, wordsAround } from './rules.ts';
import type { Account, AccountRow } from './schema.ts';
import { type AccountChange, type AccountServices, encryptPassword, tellListeners } from './services.ts';
import { deleteTokensOf, keptIf, readAccountRow, readByEmail, updatePassword } from './store.ts';
import { addressOfToken, findToken, makeToken } from './tokens.ts';

type Asked = { network?: string | undefined; requestId?: string | undefined };

export type Verifying = { token: string; password: string } & Asked;
/** `email`: the address that the link was mailed to. */
export type Verified = { account: Account } | (Refused & { email: string });

/** The address that a link of a mail is for; the link stays as it is. @throws Problem account_link_gone */
export function addressOfLink(
  { database, clock }: AccountServices,
  tenant: string,
  link: { token: string; purpose: 'sign_up' | 'reset_password' },
): Promise<string> {
  const now = new Date(clock.now()).toISOString();
  return database.read(tenant, (tx) => addressOfToken(tx, tenant, { ...link, now }));
}

/**
 * Confirms the address of an open sign-up by the link that was mailed to it and the password that was chosen then, and makes the
 * account: who opens the mail need not be who signed up.
 * @throws Problem account_link_gone, passwords_busy
 */
export async function verifyEmail(services: AccountServices, tenant: string, given: Verifying): Promise<Verified> {
  const { token, password, ...asked } = given;
  const { result } = await write(services, { tenant }, { locks: 'records' }, async (unit) => {
    await requireTenant(unit.tx, tenant);
    const link = await findToken<PendingSignUp>(services.encrypter, unit, token, 'sign_up');
    const trying = { email: link.email, network: asked.network };
    return { pending: link.content, trying, attempt: await beginAttempt(services.encrypter, unit, 'login', trying) };
  });
  const { pending, trying, attempt } = result;
  const tried = { password, network: asked.network, attempt };
  if (await verifyAttempt(services, tenant, tried, pending.password))
    return { account: await completeSignUp(services, tenant, { token, attempt, ...asked }) };
  const { retryAfterSeconds } = attempt;
  const { email } = trying;
  return { refused: 'credentials', email, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
}

type Completing = { token: string; attempt: Attempt } & Asked;

async function completeSignUp(services: AccountServices, tenant: string, { token, attempt, requestId }: Completing) {
  const { encrypter } = services;
  const { result } = await write(services, { tenant }, { locks: 'records' }, async (unit) => {
    const row = await requireTenant(unit.tx, tenant);
    const link = await findToken<PendingSignUp>(encrypter, unit, token, 'sign_up');
    // The tenant may have closed signing up since the link was mailed.
    if (!maySignUp(row.spec, link.content.isInvited === true)) throw accountProblem('account_link_gone');
    await link.use();
    await endMail(encrypter, unit, { email: link.email, askedBy: link.content.askedBy });
    const account = await createAccount(services, unit, row, { ...link.content, email: link.email, requestId });
    if (account === undefined) throw accountProblem('account_link_gone'); // another link of the address was faster
    await endAttempt(unit, attempt);
    return account;
  });
  return accountOf(result);
}

/**
 * Mails a link to choose a new password, where the address has an account. Nobody is told whether it has.
 * @throws Problem invalid_request: it is no address; account_mails_limited
 */
export async function requestPasswordReset(
  services: AccountServices,
  tenant: string,
  { email: given, network, language }: { email: string; language?: string | undefined } & Asked,
): Promise<void> {
  const email = checkAddress(given.trim());
  await write(services, { tenant }, { locks: 'records' }, async (unit) => {
    const asked = await beginMail(services.encrypter, unit, { email, network });
    if (asked === undefined) return;
    const row = await readByEmail(unit.tx, tenant, email);
    // The same work without an account, so that it takes as long.
    const to = row?.enabled ? row : { email, language: language ?? null };
    await keptIf(unit.tx, to === row, () => mailReset(services, unit, to, asked));
  });
}

/** What the link of a new password remembers: who asked for it (endMail). */
type ResetContent = { askedBy?: string };
type Recipient = Pick<AccountRow, 'email' | 'language'> & Partial<Pick<AccountRow, 'id' | 'epoch'>>;

/** @param to without an id: nobody can use the link */
export async function mailReset(
  services: AccountServices,
  unit: Pick<RecordUnit, 'tx' | 'tenant' | 'now' | 'nowText'>,
  { id, epoch, email, language }: Recipient,
  content: ResetContent = {},
): Promise<void> {
  const { encrypter, baseUrl } = services;
  const { spec } = await requireTenant(unit.tx, unit.tenant);
  const account = id === undefined || epoch === undefined ? undefined : { id, epoch };
  const made = await makeToken(encrypter, unit, 'reset_password', { email, content, ...(account ? { account } : {}) });
  const url = linkTo(baseUrl, unit.tenant, 'reset', made.token);
  const variables = { application: spec.displayName, actionUrl: url, validMinutes: limits.passwordResetTtlMs / 60_000 };
  const mail = { to: email, language, expiresAt: made.expiresAt };
  await sendMail(services, unit, { ...mail, template: 'password-reset', variables });
}

/**
 * Chooses a new password by a mailed link. All sessions end, and log-ins under way; the address is confirmed.
 * @returns `revision`: access tokens of the account are refused by every server that serves it
 * @throws Problem account_link_gone, password_too_short and the like (the link stays), passwords_busy
 */
export async function resetPassword(
  services: AccountServices,
  tenant: string,
  { token, password, network, requestId }: { token: string; password: string } & Asked,
): Promise<{ account: Account; revision: number }> {
  const { encrypter } = services;
  const { result: known } = await write(services, { tenant }, { locks: 'records' }, async (unit) => ({
    row: await requireTenant(unit.tx, tenant),
    link: await findToken(encrypter, unit, token, 'reset_password'),
  }));
  const { row, link } = known;
  if (link.account === null) throw accountProblem('account_link_gone');
  checkPassword(password, wordsAround(link.email, tenant, row.spec.displayName), services.weak);
  const stored = await services.passwords.hash({ tenant, network }, password);
  const author = accountAuthor(tenant, actorTypeOf(row), link.account, requestId);
  const { result, revision } = await write(services, author, { locks: 'configuration' }, async (unit) => {
    const again = await findToken<ResetContent>(encrypter, unit, token, 'reset_password');
    await endMail(encrypter, unit, { email: again.email, askedBy: again.content.askedBy });
    const account = await readAccountRow(unit.tx, tenant, again.account as string, true);
    if (!account?.enabled || account.epoch !== again.epoch) throw accountProblem('account_link_gone');
    await again.use();
    const kind = 'account' as const;
    const digest = attemptDigest(encrypter, tenant, kind, attemptKeyOf(account.email));
    await deleteAttempt(unit.tx, tenant, { kind, digest }); // whoever tried passwords tried another one
    return setPassword(services, unit, account, { stored, because: 'password_reset' });
  });
  return { account: accountOf(result), revision };
}

type Setting = { stored: string; because: Extract<AccountChange['because'], 'password_reset' | 'password_changed'> };

async function setPassword(
  services: AccountServices,
  unit: Parameters<typeof tellListeners>[1],
  { id }: AccountRow,
  { stored, because }: Setting,
): Promise<AccountRow> {
  const { tx, tenant } = unit;
  const encrypted = encryptPassword(services, tenant, id, stored);
  const verified = because === 'password_reset';
  const row = (await updatePassword(tx, tenant, id, { encrypted, verified, now: unit.nowText })) as AccountRow;
  await deleteTokensOf(tx, tenant, id, ['reset_password', 'link_identity']);
  await tellListeners(services, unit, { account: id, because });
  unit.changed('account', nameOf(unit.tenantRow, id), 'put', { because });
  return row;
}

/**
 * Changes the password of somebody who is logged in. Sessions end; the caller goes on with the epoch that is returned.
 * @param given `current` is left out only where the account has no password
 * @returns `revision`: access tokens of the account are refused by every server that serves it
 * @throws Problem account_not_found, password_too_short and the like, passwords_busy
 */
export async function changePassword(
  services: AccountServices,
  tenant: string,
  given: { account: string; current?: string | undefined; password: string } & Asked,
): Promise<{ account: Account; revision: number } | Refused> {
  const { account: id, network, requestId } = given;
  const { row, before } = await services.database.tenantSnapshot(tenant, async (tx) => ({
    row: await requireTenant(tx, tenant),
    before: await readAccountRow(tx, tenant, id),
  }));
  if (!before?.enabled) throw accountProblem('account_not_found');
  const { email } = before;
  checkPassword(given.password, wordsAround(email, tenant, row.spec.displayName), services.weak);
  let proved = before;
  if (before.password_encrypted !== null) {
    const trying = { email, network, password: given.current ?? '' };
    const answer = await provePassword(services, tenant, trying, (tx) => readAccountRow(tx, tenant, id));
    if ('refused' in answer) return answer;
    proved = answer;
  }
  const stored = await services.passwords.hash({ tenant, network }, given.password);
  const author = accountAuthor(tenant, actorTypeOf(row), id, requestId);
  const { result, revision } = await write(services, author, { locks: 'configuration' }, async (unit) => {
    const now = await readAccountRow(unit.tx, tenant, id, true);
    if (!now?.enabled || now.epoch !== proved.epoch) return undefined;
    return setPassword(services, unit, now, { stored, because: 'password_changed' });
  });
  return result === undefined ? { refused: 'credentials' } : { account: accountOf(result), revision };
}
