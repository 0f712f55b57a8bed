/** The partitions of tables that are partitioned by time: every partitioned table of the schema is, by month. */
import type { Transaction } from './database.ts';
import { sql } from './sql.ts';

/** Makes the partitions of this month and the next ones. */
export async function ensurePartitions(tx: Transaction, monthsAhead: number): Promise<void> {
  await tx.run(sql`select accord.ensure_partitions(${monthsAhead})`);
}
