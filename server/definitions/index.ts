/**
 * The definitions room: what users are asked to consent to. Definitions with versions and documents are configuration,
 * served from the snapshot; `evaluateConsent` says which document concerns a user at an instant.
 */
export type { DefinitionServices } from './actions.ts';
export { documentUrl } from './address.ts';
export { applyDefinition, archiveManifestDefinition, findDefinition, transferDefinition } from './apply.ts';
export {
  type ConsentEvaluation,
  type EvaluatedVersion,
  evaluateActive,
  evaluateConsent,
  type GivenConsent,
  graceEnd,
  hasEnded,
  isOlder,
  isSufficient,
  newestGiven,
  type UserPast,
  type UserStatus,
  userStatuses,
} from './evaluate.ts';
export { activeLanguages, languageFor, notActiveIn } from './languages.ts';
export type { DefinitionState } from './manifest.ts';
export { definitionProblem } from './problems.ts';
export { definitionsRoom } from './room.ts';
export { definitionsOf } from './rules.ts';
export type { Definition, Definitions } from './schema.ts';
export { loadDefinitions } from './store.ts';
export {
  type EndingVersion,
  lockStarted,
  markEnded,
  markStarted,
  nextEnded,
  tenantsWithEnds,
  tenantsWithStarts,
} from './timed-store.ts';
