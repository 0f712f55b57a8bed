/** Finding a client inside of a transaction. */
import type { Transaction } from '../core/db/database.ts';
import { checkOwnership, type Writer } from '../core/ownership.ts';
import type { ConfigUnit } from '../writes/index.ts';
import { clientProblem } from './problems.ts';
import { usesSecret } from './rules.ts';
import type { ClientRow } from './schema.ts';
import { readClient } from './store.ts';

/** @throws Problem client_not_found */
export async function requireClient(tx: Transaction, tenant: string, clientId: string): Promise<ClientRow> {
  const row = await readClient(tx, tenant, clientId);
  if (row === undefined) throw clientProblem('client_not_found');
  return row;
}

/** The client, for a change of its secrets. @throws Problem client_not_found, client_has_no_secrets, ownership */
export async function requireOwnClient(unit: ConfigUnit, writer: Writer, clientId: string): Promise<ClientRow> {
  const row = await requireClient(unit.tx, unit.tenant, clientId);
  checkOwnership(row.owner, writer, unit.tenantRow.spec.configAuthority);
  if (!usesSecret(row.spec)) throw clientProblem('client_has_no_secrets');
  return row;
}
