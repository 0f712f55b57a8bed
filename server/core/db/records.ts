/** Owns the transaction of a record write, and the revision that it answers with. */
import { Type } from 'typebox';
import type { Once } from '../once.ts';
import type { Database } from './database.ts';
import { sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

export type RecordWritten<T> = { result: T; revision: string };

const RevisionRow = Type.Object({ id: Type.String() });

/** The revision that this transaction's records have: opaque, and greater than that of every transaction before. */
export async function recordRevision(tx: Transaction): Promise<string> {
  const row = await tx.one(RevisionRow, sql`select pg_current_xact_id()::text as id`);
  return `r${row.id}`;
}

/** @param once claimed first; a transaction that holds the writes of its tenant claims it itself, behind that */
export function writeRecord<T>(
  database: Database,
  { tenant, once }: { tenant: string; once?: Once | undefined },
  work: (tx: Transaction) => Promise<T>,
): Promise<RecordWritten<T>> {
  return database.tenant(tenant, async (tx) => {
    await once?.claim(tx);
    const result = await work(tx);
    return { result, revision: await recordRevision(tx) };
  });
}
