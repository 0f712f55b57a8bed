/** The kind Tenant: its name is the tenant's code, and only manifests write it. */
import type { TenantManifest } from '../../crds/index.ts';
import type { ResourceKind } from '../room/resource-kind.ts';
import { putTenant, type TenantServices, transferTenant } from './actions.ts';
import { readTenant } from './store.ts';

export const tenantKind: ResourceKind<TenantServices, TenantManifest> = {
  kind: 'Tenant',
  plural: 'tenants',
  order: 0,
  claims: ({ metadata }) => ({ tenant: metadata.name, name: metadata.name }),
  find: (tenants, { tenant }) => tenants.database.read(tenant, (tx) => readTenant(tx, tenant)),
  put: (tenants, writer, { tenant }, manifest, { secrets }) =>
    putTenant(tenants, writer, tenant, manifest.spec, secrets),
  transfer: (tenants, writer, { tenant }, to) => transferTenant(tenants, writer, tenant, to),
};

export const resourceKinds = [tenantKind];
