/** What an evaluation gave, in words that callers know, and how failures are answered. */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../core/limits.ts';
import type { PolicyErrorKind } from '../rego/index.ts';
import type { Failure } from './answer.ts';
import { type Evaluated, type IsolatedReply, QueueFull } from './isolated-evaluator.ts';
import { policyProblem } from './problems.ts';

/** What is told beside the result was asked for: see Evaluated. */
export type Run = ({ ok: true } & Evaluated) | { ok: false; failure: Failure; detail: string };

export const failureOf: Record<PolicyErrorKind | 'lost' | 'absent', Failure> = {
  budget: 'policy_budget_exhausted',
  memory: 'policy_memory_exhausted',
  conflict: 'policy_conflict',
  input: 'input_too_large',
  internal: 'policy_failed',
  lost: 'policy_failed',
  absent: 'policy_failed',
};

export const GONE: Run = { ok: false, failure: 'policy_failed', detail: 'the artifact is gone' };

export const isLost = (reply?: IsolatedReply): reply is Extract<IsolatedReply, { kind: 'lost' }> =>
  reply?.ok === false && reply.kind === 'lost';

export function busy(error: unknown): never {
  if (!(error instanceof QueueFull)) throw error;
  throw policyProblem('evaluator_busy');
}

/** Whether a run in the worker spent what counts as exhausting the budget. */
export function isCostly(run: Run): boolean {
  return run.ok ? run.fuelUsed > limits.evaluateFuelCostly : run.failure !== 'policy_conflict';
}

/**
 * A quick denial would be answered by the next request: attackers in a closed loop would make it a flood. Not all come at
 * the same instant, which would make it one.
 */
export function tarpit(): Promise<void> {
  return sleep(limits.suspendedAnswerDelayMs * (0.5 + Math.random()), undefined, { ref: false });
}

export function nanoseconds(ms: number): bigint {
  return BigInt(ms) * 1_000_000n;
}
