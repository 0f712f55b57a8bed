/** Where the owners of accounts can be reached. */
import type { Transaction } from '../core/db/database.ts';
import { UUID } from '../core/uuid.ts';
import { readVerifiedAddresses } from './store.ts';

export type VerifiedAddress = { email: string; language: string | null };

/** By the ids of actors of the default type; those without an account that is enabled, or a verified address, are left out. */
export async function verifiedAddresses(
  tx: Transaction,
  tenant: string,
  actors: readonly string[],
): Promise<Map<string, VerifiedAddress>> {
  // Ids of other users are not those of accounts.
  const ids = actors.filter((id) => UUID.test(id));
  const rows = ids.length === 0 ? [] : await readVerifiedAddresses(tx, tenant, ids);
  return new Map(rows.map(({ id, email, language }) => [id, { email, language }]));
}
