/**
 * What one evaluation may spend: the fuel that instrument.ts counts in the policy's own code, and that host
 * builtins are charged to as well, and the one error that an evaluation ends with when it ends badly.
 */

/**
 * Why an evaluation gave no result: `budget` fuel ran out; `memory` the heap, the result or a builtin's result outgrew
 * its bound; `conflict` two rules gave different values; `input` the input was refused; `internal` anything else.
 */
export type PolicyErrorKind = 'budget' | 'memory' | 'conflict' | 'input' | 'internal';

/** The only error that leaves this room. Its message is for operators. */
export class PolicyError extends Error {
  readonly kind: PolicyErrorKind;

  constructor(kind: PolicyErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PolicyError';
    this.kind = kind;
  }
}

/** What native work is charged to: about one unit for each 50-100 ns. */
export type Meter = {
  /** Takes units of fuel. Throws PolicyError (budget) when they are not there. */
  charge(units: number): void;
};

const INT32_MAX = 0x7fffffff;

/** Writing the counter takes 50 ns, more than most of what is charged: it is written once so many units have gathered. */
const GATHERED_MAX = 500;

/** The counter inside an instrumented instance: units are function entries and loop iterations. */
export class Fuel implements Meter {
  readonly #counter: WebAssembly.Global<'i32'>;
  #gathered = 0;

  constructor(counter: WebAssembly.Global<'i32'>) {
    this.#counter = counter;
  }

  /** Units left; negative when it ran out. */
  get left(): number {
    return this.#counter.value;
  }

  fill(units: number): void {
    this.#gathered = 0;
    this.#counter.value = Math.min(units, INT32_MAX);
  }

  /** Takes `units` away, at the latest when settled. Throws PolicyError (budget) when there are not as many left. */
  charge(units: number): void {
    this.#gathered += units;
    if (!(this.#gathered < GATHERED_MAX)) this.chargeGathered(); // NaN too
  }

  /** Writes what was charged to the counter, for the policy's own code. Throws as charge does. */
  chargeGathered(): void {
    const left = this.#counter.value - Math.ceil(this.#gathered);
    this.#gathered = 0;
    this.#counter.value = Math.max(left, -1);
    if (!(left >= 0)) throw new PolicyError('budget', 'the policy used up its evaluation budget in a builtin');
  }
}
