/** The verbs on tenants. A tenant is written by manifests only; the Config API reaches parts of its spec (token mapping). */
import { isDeepStrictEqual } from 'node:util';
import type { Database, Transaction } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { claim, claimDeletion, describeOwner, isSameObject, type Owner, type Writer } from '../core/ownership.ts';
import { tenantProblem } from './problems.ts';
import type { TenantSpec } from './schema.ts';
import { type SecretSealer, storeSecrets, type TenantSecrets } from './secrets.ts';
import {
  countChildren,
  deleteConsents,
  deleteLedger,
  deleteRelationships,
  deleteTenant,
  forgetServed,
  insertTenant,
  updateTenant,
} from './store.ts';
import type { ConfigWritten, TenantUnit, WriteTenant } from './unit.ts';

export type TenantServices = {
  database: Database;
  write: WriteTenant;
  /** Makes the tenant's signing keys, in the transaction that makes the tenant. */
  ensureKeys: (write: { tx: Transaction; tenant: string; spec: TenantSpec }) => Promise<boolean>;
  sealer: SecretSealer;
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
    const claimed = claim(row.owner, writer);
    const same =
      isDeepStrictEqual(row.spec, spec) && row.state === 'active' && isDeepStrictEqual(row.owner, writer.owner);
    if (await services.ensureKeys({ tx, tenant, spec })) unit.changed('key', 'access', 'create');
    if (secrets !== undefined) await storeSecrets(services.sealer, unit, secrets, writer);
    if (row.revision > 0 && same) return;
    await updateTenant(tx, tenant, { spec, state: 'active' }, writer);
    unit.changed('tenant', tenant, claimed === 'adopted' ? 'adopt' : 'put');
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
    claimDeletion(row.owner, writer);
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
 * Delete: disables first (servers notice by the revision), then erases every row.
 * @throws Problem tenant_has_children while manifests still name it
 */
export async function eraseTenant(services: TenantServices, writer: Writer, tenant: string): Promise<void> {
  await disableTenant(services, writer, tenant);
  await services.database.tenantSnapshot(tenant, (tx) => checkChildless(tx, tenant));
  const some = limits.deletePageItemsMax;
  for (const remove of [deleteRelationships, deleteConsents]) {
    while ((await services.database.tenant(tenant, (tx) => remove(tx, tenant, some))) === some);
  }
  await services.database.tenant(tenant, async (tx) => {
    await checkChildless(tx, tenant);
    await deleteTenant(tx, tenant);
  });
  // After the tenant, without which no entry is sealed.
  while ((await services.database.system((tx) => deleteLedger(tx, tenant, limits.deletePageItemsMax))) > 0);
  // Servers withdraw what they said when they notice; a successor of the code may be faster than they.
  await services.database.system((tx) => forgetServed(tx, tenant));
}

/** @throws Problem tenant_has_children */
async function checkChildless(tx: Transaction, tenant: string): Promise<void> {
  const children = await countChildren(tx, tenant);
  if (children > 0)
    throw tenantProblem('tenant_has_children', { detail: `${children} objects still name this tenant.` });
}
