/**
 * The people room: everything about one actor in one order, and finding an actor, for members. It has no table and changes
 * nothing; its SQL reads those of the rooms with the records.
 */
export { peopleRoom } from './room.ts';
