/**
 * Owns which requests that a rate limit refused are recorded: the first of each second and caller. A caller that writes
 * to the ledger with each request that is too much would make it longer than it may make anything else.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../core/clock.ts';
import { limits } from '../core/limits.ts';

export class Throttled {
  readonly #clock: Clock;
  readonly #recordedAt = new LRUCache<string, number>({ max: limits.rateLimitCallersMax });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param caller who it is, in one text */
  isRecorded(caller: string): boolean {
    const now = this.#clock.monotonic();
    const last = this.#recordedAt.get(caller);
    if (last !== undefined && now - last < limits.ledgerThrottledMs) return false;
    this.#recordedAt.set(caller, now);
    return true;
  }
}
