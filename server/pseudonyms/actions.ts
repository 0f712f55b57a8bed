/** Tags, the keyed digests of ids, and what happens when somebody who was erased is written about again. */
import type { Transaction } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { pseudonymProblem } from './problems.ts';
import { readPseudonyms, removeErased } from './store.ts';

/** Has the key. */
export type Pseudonymizer = Pick<Encrypter, 'digest'>;

/** The keyed digest of an id of a tenant: without the key it does not reveal the id. */
export function pseudonymOf(pseudonymizer: Pseudonymizer, tenant: string, id: string): string {
  return pseudonymizer.digest(Buffer.from(id), ['erased', tenant]);
}

/**
 * Records are being written about these actors or resources: those that were erased are known again from here on. The
 * transaction holds lockErasingShared.
 * @throws Problem actor_being_erased
 */
export async function unmarkErased(
  pseudonymizer: Pseudonymizer,
  tx: Transaction,
  tenant: string,
  entities: readonly { type: string; id: string }[],
): Promise<void> {
  const pseudonymous = entities.map(({ type, id }) => ({ type, pseudonym: pseudonymOf(pseudonymizer, tenant, id) }));
  const found = await readPseudonyms(tx, tenant, pseudonymous);
  if (found.length === 0) return;
  if (found.some((one) => one.under_way)) throw pseudonymProblem('actor_being_erased');
  await removeErased(tx, tenant, found);
}
