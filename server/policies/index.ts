/**
 * The policies room: a tenant's policies in Rego or as a drawn graph, their history, their compiled form, and running
 * them.
 */
export {
  deletePolicy,
  findPolicy,
  type PolicyBody,
  type PolicyServices,
  type PolicyTest,
  type PutPolicyOptions,
  putPolicy,
  restorePolicy,
  transferPolicy,
} from './actions.ts';
export { type Answer, type Failure, failed, failures, judge } from './answer.ts';
export { Artifacts, type Beside, besideOf, surround } from './artifacts.ts';
export { checkStated } from './data-subjects.ts';
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
export { policiesRoom } from './room.ts';
export { checkPolicyName, effectiveRego, instantOf } from './rules.ts';
export type { Run } from './runs.ts';
export { type PolicyEntry, PolicyTestBody } from './schema.ts';
export { readRevision } from './store.ts';
export { checkPolicy, textsOf } from './tests.ts';
