/**
 * The erasure room: erasing a person from all rooms of a tenant, each by its own code, in portions whose progress is stored, so
 * that whatever ends it in the middle, it goes on where it was.
 */
export { type ErasureReport, type ErasureServices, eraseActor } from './actions.ts';
export { erasureRoom } from './room.ts';
