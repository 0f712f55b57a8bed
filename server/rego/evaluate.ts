/**
 * Evaluations: one call of a compiled policy's entrypoint with an input, within a budget of fuel and memory.
 * A trap or an abort unwinds past the policy's own shadow stack (64 KiB) without restoring it, so an instance that
 * threw is broken for good: its owner drops it and makes another (1-2 ms).
 */
import { limits } from '../core/limits.ts';
import { PolicyError } from './budget.ts';
import { Host } from './host.ts';
import { encodeInput } from './input.ts';
import type { Program } from './program.ts';
import { RESULT_TEXT_BYTES_MAX, readResult } from './result.ts';

export { PolicyError, type PolicyErrorKind } from './budget.ts';
export { loadProgram, type Program } from './program.ts';

/** `now` is nanoseconds since the Unix epoch, for time.now_ns; `fuel` is loop iterations and calls. */
export type EvaluateOptions = { now: bigint; fuel?: number };

/** `result` is undefined when the entrypoint is; `fuelUsed` is in the units of EvaluateOptions. */
export type Evaluation = { result: unknown; fuelUsed: number };

/** Of a byte of the base document; reading one takes 2 to 4. */
const LOADING_FUEL = 16;

export class Instance {
  readonly #host: Host;
  readonly #data: number;
  /** Where each evaluation's input starts, followed by its heap; all of it is reused by the next evaluation. */
  readonly #base: number;
  #broken = false;

  /**
   * `data` is the base document that the policy sees beside its rules; it is copied once.
   * Throws PolicyError (internal) when the policy cannot be instantiated.
   */
  constructor(program: Program, data: Readonly<Record<string, unknown>> = {}) {
    try {
      this.#host = new Host(program);
      const { exports } = this.#host;
      const text = JSON.stringify(data);
      const bytes = Buffer.byteLength(text);
      // Reading it is not an evaluation's work: its size is bounded.
      this.#host.fuel.fill(limits.evaluateFuel + bytes * LOADING_FUEL);
      const address = exports.opa_malloc(bytes);
      this.#host.writeText(text, address, bytes);
      this.#data = exports.opa_json_parse(address, bytes);
      this.#base = align(exports.opa_heap_ptr_get());
    } catch (cause) {
      if (cause instanceof PolicyError) throw cause;
      throw new PolicyError('internal', 'the compiled policy cannot be instantiated', { cause });
    }
  }

  /** True after a failed evaluation: the instance refuses all others. An input refused beforehand does not break it. */
  get broken(): boolean {
    return this.#broken;
  }

  /** The size of its memory, which never shrinks; limits.evaluateMemoryPages bounds it. */
  get memoryBytes(): number {
    return this.#host.buffer.length;
  }

  /**
   * Evaluates entrypoint 0 against `input`, any JSON value or undefined for none. Synchronous; bounded by the fuel.
   * @throws PolicyError, see PolicyErrorKind
   */
  evaluate(input: unknown, options: EvaluateOptions): Evaluation {
    const { resultSet, fuelUsed } = this.query(input, options);
    return { result: resultSet[0]?.result, fuelUsed };
  }

  /** As evaluate, but gives all bindings of the entrypoint's query: an entrypoint that is a rule binds only `result`. */
  query(input: unknown, options: EvaluateOptions): { resultSet: Record<string, unknown>[]; fuelUsed: number } {
    if (this.#broken) throw new PolicyError('internal', 'this instance failed before and must not be used again');
    const text = input === undefined ? '' : encodeInput(input);
    const fuel = options.fuel ?? limits.evaluateFuel;
    const host = this.#host;
    try {
      host.now = options.now;
      host.fuel.fill(fuel);
      const length = this.#writeInput(text);
      const heap = align(this.#base + length);
      const address = host.exports.opa_eval(0, 0, this.#data, this.#base, length, heap, 1);
      const resultSet = readResult(host.fuel, host.readText(address, RESULT_TEXT_BYTES_MAX));
      host.fuel.chargeGathered();
      return { resultSet, fuelUsed: fuel - host.fuel.left };
    } catch (error) {
      this.#broken = true;
      throw this.#policyErrorOf(error);
    }
  }

  #writeInput(text: string): number {
    this.#reserve(text.length);
    const written = this.#host.writeText(text, this.#base, text.length);
    if (written >= 0) return written;
    const bytes = Buffer.byteLength(text); // not ASCII
    this.#reserve(bytes);
    return this.#host.writeText(text, this.#base, bytes);
  }

  /** Makes sure that the memory reaches `bytes` past the base, by the policy's own allocator, which tracks its top. */
  #reserve(bytes: number): void {
    if (this.#base + bytes < this.#host.buffer.length) return;
    this.#host.exports.opa_heap_ptr_set(this.#base);
    this.#host.exports.opa_malloc(bytes);
  }

  #policyErrorOf(error: unknown): PolicyError {
    if (error instanceof PolicyError) return error;
    if (error instanceof WebAssembly.RuntimeError && this.#host.fuel.left < 0)
      return new PolicyError('budget', 'the policy used up its evaluation budget');
    return new PolicyError('internal', `the evaluation failed: ${String(error)}`, { cause: error });
  }
}

function align(address: number): number {
  return (address + 7) & ~7;
}
