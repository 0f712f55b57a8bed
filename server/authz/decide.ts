/** The decision, pure but for running the policy: snapshot, facts and evaluation in, answer out. */
import { type Denial, type Facts, type FactsQuery, inputFor, type Needs } from '../facts/index.ts';
import { type Answer, type Engine, failed, type PolicyEntry, parseResult, type Run } from '../policies/index.ts';
import type { AuthorizationRequest } from './schema.ts';

export type Evaluation = FactsQuery & { readonly request: AuthorizationRequest };
/** An evaluation, the policy that decides it, and what that needs; without a policy it is denied. */
export type Decidable = {
  readonly evaluation: Evaluation;
  readonly policy: PolicyEntry | undefined;
  readonly needs: Needs | undefined;
};
export type Decision = {
  answer: Answer;
  /** Set when no rule of the policy said this: the reason of the answer, and for the log what happened. */
  failure?: { reason: string; detail: string };
};

/** Decides one evaluation by its policy, with the facts that it needs. */
export function decide(
  engine: Pick<Engine, 'run'>,
  { evaluation, policy, needs }: Decidable,
  facts: Facts,
): Decision | Promise<Decision> {
  if (policy === undefined || needs === undefined) return missing(evaluation.request.action);
  if (facts.denial !== undefined) return denied(facts.denial);
  const run = engine.run(evaluation.tenant, policy, inputFor(needs, evaluation, facts), evaluation.now);
  return run instanceof Promise ? run.then(decisionOf) : decisionOf(run);
}

/** A policy that does not exist denies; the log need not hear of it. */
function missing(action: string | undefined): Decision {
  return { answer: failed(action === undefined ? 'no_action' : 'policy_not_found') };
}

/** The decision of an evaluation whose policy is not run, because of its facts. */
export function denied(failure: Denial): Decision {
  return { answer: failed(failure.reason), failure };
}

/** What a run means. */
export function decisionOf(run: Run): Decision {
  if (!run.ok) return { answer: failed(run.failure), failure: { reason: run.failure, detail: run.detail } };
  const { answer, failure } = parseResult(run.result);
  return failure === undefined ? { answer } : { answer, failure: { reason: failure, detail: 'the result is invalid' } };
}

export function outcomeKind(outcome: unknown): 'allow' | 'deny' | 'object' {
  return outcome === 'allow' || outcome === 'deny' ? outcome : 'object';
}
