/**
 * The tenants room: tenants, their revision counter, and the one way in which a tenant's configuration is written.
 * Owns accord.tenant, accord.config_change and accord.tenant_secret. Every other config room writes through `writeConfig`.
 */

export { disableTenant, eraseTenant, putTenant, type TenantServices, transferTenant } from './actions.ts';
export { type ConfigWrite, type ConfigWritten, transferRow, writeConfig } from './config-write.ts';
export { tenantProblem } from './problems.ts';
export { tenantsRoom } from './room.ts';
export type { TenantRow, TenantSpec } from './schema.ts';
export { placeOfSecret, type TenantSecrets } from './secrets.ts';
export { configChangesSince, holdTenant, readTenant, readTenantRevisions, readTenants } from './store.ts';
