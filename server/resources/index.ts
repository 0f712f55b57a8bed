/**
 * The resources room: what became of a tenant's manifests, for those who have no cluster to ask. It reads accord.resource,
 * which the operator writes.
 */
export { resourcesRoom } from './room.ts';
