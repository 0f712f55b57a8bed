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
  putPolicy,
  transferPolicy,
} from './actions.ts';
export { type Answer, type Failure, failed, failures, isUndecided, parseResult } from './answer.ts';
export { Artifacts, type Dependencies, resolveDependencies } from './artifacts.ts';
export { checkStated } from './data-subjects.ts';
export type { Documents, DocumentText } from './documents.ts';
export { Engine } from './engine.ts';
export { linesOfNodes, type PolicyGraph } from './graph/index.ts';
export { putPart } from './part-actions.ts';
export type { PartName, PartSet } from './parts.ts';
export { policyProblem } from './problems.ts';
export { policiesRoom } from './room.ts';
export { checkPolicyName, effectiveRego, instantOf } from './rules.ts';
export type { Run } from './runs.ts';
export { NodeLines, type PolicyEntry, PolicyTestBody } from './schema.ts';
export { countPolicies, readRevision } from './store.ts';
export { checkPolicy, textsOf } from './tests.ts';
