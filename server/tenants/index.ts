/**
 * The tenants room: tenants, their lock and their revision counter, by which server/writes writes configuration.
 */

export { disableTenant, eraseTenant, putTenant, type TenantServices, transferTenant } from './actions.ts';
export { tenantsRoom } from './room.ts';
export type { TenantRow, TenantSpec } from './schema.ts';
export { placeOfSecret, readTenantSecret, storeSecrets, type TenantSecrets } from './secrets.ts';
export {
  advanceRevision,
  configChangesSince,
  lockForShare,
  lockForUpdate,
  readTenant,
  readTenantRevisions,
  readTenants,
  tenantsOfChangedTypes,
  updateTenant,
} from './store.ts';
export type { ConfigWritten, TenantUnit, WriteTenant } from './unit.ts';
