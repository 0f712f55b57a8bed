/**
 * The pseudonyms room: which actors of a tenant were erased, by keyed digests of their ids and addresses, and what replaces them in
 * records of later questions.
 */
export { type Pseudonymizer, pseudonymOf, unmarkErased } from './actions.ts';
export { pseudonymsRoom } from './room.ts';
export { type Replacement, replaceTexts, textsOf } from './rules.ts';
export type { Progress } from './schema.ts';
export {
  beginErasing,
  endErasing,
  erasedActor,
  erasedUser,
  hasErased,
  hasErasedSince,
  lockErasingExclusive,
  lockErasingShared,
  lockLogErasingShared,
  lockProgress,
  REPLACEMENT_PREFIX,
  readErased,
  tenantsWithErased,
  writeProgress,
} from './store.ts';
