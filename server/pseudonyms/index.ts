/**
 * The pseudonyms room: which actors of a tenant were erased, by keyed digests of their ids, and what stands for such an id in
 * records of later questions about it. Owns accord.erased_actor.
 */
export { comeBack, type Tagger, tagOf } from './actions.ts';
export { pseudonymsRoom } from './room.ts';
export { replaceTexts, type StandIn, textsOf } from './rules.ts';
export type { Progress } from './schema.ts';
export {
  beginErasing,
  endErasing,
  erasedActor,
  erasedUser,
  hasErased,
  hasErasedSince,
  holdErasing,
  holdLooks,
  holdProgress,
  holdWrites,
  readErased,
  STAND_IN,
  tenantsWithErased,
  writeProgress,
} from './store.ts';
