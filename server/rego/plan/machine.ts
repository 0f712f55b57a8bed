/**
 * What one evaluation of a plan spends and remembers: fuel for all that takes time, bytes for all that is built,
 * and the results of rules that were evaluated already.
 */
import { limits } from '../../core/limits.ts';
import { type Meter, PolicyError } from '../budget.ts';
import type { PlanValue } from './values.ts';

/**
 * What this evaluator does not do exactly as OPA's Wasm does (a fraction that no double writes back, a letter beyond
 * ASCII to be lowered): the evaluation is given up, and the Wasm does it from the start.
 */
export class PlanBailout extends Error {}

/** A rule's result that is not known yet; undefined is a result. */
export const UNKNOWN = Symbol('unknown');

export type Memo = (PlanValue | undefined | typeof UNKNOWN)[];

const MEMORY_BYTES_MAX = limits.evaluateMemoryPages * 65_536;

export class Machine implements Meter {
  /** Whole units left: a statement, an iteration, 50-100 ns of a builtin. */
  fuel: number;
  /** Nanoseconds since the Unix epoch. */
  readonly now: bigint;
  /** Results of rules by the function's number; `with` starts afresh. */
  memo: Memo;
  /** What the entrypoint gives: bindings, of which equal ones count once. */
  readonly results: PlanValue[] = [];
  /** Orders of iteration found so far, for objects of the input. */
  orders: Map<object, readonly string[]> | undefined = undefined;
  /** How many members objects of the input have. */
  sizes: Map<object, number> | undefined = undefined;
  #bytes = 0;
  #fraction = 0;

  constructor(fuel: number, now: bigint, memo: Memo) {
    this.fuel = fuel;
    this.now = now;
    this.memo = memo;
  }

  charge(units: number): void {
    this.#fraction += units;
    if (this.#fraction < 1) return;
    const whole = Math.floor(this.#fraction);
    this.#fraction -= whole;
    this.fuel -= whole;
    if (!(this.fuel >= 0)) exhausted(); // NaN too
  }

  /** Counts what is built; nothing is given back, as in OPA's Wasm. Throws PolicyError (memory) past the bound. */
  allocate(bytes: number): void {
    this.#bytes += bytes;
    if (!(this.#bytes <= MEMORY_BYTES_MAX)) throw new PolicyError('memory', 'the policy ran out of memory');
  }
}

/** Ends the evaluation for lack of fuel. */
export function exhausted(): never {
  throw new PolicyError('budget', 'the policy used up its evaluation budget');
}
