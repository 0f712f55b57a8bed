/**
 * The authorization room: one question, one answer. `decide` is pure; actions.ts gathers what it needs and records what
 * it said.
 */

export { accessChecker, accessGuard, type CheckAccess, type RequireAccess } from './access-check.ts';
export { type AuthzServices, authorize, type DecisionContext, evaluationOf } from './actions.ts';
export { authorizeAll, type Checked, checkAll } from './batch.ts';
export { BatchLimiter } from './batch-limiter.ts';
export { type DecisionTexts, withoutErasedPersons } from './being-erased.ts';
export { erasingDecisions } from './erasing.ts';
export { decisionMade } from './events.ts';
export { Explainer } from './explain.ts';
export { DecisionLog } from './log.ts';
export { authzRoom } from './room.ts';
export { AuthorizationRequest } from './schema.ts';
export { seedDecisions } from './seeding.ts';
