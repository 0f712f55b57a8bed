/**
 * The reading of a policy's result, pure: an authorization answer, and what becomes a deny because it cannot be
 * trusted. Nothing is an allow by accident: only the string `allow`, or the object that the policy itself made.
 */
import { isObject } from '../../crds/values.ts';
import { limits } from '../core/limits.ts';

/** The specification's authorization response. */
export type Answer = { outcome: string | Record<string, unknown>; reason?: string; obligations?: string[] };

/** Why a decision is a deny although no rule of the policy said so: the `reason` of the answer, stable. */
export const failures = {
  no_action: 'The request names no action, so no policy can decide it.',
  policy_not_found: 'No policy has the name given in action.',
  outcome_undefined: 'The policy does not define an outcome for this request.',
  outcome_malformed: 'The outcome of the policy is not allow, deny or an object.',
  reason_malformed: 'The reason of the policy is not a string.',
  obligations_malformed: 'The obligations of the policy are not strings.',
  answer_too_large: 'The answer of the policy is larger than the limit.',
  policy_conflict: 'Rules of the policy produce conflicting values.',
  policy_budget_exhausted: 'The policy exceeded its computation budget.',
  policy_memory_exhausted: 'The policy exceeded its memory limit.',
  policy_suspended: 'The policy repeatedly exceeds its budget, and too many of its evaluations are waiting.',
  policy_failed: 'The policy failed while it was evaluated.',
  input_too_large: 'The request is too large or too deeply nested to evaluate.',
  batch_answers_too_large: 'The earlier answers used up the size limit of the batch.',
  no_data_subject: 'The data is about nobody: no actor has the relationship to the resource.',
  data_subject_absent: 'The request does not name the person whom the data is about.',
  data_subject_malformed: 'The person whom the data is about is not an id or an object with type and id.',
  data_subject_forbidden: 'Only a back end may name the person whom the data is about.',
  data_subjects_too_many: 'The data is about too many persons to evaluate.',
  graph_too_large: 'The subject or the resource has too many relationships to evaluate.',
} as const;
export type Failure = keyof typeof failures;

const undecided: ReadonlySet<string> = new Set<Failure>([
  ...(['answer_too_large', 'input_too_large', 'graph_too_large', 'data_subjects_too_many'] as const),
  ...(['policy_budget_exhausted', 'policy_memory_exhausted', 'policy_suspended', 'policy_failed'] as const),
]);

/** Whether a decision is a deny because a bound was reached, or the evaluation failed: otherwise it might be another. */
export function isUndecided(reason: string): reason is Failure {
  return undecided.has(reason);
}

export function failed(failure: Failure): Answer {
  return { outcome: 'deny', reason: failure };
}

/**
 * The answer that a policy's result means.
 * @param result the value of the entry point: an object with those of outcome, reason and obligations that are defined
 * @returns the answer, and the failure when the result is not usable (then the answer is a deny that says so)
 */
export function parseResult(result: unknown): { answer: Answer; failure?: Failure } {
  const { outcome, reason, obligations } = (isObject(result) ? result : {}) as Record<string, unknown>;
  if (outcome === undefined) return refuse('outcome_undefined');
  if (outcome !== 'allow' && outcome !== 'deny' && !isObject(outcome)) return refuse('outcome_malformed');
  if (reason !== undefined && typeof reason !== 'string') return refuse('reason_malformed');
  if (obligations !== undefined && !isStrings(obligations)) return refuse('obligations_malformed');
  if (reason !== undefined && reason.length > limits.reasonCharsMax) return refuse('answer_too_large');
  if (obligations !== undefined && obligations.length > limits.obligationsMax) return refuse('answer_too_large');
  const answer: Answer = { outcome };
  if (reason !== undefined) answer.reason = reason;
  if (obligations !== undefined) answer.obligations = obligations;
  return { answer };
}

function refuse(failure: Failure): { answer: Answer; failure: Failure } {
  return { answer: failed(failure), failure };
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
