/** The SQL about a tenant's whole ledger. What requests run as removes no entry: what removes is a system transaction. */
import { Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { sql } from '../core/db/sql.ts';

const Empty = Type.Object({ empty: Type.Boolean() });

/** Whether nothing was ever recorded. */
export async function isLedgerEmpty(tx: Transaction, tenant: string): Promise<boolean> {
  const { empty } = await tx.one(
    Empty,
    sql`select not exists (select from accord.ledger_inbox where tenant = ${tenant})
      and not exists (select from accord.ledger_entry where tenant = ${tenant}) as empty`,
  );
  return empty;
}

/** Removes what was appended for a tenant after it was erased: a successor of its code is somebody else. */
export async function removeStray(tx: Transaction, tenant: string): Promise<void> {
  await tx.run(sql`delete from accord.ledger_inbox where tenant = ${tenant}
    and not exists (select from accord.tenant where tenant = ${tenant})`);
}

/** Removes at most so many entries of each table; the checkpoints go with the last of them. @returns how many entries */
export async function removeLedger(tx: Transaction, tenant: string, limit: number): Promise<number> {
  await tx.run(sql`select pg_advisory_xact_lock(accord.ledger_lock(${tenant}))`); // a seal under way moves entries
  const inbox = await tx.run(sql`delete from accord.ledger_inbox where ctid in
    (select ctid from accord.ledger_inbox where tenant = ${tenant} limit ${limit})`);
  const entries = await tx.run(sql`delete from accord.ledger_entry where (tenant, time, id) in
    (select tenant, time, id from accord.ledger_entry where tenant = ${tenant} limit ${limit})`);
  if (inbox + entries === 0) await tx.run(sql`delete from accord.ledger_checkpoint where tenant = ${tenant}`);
  return inbox + entries;
}
