/** Reading accounts, and signing up: by an invitation to an address, or openly by a link that is mailed to it. */
import { randomUUID } from 'node:crypto';
import type { AuditedAuthor } from '../core/author.ts';
import type { Transaction } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import { UUID } from '../core/uuid.ts';
import { sendMail } from '../mail/index.ts';
import { readTenant, type TenantRow } from '../tenants/index.ts';
import { type RecordUnit, write } from '../writes/index.ts';
import { beginMail } from './lockout.ts';
import { accountProblem } from './problems.ts';
import {
  accountOf,
  checkAddress,
  checkDisplayName,
  checkPassword,
  languageOf,
  linkTo,
  maySignUp,
  wordsAround,
} from './rules.ts';
import type { Account, AccountRow } from './schema.ts';
import { type AccountServices, encryptPassword } from './services.ts';
import { deleteSignUps, insertAccount, readAccountRow, readByEmail } from './store.ts';
import { findByHandle, makeToken, noHandle } from './tokens.ts';

/** @returns undefined where there is none, or it is disabled: who asks on behalf of the person must not go on */
export async function readAccount(
  { database }: Pick<AccountServices, 'database'>,
  tenant: string,
  id: string,
): Promise<Account | undefined> {
  if (!UUID.test(id)) return undefined;
  const row = await database.read(tenant, (tx) => readAccountRow(tx, tenant, id));
  return row?.enabled ? accountOf(row) : undefined;
}

/** Whether somebody who is logged in has a password, or other ways to log in alone. */
export async function hasPassword(
  { database }: Pick<AccountServices, 'database'>,
  tenant: string,
  id: string,
): Promise<boolean> {
  const row = await database.read(tenant, (tx) => readAccountRow(tx, tenant, id));
  return row !== undefined && row.password_encrypted !== null;
}

/** A person who acts on its own account, as the audit names it: the type is the tenant's default. */
export function accountAuthor(tenant: string, type: string, id: string, requestId?: string): AuditedAuthor {
  return { tenant, by: { actor: `user:${type}:${id}`, requestId } };
}

/** @throws Problem tenant_not_found */
export async function requireTenant(tx: Transaction, tenant: string): Promise<TenantRow> {
  const row = await readTenant(tx, tenant);
  if (row?.state !== 'active' || row.revision === 0) throw problem('tenant_not_found');
  return row;
}

export const actorTypeOf = ({ spec }: Pick<TenantRow, 'spec'>): string => spec.tokenMapping.defaultActorType;

/** An account as the audit names it, which is how it names actors. */
export const nameOf = (tenantRow: Pick<TenantRow, 'spec'>, id: string): string => `${actorTypeOf(tenantRow)}/${id}`;

export type SigningUp = {
  email: string;
  password: string;
  displayName?: string | undefined;
  /** BCP 47. */
  language?: string | undefined;
  /** The IP address that the request came from. */
  network?: string | undefined;
  /** The address that an invitation was sent to, from whose mail the person comes: it needs no other proof. */
  invitedEmail?: string | undefined;
  /** The person has an invitation, which does not prove the address: it is proved by mail. */
  isInvited?: boolean;
  requestId?: string | undefined;
};

/**
 * `exists`: only where the person was invited to that address. `check_mail`: whether the address has an account or not; `pending`
 * is what sendSignUpAgain takes.
 */
export type SignedUp =
  | { status: 'created'; account: Account }
  | { status: 'exists' }
  | { status: 'check_mail'; pending: string };

/** What a sign-up keeps until its link is opened. */
export type PendingSignUp = {
  password: string;
  displayName?: string;
  language?: string;
  /** By an invitation. */
  isInvited?: true;
  askedBy?: string;
};

/**
 * Signs somebody up. Without an invitation, the account is made when the mailed link is opened by somebody who knows the
 * password (verifyEmail): neither who has only the address nor who has only the mailbox gets one.
 * @throws Problem invalid_request, password_too_short and the like, sign_up_closed, passwords_busy, account_mails_limited,
 *   tenant_not_found
 */
export async function signUp(services: AccountServices, tenant: string, given: SigningUp): Promise<SignedUp> {
  const email = checkAddress(given.email);
  const displayName = checkDisplayName(given.displayName);
  const language = languageOf(given.language);
  const row = await services.database.read(tenant, (tx) => requireTenant(tx, tenant));
  const isInvited = given.invitedEmail !== undefined && checkAddress(given.invitedEmail) === email;
  const hasInvitation = isInvited || given.isInvited === true;
  if (!maySignUp(row.spec, hasInvitation)) throw accountProblem('sign_up_closed');
  checkPassword(given.password, wordsAround(email, tenant, row.spec.displayName), services.weak);
  const password = await services.passwords.hash({ tenant, network: given.network }, given.password);
  const pending: PendingSignUp = {
    password,
    ...(displayName ? { displayName } : {}),
    ...(language ? { language } : {}),
    ...(hasInvitation ? { isInvited: true } : {}),
  };
  if (!isInvited) return requestSignUp(services, row, { ...pending, email, network: given.network });
  const { result } = await write(services, { tenant }, { locks: 'records' }, (unit) =>
    createAccount(services, unit, row, { ...pending, email, requestId: given.requestId }),
  );
  return result === undefined ? { status: 'exists' } : { status: 'created', account: accountOf(result) };
}

/** Makes an account with a verified address. @returns undefined when the address has one */
export async function createAccount(
  services: AccountServices,
  unit: RecordUnit,
  tenantRow: Pick<TenantRow, 'spec'>,
  given: Omit<PendingSignUp, 'password'> & {
    email: string;
    password?: string | undefined;
    requestId?: string | undefined;
  },
): Promise<AccountRow | undefined> {
  const { tx, tenant, nowText: now } = unit;
  const id = randomUUID();
  const { email, password, displayName, language } = given;
  const row = await insertAccount(
    tx,
    tenant,
    {
      ...{ id, email, email_verified: true, display_name: displayName ?? null, language: language ?? null },
      password_encrypted: password === undefined ? null : encryptPassword(services, tenant, id, password),
    },
    now,
  );
  if (row === undefined) return undefined;
  await deleteSignUps(tx, tenant, email);
  const author = accountAuthor(tenant, actorTypeOf(tenantRow), id, given.requestId);
  unit.as(author.by).audit({ action: 'create', kind: 'account', name: nameOf(tenantRow, id) });
  return row;
}

type Asking = PendingSignUp & { email: string };

/** The same answer and the same work, whether the address has an account or not: what differs is the mail. */
async function requestSignUp(
  services: AccountServices,
  tenant: TenantRow,
  { network, ...asking }: Asking & { network: string | undefined },
): Promise<SignedUp> {
  const { result } = await write(services, { tenant: tenant.tenant }, { locks: 'records' }, (unit) =>
    mailSignUp(services, unit, tenant, asking, network),
  );
  return { status: 'check_mail', pending: result ?? noHandle() };
}

/**
 * Mails the link of a sign-up again, to the same address. Nobody is told whether there was one, whether too many mails to it were
 * asked for, or whether signing up was closed meanwhile.
 * @param given `pending` as signUp returned it
 * @returns what the next call takes
 * @throws Problem account_mails_limited, tenant_not_found
 */
export async function sendSignUpAgain(
  services: AccountServices,
  tenant: string,
  { pending, network }: { pending: string; network?: string | undefined },
): Promise<string> {
  const { result } = await write(services, { tenant }, { locks: 'records' }, async (unit) => {
    const row = await requireTenant(unit.tx, tenant);
    const before = await findByHandle<PendingSignUp>(services.encrypter, unit, pending, 'sign_up');
    if (before === undefined || !maySignUp(row.spec, before.content.isInvited === true)) return undefined;
    return mailSignUp(services, unit, row, { ...before.content, email: before.email }, network);
  });
  return result ?? pending;
}

/** @returns the handle of its token; undefined when too many mails to the address were asked for */
async function mailSignUp(
  services: AccountServices,
  unit: RecordUnit,
  { tenant, spec }: TenantRow,
  { email, ...pending }: Asking,
  network: string | undefined,
): Promise<string | undefined> {
  const { encrypter, baseUrl } = services;
  const asked = await beginMail(encrypter, unit, { email, network });
  if (asked === undefined) return undefined;
  const existing = await readByEmail(unit.tx, tenant, email);
  const { token, handle, expiresAt } = await makeToken(encrypter, unit, 'sign_up', {
    email,
    content: { ...pending, ...asked },
  });
  const language = existing?.language ?? pending.language;
  const mail = { to: email, language, expiresAt };
  const application = spec.displayName;
  if (existing !== undefined) {
    // Its token is never mailed.
    const variables = { application, actionUrl: linkTo(baseUrl, tenant, 'logIn') };
    await sendMail(services, unit, { ...mail, template: 'account-exists', variables });
    return handle;
  }
  const validHours = limits.verificationTtlMs / 3_600_000;
  const variables = { application, validHours, actionUrl: linkTo(baseUrl, tenant, 'verify', token) };
  await sendMail(services, unit, { ...mail, template: 'email-verification', variables });
  return handle;
}
