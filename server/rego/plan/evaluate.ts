/** Evaluations of a plan: the same input, bounds, result and errors as of its Wasm, without text in between. */
import { limits } from '../../core/limits.ts';
import { PolicyError } from '../budget.ts';
import { planInputOf } from './input.ts';
import { Machine, PlanBailout } from './machine.ts';
import type { PlanProgram } from './program.ts';
import { resultOf } from './result.ts';
import type { JsonObject } from './values.ts';

type PlanOptions = {
  /** Nanoseconds since the Unix epoch. */
  now: bigint;
  fuel?: number;
  /** The base document. */
  data?: JsonObject;
};

type PlanEvaluation = { resultSet: Record<string, unknown>[]; fuelUsed: number };

const NO_DATA: JsonObject = {};

/**
 * Evaluates a plan against `input`, any JSON value or undefined for none. Synchronous; bounded by the fuel.
 * @throws PolicyError as the Wasm's evaluation does; PlanBailout when the Wasm has to do this one
 */
export function evaluatePlan(program: PlanProgram, input: unknown, options: PlanOptions): PlanEvaluation {
  const { now, fuel = limits.evaluateFuel, data = NO_DATA } = options;
  return runOn(new Machine(fuel, now, program.memo.slice()), program, input, data);
}

/** As evaluatePlan, on a machine that nothing ran on. */
export function runOn(machine: Machine, program: PlanProgram, input: unknown, data: JsonObject): PlanEvaluation {
  const fuel = machine.fuel;
  try {
    program.run(machine, planInputOf(input), data);
    const resultSet = resultOf(machine);
    return { resultSet, fuelUsed: Math.ceil(fuel - machine.fuel) };
  } catch (error) {
    if (error instanceof PolicyError || error instanceof PlanBailout) throw error;
    // The stack's end, or a text or array past what V8 allows: the Wasm has its own bounds.
    if (error instanceof RangeError) throw new PlanBailout(error.message, { cause: error });
    throw new PolicyError('internal', 'the plan failed', { cause: error });
  }
}
