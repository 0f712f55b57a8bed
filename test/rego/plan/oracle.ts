/** Comparing a policy's plan with its Wasm, which is the oracle: the same result in the same order, or the same kind of error. */
import { isDeepStrictEqual } from 'node:util';
import { Instance, loadProgram, PolicyError, type Program } from '../../../server/rego/evaluate.ts';
import type { BaseDocument } from '../../../server/rego/evaluator.ts';
import { evaluatePlan } from '../../../server/rego/plan/evaluate.ts';
import { PlanBailout } from '../../../server/rego/plan/machine.ts';
import { loadPlan, type PlanProgram } from '../../../server/rego/plan/program.ts';
import type { JsonObject } from '../../../server/rego/plan/values.ts';
import type { Compiled } from '../../../server/rego/schema.ts';
import { NOW } from '../policies.ts';

/** What an evaluation gave: a result, the kind of its error, or that the plan gave it up. */
export type Given = { result: unknown } | { error: string } | { inexact: string };

export class Pair {
  readonly program: Program;
  readonly plan: PlanProgram;
  readonly #data: BaseDocument;
  #instance: Instance;

  /** Throws UnsupportedPlan when the plan is not run. */
  constructor({ wasm, plan }: Pick<Compiled, 'wasm' | 'plan'>, data: BaseDocument = {}) {
    if (plan === undefined) throw new Error('the policy has no plan');
    this.plan = loadPlan(plan);
    this.program = loadProgram(wasm);
    this.#data = data;
    this.#instance = new Instance(this.program, data);
  }

  byPlan(input: unknown, fuel?: number): Given {
    try {
      const options = { now: NOW, data: this.#data as JsonObject, ...(fuel === undefined ? {} : { fuel }) };
      return { result: evaluatePlan(this.plan, input, options).resultSet[0]?.result };
    } catch (error) {
      if (error instanceof PlanBailout) return { inexact: error.message };
      if (error instanceof PolicyError && error.kind !== 'internal') return { error: error.kind };
      throw error;
    }
  }

  byWasm(input: unknown, fuel = 10_000_000): Given {
    if (this.#instance.broken) this.#instance = new Instance(this.program, this.#data);
    try {
      return { result: this.#instance.evaluate(input, { now: NOW, fuel }).result };
    } catch (error) {
      if (error instanceof PolicyError) return { error: error.kind };
      throw error;
    }
  }

  /** Evaluates both ways. Throws when they disagree; says whether the plan gave it up. */
  compare(input: unknown): 'same' | 'inexact' {
    const plan = this.byPlan(input);
    if ('inexact' in plan) return 'inexact';
    const wasm = this.byWasm(input);
    if (isDeepStrictEqual(plan, wasm)) return 'same';
    throw new Error(`plan ${show(plan)}, Wasm ${show(wasm)}, input ${show(input)}`);
  }
}

function show(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 600);
}
