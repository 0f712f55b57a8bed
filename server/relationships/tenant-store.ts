/** The SQL that removes the records of a tenant that is erased. */
import type { Transaction } from '../core/db/database.ts';
import { sql } from '../core/db/sql.ts';

/** Removes at most so many relationships; how many. */
export function removeSomeOfTenant(tx: Transaction, tenant: string, limit: number): Promise<number> {
  return tx.run(sql`delete from accord.relationship where ctid in
    (select ctid from accord.relationship where tenant = ${tenant} limit ${limit})`);
}

/** What is left. */
export async function removeRestOfTenant(tx: Transaction, tenant: string): Promise<void> {
  await tx.run(sql`delete from accord.relationship where tenant = ${tenant}`);
  await tx.run(sql`delete from accord.relationship_change where tenant = ${tenant}`);
  await tx.run(sql`delete from accord.entity where tenant = ${tenant}`);
}
