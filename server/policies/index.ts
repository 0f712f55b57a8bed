/**
 * The policies room: a tenant's policies in Rego or as a drawn graph, their history, their compiled form, and running
 * them.
 */
export {
  ALLOW_NOT_TESTED,
  deletePolicy,
  type PolicyBody,
  type PolicyServices,
  type PolicyTest,
  type PutPolicyOptions,
  putPolicy,
  requirePolicy,
  restorePolicy,
  transferPolicy,
} from './actions.ts';
export { type Answer, type Failure, failed, judge } from './answer.ts';
export { Artifacts, type Beside, besideOf, surround } from './artifacts.ts';
export { checkStated, consentNotes } from './data-subjects.ts';
export type { DocumentRef, Documents, DocumentText } from './documents.ts';
export { Engine, type EngineOptions } from './engine.ts';
export type { PolicyGraph } from './graph/index.ts';
export { deletePart, putPart, throwLibraryErrors, transferPart } from './part-actions.ts';
export type { PartSourceRow } from './part-schema.ts';
export { loadPartSources } from './part-store.ts';
export {
  checkOverlap,
  checkPackages,
  checkPartName,
  contentOf,
  digestOf,
  modulesOf,
  noParts,
  outwardRefs,
  type Part,
  type PartBody,
  type PartSet,
  usedParts,
} from './parts.ts';
export { policyProblem } from './problems.ts';
export { resourceKinds } from './resource-kind.ts';
export { policiesRoom } from './room.ts';
export { checkPolicyName, effectiveRego, instantOf, statedBody } from './rules.ts';
export type { Run } from './runs.ts';
export { type PolicyEntry, PolicyTestBody } from './schema.ts';
export { loadPolicySources, readRevision } from './store.ts';
export { checkPolicy, textsOf } from './tests.ts';
