import { Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { sql } from '../core/db/sql.ts';

const RevisionRow = Type.Object({ id: Type.String() });

/** The revision that this transaction's records have: opaque, and greater than that of every transaction before. */
export async function readTransactionRevision(tx: Transaction): Promise<string> {
  const row = await tx.one(RevisionRow, sql`select pg_current_xact_id()::text as id`);
  return `r${row.id}`;
}
