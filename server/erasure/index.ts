/**
 * The erasure room: erasing a person from all rooms of a tenant, each by its own hand, in portions that are kept count of, so
 * that whatever ends it in the middle, it goes on where it was. Owns no table.
 */
export { type ErasureReport, type ErasureServices, eraseActor } from './actions.ts';
export { erasureRoom } from './room.ts';
