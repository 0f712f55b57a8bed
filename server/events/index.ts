/**
 * The events room: what happened, in a log of each tenant without gaps, for those who ask or are told. Writes record events
 * in their own transactions (insertEvents); they are numbered behind that.
 */
export { cloudEvent, typesNamed } from './envelope.ts';
export { type Asked, followEvents, lastEvent } from './reading.ts';
export { eventsRoom } from './room.ts';
export type { CloudEvent, EventRow } from './schema.ts';
export { signedHeaders, signerOf } from './signature.ts';
export {
  type CountedRow,
  insertEvents,
  insertSelectedEvents,
  lastEventBefore,
  readCounter,
  readCounts,
  readEventKeys,
  readEvents,
  readEventsOf,
} from './store.ts';
