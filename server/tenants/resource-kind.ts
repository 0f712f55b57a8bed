/** The kind Tenant: its name is the tenant's code, and only manifests write it. */
import { definitionOf, type TenantManifest } from '../../crds/index.ts';
import type { ResourceKind } from '../room/resource-kind.ts';
import { putTenant, type TenantServices, transferTenant } from './actions.ts';
import { readTenant } from './store.ts';

const tenantKind: ResourceKind<TenantServices, TenantManifest> = {
  definition: definitionOf('Tenant'),
  order: 0,
  // It has the addresses of its first members.
  readers: ['security-admin'],
  claims: ({ metadata }) => ({ tenant: metadata.name, name: metadata.name }),
  find: (tenants, { tenant }) => tenants.database.read(tenant, (tx) => readTenant(tx, tenant)),
  put: (tenants, writer, { tenant }, manifest, { secrets }) =>
    putTenant(tenants, writer, tenant, manifest.spec, secrets),
  transfer: (tenants, writer, { tenant }, to) => transferTenant(tenants, writer, tenant, to),
  async exported(tx, { tenant, allowPastDates }) {
    const row = await readTenant(tx, tenant);
    if (row === undefined) return [];
    const { spec, owner } = row;
    const restored = allowPastDates ? { ...spec, restore: { ...spec.restore, allowPastDates } } : spec;
    return [{ name: tenant, isObjectName: true, owner, spec: restored }];
  },
};

export const resourceKinds = [tenantKind];
