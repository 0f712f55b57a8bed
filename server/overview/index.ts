/**
 * The overview room: what happens in a tenant now, and what needs somebody. It has no table and changes nothing; its SQL asks the
 * tables of other rooms, each question bounded by an index.
 */
export { overviewRoom } from './room.ts';
