/**
 * How much of the main thread's time each tenant took in pieces that hold up everybody: loading programs and slow
 * evaluations. A bucket for each tenant, which leaks; nothing else is remembered.
 */
import { limits } from '../core/limits.ts';

const LEAK = limits.stallPercent / 100;

export class Stalls {
  readonly #buckets = new Map<string, { ms: number; at: number }>();

  /** @param now milliseconds, monotonic */
  add(tenant: string, ms: number, now: number): void {
    const level = this.#level(tenant, now);
    this.#buckets.delete(tenant); // the newest last: the first key is the one to forget
    this.#buckets.set(tenant, { ms: level + ms, at: now });
    if (this.#buckets.size > limits.strikeKeysMax) this.#buckets.delete(this.#buckets.keys().next().value as string);
  }

  /** Whether the tenant used up its burst, and what has leaked since. */
  isOver(tenant: string, now: number): boolean {
    return this.#level(tenant, now) > limits.stallBurstMs;
  }

  #level(tenant: string, now: number): number {
    const bucket = this.#buckets.get(tenant);
    return bucket === undefined ? 0 : Math.max(0, bucket.ms - (now - bucket.at) * LEAK);
  }
}
