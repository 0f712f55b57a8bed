/**
 * The policies room: a tenant's policies in Rego or as a drawn graph, their history, their compiled form, and running
 * them. Owns accord.policy, accord.policy_revision and accord.policy_artifact.
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
export { type Answer, failed, judge } from './answer.ts';
export { Artifacts } from './artifacts.ts';
export { Engine, type EngineOptions, type Run } from './engine.ts';
export type { PolicyGraph } from './graph/index.ts';
export { policyProblem } from './problems.ts';
export { resourceKinds } from './resource-kind.ts';
export { policiesRoom } from './room.ts';
export { checkPolicyName, effectiveRego, instantOf } from './rules.ts';
export { type PolicyEntry, PolicyTestBody } from './schema.ts';
export { loadPolicySources } from './store.ts';
export { checkPolicy } from './tests.ts';
