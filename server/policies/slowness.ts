/**
 * How slow a program's evaluations are. By the clock alone it may have been the machine, which had other work or was
 * throttled: that only has the next evaluations measured by CPU time, which costs a microsecond each.
 */
import { limits } from '../core/limits.ts';

/** Evaluations that are measured after one that took long by the clock. */
const WATCHED = 100;

/**
 * A policy is slow when more than one in sixteen of its evaluations is: now and then one that is quick has to wait while V8
 * collects garbage, which is CPU time of its thread too.
 */
const SLOW = 2;
const FADES = 1 / 16;

export class Slowness {
  /** Whether the last evaluation took so long that the next waits for its turn. */
  lastWasLong = false;
  /** Until when (monotonic, ms) the worker has the evaluations while other tenants want the main thread. */
  isolatedUntil = 0;
  /** One for each slow evaluation, less those that were not. */
  #count = 0;
  #watched = 0;
  readonly #cpuMs: () => number;

  /** @param cpuMs CPU time of the thread, ms */
  constructor(cpuMs: () => number) {
    this.#cpuMs = cpuMs;
  }

  get isSlow(): boolean {
    return this.#count >= SLOW;
  }

  /** Before an evaluation; what `end` is given. */
  begin(): number | undefined {
    return this.#watched > 0 ? this.#cpuMs() : undefined;
  }

  /**
   * @param ms how long the evaluation took by the clock
   * @param now monotonic
   * @returns its CPU time, ms, when it was slow, else 0
   */
  end(ms: number, cpuBefore: number | undefined, now: number): number {
    this.lastWasLong = ms > limits.evaluatePromptMs;
    if (ms <= limits.evaluateSlowMs) {
      if (this.#watched > 0) this.#fade();
      return 0;
    }
    this.#watched = WATCHED;
    const spentMs = cpuBefore === undefined ? 0 : this.#cpuMs() - cpuBefore;
    if (spentMs > limits.evaluateSlowMs) this.#count = Math.min(this.#count + 1, SLOW);
    if (spentMs > limits.evaluateSlowMs && this.isSlow) this.isolate(now);
    return spentMs;
  }

  /** The worker found it slow just now. */
  isolate(now: number): void {
    this.isolatedUntil = now + limits.evaluateSlowForMs;
  }

  #fade(): void {
    this.#watched--;
    this.#count = Math.max(0, this.#count - FADES);
  }
}
