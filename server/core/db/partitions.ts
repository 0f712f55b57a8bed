/** The partitions of tables that are partitioned by time: those with a default partition by month, the others by day. */
import type { Database, Transaction } from './database.ts';
import { sql } from './sql.ts';

/** Makes the partitions of this month and the next ones, and of today and the next seven days. */
export async function ensurePartitions(tx: Transaction, monthsAhead: number): Promise<void> {
  await tx.run(sql`select accord.ensure_partitions(${monthsAhead})`);
}

const NO_PARTITION = '23514';

/**
 * Runs what inserts into a partitioned table without a default partition. Where there is none for this day, because the clock of the
 * database jumped or nobody has made it yet, it is made, and `insert` runs again.
 */
export async function withPartitions<T>(database: Database, insert: () => Promise<T>): Promise<T> {
  try {
    return await insert();
  } catch (error) {
    if ((error as { code?: string }).code !== NO_PARTITION) throw error;
    await database.system((tx) => ensurePartitions(tx, 1));
    return insert();
  }
}
