/** The SQL that removes the records of a tenant that is erased. */
import type { Transaction } from '../core/db/database.ts';
import { sql } from '../core/db/sql.ts';

export async function removeOfTenant(tx: Transaction, tenant: string): Promise<void> {
  await tx.run(sql`delete from accord.decision where tenant = ${tenant}`);
}
