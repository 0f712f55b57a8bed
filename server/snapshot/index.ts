/**
 * The snapshot room: what this server decides from. Configuration is compiled when it is accepted, read from Postgres
 * once, and served from frozen objects in memory. accord.server and accord.server_revision say which servers live,
 * and what each of them serves.
 */
export { snapshotRoom } from './room.ts';
export type { TenantSnapshot } from './schema.ts';
export { ServedTenant } from './served-tenant.ts';
export { Snapshots } from './snapshots.ts';
