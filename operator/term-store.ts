/** All SQL about terms (accord.operator_term): who may write what the manifests of a source say. */
import { type Static, Type } from 'typebox';
import type { Transaction } from '../server/core/db/database.ts';
import { sql } from '../server/core/db/sql.ts';

export const TermRow = Type.Object({ epoch: Type.Integer(), holder: Type.String(), cluster: Type.String() });
export type TermRow = Static<typeof TermRow>;

export function readTerm(tx: Transaction, source: string): Promise<TermRow | undefined> {
  return tx.maybe(TermRow, sql`select epoch, holder, cluster from accord.operator_term where source = ${source}`);
}

/**
 * Waits until no transaction of the term before is under way; none begins until this transaction ends.
 * @throws Postgres's 55P03 when one of them lasts for longer than `waitMs`
 */
export async function lockTerms(tx: Transaction, source: string, waitMs: number): Promise<void> {
  await tx.run(sql`select set_config('lock_timeout', ${String(waitMs)}, true)`);
  await tx.run(sql`select pg_advisory_xact_lock(accord.term_lock(${source}))`);
}

export async function writeTerm(tx: Transaction, source: string, term: TermRow): Promise<void> {
  await tx.run(sql`
    insert into accord.operator_term (source, epoch, holder, cluster)
    values (${source}, ${term.epoch}, ${term.holder}, ${term.cluster})
    on conflict (source) do update set epoch = excluded.epoch, holder = excluded.holder, cluster = excluded.cluster,
      taken_at = now()`);
}

const LockKey = Type.Object({ key: Type.String() });

/**
 * Ends the connections whose transactions run under a term. A process that was stopped in the middle of a transaction
 * would hold up its successor until Postgres loses patience with it.
 * @returns how many
 */
export async function endTransactions(tx: Transaction, source: string): Promise<number> {
  // A role may end its own sessions; accord_system, in which the lock's key is computed, has none.
  const key = await tx.one(LockKey, sql`select accord.term_lock(${source})::text as key`);
  await tx.run(sql`set local role none`);
  return tx.run(sql`
    select pg_terminate_backend(pid) from pg_locks
    where locktype = 'advisory' and mode = 'ShareLock' and granted and objsubid = 1
      and database = (select oid from pg_database where datname = current_database())
      and classid::bigint = (${key.key}::bigint >> 32) & 4294967295
      and objid::bigint = ${key.key}::bigint & 4294967295`);
}
