/**
 * The policies room: a tenant's policies in Rego or as a drawn graph, their history, their compiled form, and running
 * them.
 */
export {
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
export { Artifacts } from './artifacts.ts';
export { checkStated } from './data-subjects.ts';
export { Engine, type EngineOptions, type Run } from './engine.ts';
export type { PolicyGraph } from './graph/index.ts';
export { policyProblem } from './problems.ts';
export { policiesRoom } from './room.ts';
export { checkPolicyName, effectiveRego, instantOf } from './rules.ts';
export { type PolicyEntry, PolicyTestBody } from './schema.ts';
export { readRevision } from './store.ts';
export { checkPolicy } from './tests.ts';
