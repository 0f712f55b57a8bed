/** Tenant: its name is the tenant's code, and it is written by manifests only. */
import type { TenantManifest } from '../../crds/index.ts';
import type { Kind } from './kind.ts';

export const tenantKind: Kind<TenantManifest> = {
  claims: ({ metadata }) => ({ tenant: metadata.name, name: metadata.name }),
  find: (rooms, { tenant }) => rooms.findTenant(tenant),
  put: (rooms, writer, { tenant }, manifest, { secrets }) => rooms.putTenant(writer, tenant, manifest.spec, secrets),
  transfer: (rooms, writer, { tenant }, to) => rooms.transferTenant(writer, tenant, to),
};
