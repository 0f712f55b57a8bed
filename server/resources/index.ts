/**
 * The resources room: the status of a tenant's manifests, for callers without access to the cluster, and the tenant's objects as
 * manifests. It reads accord.resource, which the operator writes.
 */
export { exportedText, exportTenant } from './manifests.ts';
export { resourcesRoom } from './room.ts';
