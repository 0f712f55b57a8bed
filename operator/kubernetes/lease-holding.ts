/**
 * The Lease while it is held: renewed every two seconds, and lost for good when it was not renewed for ten, counted from
 * when the last successful renewal was sent. Others wait for fifteen from when they saw it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../server/core/clock.ts';
import { limits } from '../../server/core/limits.ts';
import type { Observe } from '../../server/core/observe.ts';
import { isConflict, isGone, type Lease, type LeasePlace, microTime, readLease, writeLease } from './lease-object.ts';

type HoldingOptions = {
  place: LeasePlace;
  identity: string;
  clock: Clock;
  observe: Observe;
  lease: Lease;
  /** When taking it was sent, by the monotonic clock. */
  takenAt: number;
  /** Somebody else holds it, or may. */
  lost: (why: string) => void;
};

/** A request that is part of leading may take this long. */
export const LEASE_REQUEST_MS = 5000;

export class Holding {
  readonly #options: HoldingOptions;
  readonly #resigning = new AbortController();
  readonly #renewing: Promise<void>;
  readonly epoch: number;
  #lease: Lease;
  #renewedAt: number;
  #isLost = false;
  /** Why the last renewal failed. */
  trouble: string | undefined;

  constructor(options: HoldingOptions) {
    this.#options = options;
    this.#lease = options.lease;
    this.epoch = options.lease.spec.leaseTransitions as number;
    this.#renewedAt = options.takenAt;
    this.#renewing = this.#renew();
  }

  /** Whether it may be acted on now. What was frozen learns here that it is late, before any timer tells. */
  isValid(): boolean {
    if (!this.#isLost && this.#leftMs() <= 0) {
      this.#lose(`the Lease was not renewed for ${limits.leaseRenewDeadlineMs / 1000} s`);
    }
    return !this.#isLost;
  }

  /** Lets the next one take over at once; where that cannot be said, it waits for the duration. */
  async resign(): Promise<void> {
    this.#resigning.abort();
    await this.#renewing;
    if (this.#isLost) return;
    const { place, clock, observe } = this.#options;
    const now = microTime(clock.now());
    const spec = { ...this.#lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: now };
    try {
      await writeLease(place, this.#lease, spec, { timeoutMs: limits.leaseRetryMs });
    } catch (error) {
      observe({ kind: 'background_failed', task: 'releasing the Lease', error });
    }
  }

  async #renew(): Promise<void> {
    const { signal } = this.#resigning;
    while (!this.#isLost) {
      await sleep(Math.max(0, Math.min(limits.leaseRetryMs, this.#leftMs())), undefined, { signal }).catch(() => {});
      if (signal.aborted || !this.isValid()) return;
      try {
        await this.#renewOnce();
      } catch (error) {
        this.trouble = (error as Error).message;
        this.#options.observe({ kind: 'background_failed', task: 'renewing the Lease', error });
      }
    }
  }

  async #renewOnce(): Promise<void> {
    const { place, clock, identity } = this.#options;
    const timeoutMs = Math.min(LEASE_REQUEST_MS, this.#leftMs());
    const sentAt = clock.monotonic();
    try {
      const spec = { ...this.#lease.spec, renewTime: microTime(clock.now()) };
      this.#lease = await writeLease(place, this.#lease, spec, { timeoutMs });
      this.#renewedAt = sentAt;
      this.trouble = undefined;
    } catch (error) {
      if (isGone(error)) return this.#lose('the Lease was deleted');
      if (!isConflict(error)) throw error;
      // A label perhaps, or a renewal of ours whose answer was lost; or another operator took it.
      const found = await readLease(place, { timeoutMs });
      const { holderIdentity, leaseTransitions } = found?.spec ?? {};
      if (found === undefined) return this.#lose('the Lease was deleted');
      if (holderIdentity !== identity || leaseTransitions !== this.epoch) {
        return this.#lose(`${holderIdentity || 'another operator'} took the Lease`);
      }
      this.#lease = found;
    }
  }

  #lose(why: string): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#options.lost(why);
  }

  #leftMs(): number {
    return this.#renewedAt + limits.leaseRenewDeadlineMs - this.#options.clock.monotonic();
  }
}
