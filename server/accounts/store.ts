/** The SQL of accounts and of their links. */
import { Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { removeDue } from '../core/db/due.ts';
import { Nullable } from '../core/db/rows.ts';
import { none, type Sql, sql } from '../core/db/sql.ts';
import { limits } from '../core/limits.ts';
import { AccountRow, type NewAccount, type TokenPurpose, TokenRow } from './schema.ts';

const columns = sql`id, email, email_verified, display_name, language, enabled, password_encrypted, epoch, created_at,
  updated_at`;

/** @param forUpdate until the end of the transaction nobody else changes it */
export function readAccountRow(
  tx: Transaction,
  tenant: string,
  id: string,
  forUpdate = false,
): Promise<AccountRow | undefined> {
  return tx.maybe(
    AccountRow,
    sql`select ${columns} from accord.account where tenant = ${tenant} and id = ${id} ${forUpdate ? sql`for no key update` : none}`,
  );
}

/** Whether an account is enabled and of this epoch, which nobody changes until the end of the transaction. */
export async function isOfEpoch(tx: Transaction, tenant: string, { id, epoch }: Pick<AccountRow, 'id' | 'epoch'>) {
  const row = await tx.maybe(
    AccountRow,
    sql`select ${columns} from accord.account
      where tenant = ${tenant} and id = ${id} and enabled and epoch = ${epoch} for share`,
  );
  return row !== undefined;
}

const AddressRow = Type.Object({ id: Type.String(), email: Type.String(), language: Nullable(Type.String()) });

/** The verified addresses of accounts that are enabled. @param ids UUIDs */
export function readVerifiedAddresses(tx: Transaction, tenant: string, ids: readonly string[]) {
  return tx.many(
    AddressRow,
    sql`select id, email, language from accord.account where tenant = ${tenant} and id = any (${ids}::uuid[])
      and email_verified and enabled`,
  );
}

/** @param email as addresses are compared */
export function readByEmail(tx: Transaction, tenant: string, email: string): Promise<AccountRow | undefined> {
  return tx.maybe(AccountRow, sql`select ${columns} from accord.account where tenant = ${tenant} and email = ${email}`);
}

/** @returns undefined when the address has an account */
export function insertAccount(
  tx: Transaction,
  tenant: string,
  one: NewAccount,
  now: string,
): Promise<AccountRow | undefined> {
  return tx.maybe(
    AccountRow,
    sql`insert into accord.account (tenant, id, email, email_verified, display_name, language, password_encrypted, created_at,
        updated_at)
      values (${tenant}, ${one.id}, ${one.email}, ${one.email_verified}, ${one.display_name}, ${one.language},
        ${one.password_encrypted}, ${now}, ${now})
      on conflict (tenant, email) do nothing returning ${columns}`,
  );
}

function changing(set: Sql, tenant: string, id: string, now: string): Sql {
  return sql`update accord.account set ${set}, updated_at = ${now} where tenant = ${tenant} and id = ${id} returning ${columns}`;
}

/** Gives a password; what began before is over. */
export function updatePassword(
  tx: Transaction,
  tenant: string,
  id: string,
  { encrypted, verified, now }: { encrypted: Buffer; verified: boolean; now: string },
): Promise<AccountRow | undefined> {
  const set = sql`password_encrypted = ${encrypted}, epoch = epoch + 1, email_verified = email_verified or ${verified}::boolean`;
  return tx.maybe(AccountRow, changing(set, tenant, id, now));
}

export function updateDisplayName(
  tx: Transaction,
  tenant: string,
  id: string,
  { displayName, now }: { displayName: string | null; now: string },
): Promise<AccountRow | undefined> {
  return tx.maybe(AccountRow, changing(sql`display_name = ${displayName}`, tenant, id, now));
}

export function updateEnabled(
  tx: Transaction,
  tenant: string,
  id: string,
  { enabled, now }: { enabled: boolean; now: string },
): Promise<AccountRow | undefined> {
  return tx.maybe(AccountRow, changing(sql`enabled = ${enabled}, epoch = epoch + 1`, tenant, id, now));
}

/** @returns how many: 0 when there is none */
export function deleteAccountRow(tx: Transaction, tenant: string, id: string): Promise<number> {
  return tx.run(sql`delete from accord.account where tenant = ${tenant} and id = ${id}`);
}

/** Accounts by address in byte order, of those that begin with a prefix. */
export function listAccounts(
  tx: Transaction,
  tenant: string,
  page: { prefix?: string; after?: string; limit: number },
): Promise<AccountRow[]> {
  const { prefix, after, limit } = page;
  // The order of bytes is that of the index: what begins with the prefix lies together.
  const begins = prefix === undefined ? none : sql`and email >= ${prefix} and starts_with(email, ${prefix})`;
  return tx.many(
    AccountRow,
    sql`select ${columns} from accord.account where tenant = ${tenant} ${begins}
      ${after === undefined ? none : sql`and email > ${after}`} order by email limit ${limit}`,
  );
}

/** Accounts by id, whose order says nothing of an address. */
export function listAccountsById(
  tx: Transaction,
  tenant: string,
  { after, limit }: { after?: string; limit: number },
): Promise<AccountRow[]> {
  const onward = after === undefined ? none : sql`and id > ${after}::uuid`;
  return tx.many(
    AccountRow,
    sql`select ${columns} from accord.account where tenant = ${tenant} ${onward} order by id limit ${limit}`,
  );
}

type NewToken = Omit<TokenRow, 'expires_at'> & { hash: Buffer; now: string; expires_at: string };

export async function insertToken(tx: Transaction, tenant: string, one: NewToken): Promise<void> {
  await tx.run(sql`
    insert into accord.account_token (tenant, token_hash, purpose, account, email, epoch, content_encrypted, created_at,
      expires_at)
    values (${tenant}, ${one.hash}, ${one.purpose}, ${one.account}, ${one.email}, ${one.epoch}, ${one.content_encrypted},
      ${one.now}, ${one.expires_at})`);
}

const tokenColumns = sql`purpose, account, email, epoch, content_encrypted, expires_at`;

/** @param forUpdate it is locked, too. @returns undefined when there is none of this purpose, or it has expired */
export function readTokenRow(
  tx: Transaction,
  tenant: string,
  { hash, purpose, now }: { hash: Buffer; purpose: TokenPurpose; now: string },
  forUpdate = false,
): Promise<TokenRow | undefined> {
  return tx.maybe(
    TokenRow,
    sql`select ${tokenColumns} from accord.account_token where tenant = ${tenant} and token_hash = ${hash}
      and purpose = ${purpose} and expires_at > ${now} ${forUpdate ? sql`for update` : sql``}`,
  );
}

export async function deleteToken(tx: Transaction, tenant: string, hash: Buffer): Promise<void> {
  await tx.run(sql`delete from accord.account_token where tenant = ${tenant} and token_hash = ${hash}`);
}

/** Removes the tokens of an account, of some purposes. */
export async function deleteTokensOf(
  tx: Transaction,
  tenant: string,
  account: string,
  purposes: readonly TokenPurpose[],
): Promise<void> {
  await tx.run(sql`delete from accord.account_token
    where tenant = ${tenant} and account = ${account} and purpose = any (${purposes}::text[])`);
}

/** Removes the sign-ups with an address that were not confirmed. */
export async function deleteSignUps(tx: Transaction, tenant: string, email: string): Promise<void> {
  await tx.run(sql`delete from accord.account_token
    where tenant = ${tenant} and email = ${email} and purpose = 'sign_up'`);
}

/** Does work, and undoes it unless it is kept. Either takes the same time. */
export async function keptIf(tx: Transaction, isKept: boolean, work: () => Promise<void>): Promise<void> {
  await tx.run(sql`savepoint kept`);
  await work();
  await tx.run(isKept ? sql`release savepoint kept` : sql`rollback to savepoint kept`);
}

/** Removes some tokens that have expired, of all tenants; in a system transaction. @returns how many */
export function removeExpiredTokens(tx: Transaction, now: string): Promise<number> {
  return removeDue(tx, ['account_token', 'expires_at'], now, limits.erasePageItemsMax);
}
