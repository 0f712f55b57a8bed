/**
 * Owns what one evaluation may spend: the fuel that instrument.ts counts in the policy's own code, and that host
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

const INT32_MAX = 0x7fffffff;

/** The counter inside an instrumented instance: units are function entries and loop iterations. */
export class Fuel {
  readonly #counter: WebAssembly.Global<'i32'>;

  constructor(counter: WebAssembly.Global<'i32'>) {
    this.#counter = counter;
  }

  /** Units left; negative when it ran out. */
  get left(): number {
    return this.#counter.value;
  }

  fill(units: number): void {
    this.#counter.value = Math.min(units, INT32_MAX);
  }

  /** Takes `units` away. Throws PolicyError (budget) when there are not as many left. */
  charge(units: number): void {
    const left = this.#counter.value - Math.ceil(units);
    this.#counter.value = Math.max(left, -1);
    if (!(left >= 0)) throw new PolicyError('budget', 'the policy used up its evaluation budget in a builtin');
  }
}
