/** The verbs on clients. The Config API and the operator call the same ones. */

import { isDeepStrictEqual } from 'node:util';
import { authorOf } from '../core/author.ts';
import type { Transaction } from '../core/db/database.ts';
import { checkDeletionOwnership, checkOwnership, type Owner, type Writer } from '../core/ownership.ts';
import { checkPreconditions, type Preconditions } from '../http/config-api.ts';
import { allowClientTokens, denyClientTokens } from '../keys/index.ts';
import type { ConfigWritten } from '../tenants/index.ts';
import { type ConfigUnit, type ConfigWriteServices, transferRow, write } from '../writes/index.ts';
import { clientProblem } from './problems.ts';
import { checkClient, clientSpecOf, usesSecret } from './rules.ts';
import type { ClientSpec } from './schema.ts';
import { type SecretServices, storeSecret } from './secrets.ts';
import {
  countClients,
  loadSecrets,
  readClient,
  removeClient,
  removeSecrets,
  updateOwner,
  upsertClient,
} from './store.ts';

export type ClientServices = ConfigWriteServices & SecretServices;

type PutOptions = Preconditions & {
  /** The one that a manifest's client is to have; absent: those that it has stay. */
  secret?: string | undefined;
};

/**
 * Registers a client, or changes it; unchanged, it does nothing. Tokens of a client that is not enabled are refused.
 * @param given of a checked manifest or body (checkClientBody); what only a manifest has is left out
 * @throws Problem client_audience_unknown, client_id_is_audience, client_key_invalid, client_quota_reached,
 *   client_secret_weak, precondition_failed, tenant_not_found, and those of ownership; nothing is changed then
 */
export async function putClient(
  services: ClientServices,
  writer: Writer,
  tenant: string,
  given: ClientSpec,
  options: PutOptions = {},
): Promise<ConfigWritten<{ revision: number }>> {
  const spec = clientSpecOf(given);
  const { clientId } = spec;
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const row = await readClient(unit.tx, tenant, clientId);
    const ownership = checkOwnership(row?.owner, writer, unit.tenantRow.spec.configAuthority);
    checkPreconditions(options, row?.revision);
    checkClient(spec, row === undefined ? await countClients(unit.tx, tenant) : 0, unit.tenantRow.spec);
    const same = row && isDeepStrictEqual(row.spec, spec) && isDeepStrictEqual(row.owner, writer.owner);
    if (!same) {
      await upsertClient(unit.tx, tenant, { spec, revision: unit.revision }, writer);
      unit.changed('oauth_client', clientId, ownership === 'adopted' ? 'adopt' : 'put');
      if (spec.enabled) await allowClientTokens(unit, clientId);
      else if (row?.spec.enabled !== false) await denyClientTokens(unit, clientId, 'all');
    }
    if (!usesSecret(spec)) await dropSecrets(unit, clientId);
    else if (options.secret !== undefined) await storeSecret(services, unit, clientId, options.secret);
    return { revision: same ? row.revision : unit.revision };
  });
}

/** Of a client that authenticates without one. */
async function dropSecrets(unit: ConfigUnit, clientId: string): Promise<void> {
  const { tx, tenant } = unit;
  const secrets = await loadSecrets(tx, tenant, clientId);
  if (secrets.length === 0) return;
  await removeSecrets(tx, tenant, clientId);
  for (const { id } of secrets) unit.changed('oauth_client', clientId, 'delete_secret', { secret: id });
}

/**
 * Removes a client. Its tokens are refused by every server that serves the returned revision.
 * @throws Problem client_not_found for an API caller (a manifest's deletion is idempotent), precondition_failed, ownership
 */
export async function deleteClient(
  services: ConfigWriteServices,
  writer: Writer,
  tenant: string,
  clientId: string,
  options: Preconditions = {},
): Promise<ConfigWritten<void>> {
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const row = await readClient(unit.tx, tenant, clientId);
    if (row === undefined) {
      if (writer.owner.source === 'api') throw clientProblem('client_not_found');
      return;
    }
    checkDeletionOwnership(row.owner, writer, unit.tenantRow.spec.configAuthority);
    checkPreconditions(options, row.revision);
    await removeClient(unit.tx, tenant, clientId);
    unit.changed('oauth_client', clientId, 'delete');
    await denyClientTokens(unit, clientId, 'gone');
  });
}

/** Gives the writer's client to another owner as it is; does nothing when it is not (any more) the writer's. */
export function transferClient(
  services: ConfigWriteServices,
  writer: Writer,
  tenant: string,
  clientId: string,
  to: Owner,
): Promise<ConfigWritten<void>> {
  const row = {
    kind: 'oauth_client' as const,
    name: clientId,
    ownerOf: async (tx: Transaction) => (await readClient(tx, tenant, clientId))?.owner,
    setOwner: (tx: Transaction, owner: Owner) => updateOwner(tx, tenant, clientId, owner),
  };
  return transferRow(services, tenant, writer, row, to);
}
