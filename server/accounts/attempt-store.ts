/** The SQL of attempts: failures in a row, by a keyed digest of an address or network. */
import type { Transaction } from '../core/db/database.ts';
import { removeDue } from '../core/db/due.ts';
import { sql } from '../core/db/sql.ts';
import { utc } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import { type AttemptKind, AttemptRow } from './schema.ts';

type Key = { kind: AttemptKind; digest: string };

/** The count, locked; one that begins is zero. */
export function lockAttempt(tx: Transaction, tenant: string, { kind, digest }: Key, now: string): Promise<AttemptRow> {
  return tx.one(
    AttemptRow,
    sql`insert into accord.login_attempt as a (tenant, kind, key_digest, failures, counted_at, blocked_until)
      values (${tenant}, ${kind}, ${digest}, 0, ${now}, ${now})
      on conflict (tenant, kind, key_digest) do update set failures = a.failures
      returning failures, counted_at, blocked_until`,
  );
}

export async function updateAttempt(
  tx: Transaction,
  tenant: string,
  { kind, digest }: Key,
  { failures, countedAt, blockedUntil }: { failures: number; countedAt: number; blockedUntil: number },
): Promise<void> {
  await tx.run(sql`update accord.login_attempt
    set failures = ${failures}, counted_at = ${utc(countedAt)}, blocked_until = ${utc(blockedUntil)}
    where tenant = ${tenant} and kind = ${kind} and key_digest = ${digest}`);
}

export async function deleteAttempt(tx: Transaction, tenant: string, { kind, digest }: Key): Promise<void> {
  await tx.run(sql`delete from accord.login_attempt
    where tenant = ${tenant} and kind = ${kind} and key_digest = ${digest}`);
}

/** Removes some that are forgotten, of all tenants; in a system transaction. @returns how many */
export function removeForgotten(tx: Transaction, before: string): Promise<number> {
  return removeDue(tx, ['login_attempt', 'counted_at'], before, limits.erasePageItemsMax);
}
