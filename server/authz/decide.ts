/** The decision, pure but for running the policy: snapshot, facts and question in, answer out. */
import { type Denial, type Facts, type Question as FactsQuestion, inputFor, type Needs } from '../facts/index.ts';
import { type Answer, type Engine, failed, judge, type PolicyEntry, type Run } from '../policies/index.ts';
import type { AuthorizationRequest } from './schema.ts';

export type Question = FactsQuestion & { readonly request: AuthorizationRequest };
/** A question, the policy that decides it, and what that needs; without a policy it is denied. */
export type Decidable = {
  readonly question: Question;
  readonly policy: PolicyEntry | undefined;
  readonly needs: Needs | undefined;
};
export type Decision = {
  answer: Answer;
  /** Set when no rule of the policy said this: the reason of the answer, and for the log what happened. */
  failure?: { reason: string; detail: string };
};

/** Decides one question by its policy, with the facts that it needs. */
export function decide(
  engine: Pick<Engine, 'run'>,
  { question, policy, needs }: Decidable,
  facts: Facts,
): Decision | Promise<Decision> {
  if (policy === undefined || needs === undefined) return missing(question.request.action);
  if (facts.denial !== undefined) return denied(facts.denial);
  const run = engine.run(question.tenant, policy, inputFor(needs, question, facts), question.now);
  return run instanceof Promise ? run.then(decisionOf) : decisionOf(run);
}

/** A policy that does not exist denies; the log need not hear of it. */
function missing(action: string | undefined): Decision {
  return { answer: failed(action === undefined ? 'no_action' : 'policy_not_found') };
}

/** The decision about a question that is not put to its policy, because of its facts. */
export function denied(failure: Denial): Decision {
  return { answer: failed(failure.reason), failure };
}

/** What a run means. */
export function decisionOf(run: Run): Decision {
  if (!run.ok) return { answer: failed(run.failure), failure: { reason: run.failure, detail: run.detail } };
  const { answer, failure } = judge(run.result);
  return failure === undefined ? { answer } : { answer, failure: { reason: failure, detail: 'the result is invalid' } };
}

export function outcomeKind(outcome: unknown): 'allow' | 'deny' | 'object' {
  return outcome === 'allow' || outcome === 'deny' ? outcome : 'object';
}
