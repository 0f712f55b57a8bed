/** The verbs on tenants. A tenant is written by manifests only; the Config API reaches parts of its spec (token mapping). */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../core/clock.ts';
import type { Database, Transaction } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { limits } from '../core/limits.ts';
import {
  checkDeletionOwnership,
  checkOwnership,
  describeOwner,
  isSameObject,
  type Owner,
  type Writer,
} from '../core/ownership.ts';
import { counted } from '../core/text.ts';
import type { TenantRows } from '../room/tenant-rows.ts';
import { tenantProblem } from './problems.ts';
import type { TenantSpec } from './schema.ts';
import { storeSecrets, type TenantSecrets } from './secrets.ts';
import { deleteTenant, insertTenant, updateTenant } from './store.ts';
import type { ConfigWritten, TenantUnit, WriteTenant } from './unit.ts';

export type TenantServices = {
  database: Database;
  clock: Clock;
  encrypter: Encrypter;
  write: WriteTenant;
  /** Of all rooms: what comes with a tenant, and goes with it. */
  rows: readonly TenantRows[];
};

/**
 * Creates or replaces a tenant; unchanged, it does nothing. A disabled tenant becomes active again, with its data.
 * @param secrets values of the Secrets that the spec refers to, by name, in the place of those that are stored; absent
 *   where the source has no Secrets: then those that are stored stay
 * @throws Problem duplicate_name, owned_by_api
 */
export async function putTenant(
  services: TenantServices,
  writer: Writer,
  tenant: string,
  spec: TenantSpec,
  secrets?: TenantSecrets,
): Promise<ConfigWritten<void>> {
  // The row must be there to be locked. Revision 0 serves nothing.
  const create = (tx: Transaction) => insertTenant(tx, tenant, spec, writer);
  const put = async (unit: TenantUnit) => {
    const { tx, tenantRow: row } = unit;
    const ownership = checkOwnership(row.owner, writer);
    const same =
      isDeepStrictEqual(row.spec, spec) && row.state === 'active' && isDeepStrictEqual(row.owner, writer.owner);
    for (const rows of services.rows) {
      const made = await rows.ensure?.(services, { tx, tenant, spec });
      if (made !== undefined) unit.changed(made.kind, made.name, made.action);
    }
    if (secrets !== undefined) await storeSecrets(services.encrypter, unit, secrets, writer, 'mail.');
    if (row.revision > 0 && same) return;
    await updateTenant(tx, tenant, { spec, state: 'active' }, writer);
    unit.changed('tenant', tenant, ownership === 'adopted' ? 'adopt' : 'put');
  };
  return services.write(tenant, writer, put, create);
}

/** Retain: the tenant answers 404 from the next request on, and its data stays. */
export async function disableTenant(
  services: TenantServices,
  writer: Writer,
  tenant: string,
): Promise<ConfigWritten<void>> {
  return services.write(tenant, writer, async (unit) => {
    const { tx, tenantRow: row } = unit;
    checkDeletionOwnership(row.owner, writer);
    if (row.state === 'disabled') return;
    await updateTenant(tx, tenant, { spec: row.spec, state: 'disabled' }, writer);
    unit.changed('tenant', tenant, 'disable');
  });
}

/** Gives the writer's tenant to another owner as it is; does nothing when it is not (any more) the writer's. */
export async function transferTenant(
  services: Pick<TenantServices, 'write'>,
  writer: Writer,
  tenant: string,
  to: Owner,
): Promise<ConfigWritten<void>> {
  return services.write(tenant, writer, async (unit) => {
    const { tx, tenantRow: row } = unit;
    if (!isSameObject(row.owner, writer.owner)) return;
    await updateTenant(tx, tenant, { spec: row.spec, state: row.state }, { ...writer, owner: to });
    unit.changed('tenant', tenant, 'transfer', { to: describeOwner(to) });
  });
}

/**
 * Delete: disables first (servers notice by the revision), then erases every row, those of other rooms by their own hands.
 * @throws Problem tenant_has_children while manifests still name it
 */
export async function eraseTenant(services: TenantServices, writer: Writer, tenant: string): Promise<void> {
  const { database, rows } = services;
  await disableTenant(services, writer, tenant);
  await database.tenantSnapshot(tenant, (tx) => checkChildless(rows, tx, tenant));
  const some = limits.deletePageItemsMax;
  for (const { removeSome } of rows) {
    if (removeSome === undefined) continue;
    while ((await database.tenant(tenant, (tx) => removeSome(tx, tenant, some))) === some);
  }
  await database.tenant(tenant, async (tx) => {
    await checkChildless(rows, tx, tenant);
    await deleteTenant(tx, tenant);
    // The tenant's types were deleted with it, after waiting for writers of their records.
    for (const { removeRest } of rows) await removeRest?.(tx, tenant);
  });
  for (const { removeAfter } of rows) {
    if (removeAfter === undefined) continue;
    while ((await database.system((tx) => removeAfter(tx, tenant, some))) > 0);
  }
}

/** @throws Problem tenant_has_children */
async function checkChildless(rows: readonly TenantRows[], tx: Transaction, tenant: string): Promise<void> {
  const counts = await Promise.all(rows.map(({ countOfManifests }) => countOfManifests?.(tx, tenant) ?? 0));
  const children = counts.reduce((sum, count) => sum + count, 0);
  if (children > 0)
    throw tenantProblem('tenant_has_children', {
      detail: `${counted(children, 'manifest')} must be deleted before this tenant.`,
    });
}
