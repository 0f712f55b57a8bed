/** Running a case on its plan beside its Wasm, which is the oracle: the same bindings in the same order, or the same kind of error. */
import { isDeepStrictEqual } from 'node:util';
import { PolicyError } from '../../server/rego/evaluate.ts';
import { evaluatePlan } from '../../server/rego/plan/evaluate.ts';
import { PlanBailout } from '../../server/rego/plan/machine.ts';
import { loadPlan } from '../../server/rego/plan/program.ts';
import { UnsupportedPlan } from '../../server/rego/plan/source.ts';
import type { JsonObject } from '../../server/rego/plan/values.ts';
import type { Case } from './case-stream.ts';

/** What an evaluation gave: its bindings, or the kind of its error. */
export type Given = { resultSet: unknown[] } | { error: string };

/** `declined`: the Wasm runs the policy; `inexact`: it does this evaluation. */
export type PlanOutcome = 'agrees' | 'declined' | 'inexact' | 'disagrees';
export type PlanVerdict = { outcome: PlanOutcome; detail: string };

export function judgePlan(test: Case, wasm: Given, now: bigint): PlanVerdict {
  if (test.plan === undefined) return { outcome: 'declined', detail: 'no plan' };
  try {
    const program = loadPlan(test.plan);
    const { resultSet } = evaluatePlan(program, test.input, { now, data: (test.data ?? {}) as JsonObject });
    return compared({ resultSet }, wasm);
  } catch (error) {
    if (error instanceof UnsupportedPlan) return { outcome: 'declined', detail: error.message };
    if (error instanceof PlanBailout) return { outcome: 'inexact', detail: error.message };
    if (!(error instanceof PolicyError)) return { outcome: 'disagrees', detail: `threw ${String(error)}` };
    return compared({ error: error.kind }, wasm, error);
  }
}

function compared(plan: Given, wasm: Given, cause?: PolicyError): PlanVerdict {
  if (isDeepStrictEqual(plan, wasm)) return { outcome: 'agrees', detail: '' };
  const show = (given: Given) => JSON.stringify(given).slice(0, 160);
  const why = cause?.cause instanceof Error ? `: ${cause.cause.stack}` : '';
  return { outcome: 'disagrees', detail: `plan ${show(plan)}${why}, Wasm ${show(wasm)}` };
}
