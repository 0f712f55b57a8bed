/**
 * When somebody else's Lease may be taken: when it has been seen unchanged for its duration, by our own monotonic
 * clock. The times in it are of another machine's clock and decide nothing.
 */
import type { Clock } from '../../server/core/clock.ts';
import { limits } from '../../server/core/limits.ts';
import type { Lease } from './lease-object.ts';

export class SeenLease {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #spec = '';
  #since = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Notes the Lease as it is now. @returns milliseconds until it may be taken; 0 or less: now */
  freeInMs(lease: Lease | undefined): number {
    const spec = JSON.stringify(lease?.spec);
    if (spec !== this.#spec) {
      this.#spec = spec;
      this.#since = this.#clock.monotonic();
    }
    if (!lease?.spec.holderIdentity) return 0;
    return this.#since + durationMsOf(lease) - this.#clock.monotonic();
  }
}

/** How long the holder asks others to wait after its last renewal. */
export function durationMsOf(lease: Lease): number {
  return (lease.spec.leaseDurationSeconds ?? limits.leaseDurationMs / 1000) * 1000;
}
