/** The SQL of passkeys and of linked log-ins. */
import { createHash } from 'node:crypto';
import type { Transaction } from '../core/db/database.ts';
import { removeDue } from '../core/db/due.ts';
import { Count } from '../core/db/rows.ts';
import { sql } from '../core/db/sql.ts';
import { limits } from '../core/limits.ts';
import { CredentialRow, IdentityRow } from './schema.ts';

const columns = sql`id, account, name, public_key, counter, transports, backed_up, created_at, used_at`;

export function readCredential(tx: Transaction, tenant: string, id: string): Promise<CredentialRow | undefined> {
  return tx.maybe(
    CredentialRow,
    sql`select ${columns} from accord.account_credential where tenant = ${tenant} and id = ${id}`,
  );
}

/** Of an account, oldest first. */
export function listCredentials(tx: Transaction, tenant: string, account: string): Promise<CredentialRow[]> {
  return tx.many(
    CredentialRow,
    sql`select ${columns} from accord.account_credential where tenant = ${tenant} and account = ${account}
      order by created_at, id`,
  );
}

export async function countCredentials(tx: Transaction, tenant: string, account: string): Promise<number> {
  const row = await tx.one(
    Count,
    sql`select count(*)::int as count from accord.account_credential where tenant = ${tenant} and account = ${account}`,
  );
  return row.count;
}

/** @returns undefined when the credential is there already */
export function insertCredential(
  tx: Transaction,
  tenant: string,
  one: Omit<CredentialRow, 'used_at'>,
): Promise<CredentialRow | undefined> {
  return tx.maybe(
    CredentialRow,
    sql`insert into accord.account_credential (tenant, id, account, name, public_key, counter, transports, backed_up, created_at)
      values (${tenant}, ${one.id}, ${one.account}, ${one.name}, ${one.public_key}, ${one.counter},
        ${JSON.stringify(one.transports)}, ${one.backed_up}, ${one.created_at})
      on conflict (tenant, id) do nothing returning ${columns}`,
  );
}

/** @returns 0 when another log-in has used this counter or a later one: the authenticator was copied */
export function recordCredentialUse(
  tx: Transaction,
  tenant: string,
  id: string,
  { counter, now }: { counter: number; now: string },
): Promise<number> {
  return tx.run(sql`update accord.account_credential set counter = ${counter}, used_at = ${now}
    where tenant = ${tenant} and id = ${id} and (counter < ${counter} or (counter = 0 and ${counter}::bigint = 0))`);
}

/** @returns 0 where the account has no such credential */
export function updateCredentialName(
  tx: Transaction,
  tenant: string,
  { account, id, name }: Pick<CredentialRow, 'account' | 'id' | 'name'>,
): Promise<number> {
  return tx.run(sql`update accord.account_credential set name = ${name}
    where tenant = ${tenant} and account = ${account} and id = ${id}`);
}

export function deleteCredential(tx: Transaction, tenant: string, account: string, id: string): Promise<number> {
  return tx.run(sql`delete from accord.account_credential
    where tenant = ${tenant} and account = ${account} and id = ${id}`);
}

/** @returns 0 when it was consumed before */
export function consumeChallenge(
  tx: Transaction,
  tenant: string,
  challenge: string,
  expiresAt: string,
): Promise<number> {
  const hash = createHash('sha256').update(challenge).digest();
  return tx.run(sql`insert into accord.account_challenge (tenant, challenge_hash, expires_at)
    values (${tenant}, ${hash}, ${expiresAt}) on conflict do nothing`);
}

/** Removes some challenges that have expired, of all tenants; in a system transaction. @returns how many */
export function removeExpiredChallenges(tx: Transaction, now: string): Promise<number> {
  return removeDue(tx, ['account_challenge', 'expires_at'], now, limits.erasePageItemsMax);
}

const identityColumns = sql`issuer, subject, account, created_at`;
type IdentityKey = { issuer: string; subject: string };

export function readIdentity(
  tx: Transaction,
  tenant: string,
  { issuer, subject }: IdentityKey,
): Promise<IdentityRow | undefined> {
  return tx.maybe(
    IdentityRow,
    sql`select ${identityColumns} from accord.account_identity
      where tenant = ${tenant} and issuer = ${issuer} and subject = ${subject}`,
  );
}

export function listIdentityRows(tx: Transaction, tenant: string, account: string): Promise<IdentityRow[]> {
  return tx.many(
    IdentityRow,
    sql`select ${identityColumns} from accord.account_identity where tenant = ${tenant} and account = ${account}
      order by issuer, subject`,
  );
}

/** @returns 0 when the identity is linked to an account already */
export function insertIdentity(
  tx: Transaction,
  tenant: string,
  { issuer, subject, account, now }: IdentityKey & { account: string; now: string },
): Promise<number> {
  return tx.run(sql`insert into accord.account_identity (tenant, issuer, subject, account, created_at)
    values (${tenant}, ${issuer}, ${subject}, ${account}, ${now}) on conflict do nothing`);
}

export function deleteIdentity(
  tx: Transaction,
  tenant: string,
  { issuer, subject, account }: IdentityKey & { account: string },
): Promise<number> {
  return tx.run(sql`delete from accord.account_identity
    where tenant = ${tenant} and account = ${account} and issuer = ${issuer} and subject = ${subject}`);
}
