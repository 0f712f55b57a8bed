/**
 * Which way a policy is evaluated: on its plan, as JavaScript over the input as it is, or by its Wasm, into which the
 * input is copied as text (half of what an evaluation costs). The plan answers exactly as the Wasm does or gives the
 * evaluation up; then the Wasm answers.
 */
import { type EvaluateOptions, type Evaluation, Instance } from './evaluate.ts';
import { evaluatePlan } from './plan/evaluate.ts';
import { PlanBailout } from './plan/machine.ts';
import { loadPlan, type PlanProgram } from './plan/program.ts';
import { UnsupportedPlan } from './plan/source.ts';
import type { JsonObject } from './plan/values.ts';
import { loadProgram, type Program } from './program.ts';

/** What the compiler made of a policy; `plan` is text, absent for what was compiled before there were plans. */
export type Code = { readonly wasm: Uint8Array; readonly plan?: string };

/** What a policy finds below data beside its rules: JSON. */
export type BaseDocument = Readonly<Record<string, unknown>>;

/** Evaluations that the plan gave up, less those that it did not, after which it is not tried any more. */
const GIVEN_UP_MAX = 8;

export class Evaluator {
  readonly #wasm: Uint8Array;
  readonly #data: BaseDocument;
  #plan: PlanProgram | undefined;
  #givenUp = 0;
  #program: Program | undefined;
  /** Absent after a failed evaluation: the next one makes another. */
  #instance: Instance | undefined;

  /**
   * The Wasm is compiled at once only where there is no plan to run: that takes 2 ms, and megabytes.
   * @throws PolicyError when it cannot be loaded
   */
  constructor({ wasm, plan }: Code, data: BaseDocument = {}) {
    this.#wasm = wasm;
    this.#data = data;
    this.#plan = plan === undefined ? undefined : supportedPlan(plan);
    if (this.#plan === undefined) this.#instance = new Instance(this.program, this.#data);
  }

  /** The Wasm's module, for evaluating elsewhere. @throws PolicyError when it cannot be loaded */
  get program(): Program {
    this.#program ??= loadProgram(this.#wasm);
    return this.#program;
  }

  /** Whether evaluations run on the plan. */
  get runsPlan(): boolean {
    return this.#plan !== undefined;
  }

  /**
   * As Instance.evaluate, but for failed evaluations, which break nothing that the next one needs.
   * @throws PolicyError, see PolicyErrorKind
   */
  evaluate(input: unknown, options: EvaluateOptions): Evaluation {
    if (this.#plan === undefined) return this.#byWasm(input, options);
    try {
      const { resultSet, fuelUsed } = evaluatePlan(this.#plan, input, { ...options, data: this.#data as JsonObject });
      if (this.#givenUp > 0) this.#givenUp--;
      return { result: resultSet[0]?.result, fuelUsed };
    } catch (error) {
      if (!(error instanceof PlanBailout)) throw error;
      if (++this.#givenUp >= GIVEN_UP_MAX) this.#plan = undefined;
      return this.#byWasm(input, options);
    }
  }

  #byWasm(input: unknown, options: EvaluateOptions): Evaluation {
    this.#instance ??= new Instance(this.program, this.#data);
    try {
      return this.#instance.evaluate(input, options);
    } finally {
      if (this.#instance.broken) this.#instance = undefined;
    }
  }
}

function supportedPlan(plan: string): PlanProgram | undefined {
  try {
    return loadPlan(plan);
  } catch (error) {
    if (error instanceof UnsupportedPlan) return undefined;
    throw error;
  }
}
