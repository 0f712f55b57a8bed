import type { Database, Transaction } from '../core/db/database.ts';
import { checkOwnership, type Owner, type Writer } from '../core/ownership.ts';
import { readTenant } from '../tenants/index.ts';

/**
 * Refuses a write to what belongs to somebody else before it is said what is wrong with it: that is not its caller's to mend. The
 * write checks it again, under its lock.
 * @throws Problem, those of ownership
 */
export async function checkOwnershipEarly(
  { database }: { database: Database },
  writer: Writer,
  tenant: string,
  find: (tx: Transaction) => Promise<{ owner: Owner } | undefined>,
): Promise<void> {
  const [found, row] = await database.read(tenant, (tx) => Promise.all([readTenant(tx, tenant), find(tx)]));
  if (found !== undefined) checkOwnership(row?.owner, writer, found.spec.configAuthority);
}
