/**
 * The resources room: the status of a tenant's manifests, for callers without access to the cluster. It reads accord.resource,
 * which the operator writes.
 */
export { resourcesRoom } from './room.ts';
