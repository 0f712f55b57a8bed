/**
 * Whose work the main thread does next: start-time fair queueing between tenants. Each tenant has a virtual time, the
 * time that its work took on the main thread, and whoever has had least goes first. Work is done from the check phase of the
 * event loop for a bounded slice of each turn, so that what arrives is read in between.
 *
 * What a piece of work takes is measured from its beginning to the next immediate: Node runs the microtasks and ticks that
 * it leaves behind in between, and with them the rest of a request's handling.
 */
import type { Clock } from './clock.ts';
import { FairQueue } from './fair-queue.ts';
import { limits } from './limits.ts';

type Work = () => void;

/**
 * `finish`: the virtual time at which the tenant's last work ended, ms. `longestMs`: of its recent pieces of work.
 * `yieldsSince`: when its first piece that waits began to yield, if it did.
 */
type Share = { finish: number; longestMs: number; seenAt: number; yieldsSince: number | undefined };

/** The immediates of one check phase. `startedAt`: when its first one ran. */
type Phase = { left: number; startedAt: number | undefined };

export class FairScheduler {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** Tenants that were seen lately. */
  readonly #shares = new Map<string, Share>();
  readonly #waiting = new FairQueue<Share, Work>();
  /** The tenant that alone was seen lately: its requests need no order. */
  #only: string | undefined;
  /** The start of the last work, in virtual time: nobody saves up what it did not use. */
  #virtual = 0;
  #running: { share: Share; startedAt: number } | undefined;
  #phase: Phase | undefined;
  #timer: NodeJS.Timeout | undefined;
  #forgottenAt = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Whether more than one tenant was seen lately. */
  get isShared(): boolean {
    return this.#shares.size > 1;
  }

  /** Does `work` at once while no other tenant was seen lately, else when it is the tenant's turn. */
  enter(tenant: string, work: Work): void {
    if (tenant === this.#only) {
      work();
      return;
    }
    const share = this.#shareOf(tenant);
    if (this.#only === undefined) this.#add(share, work);
    else work();
  }

  /** Does `work` when it is the tenant's turn, also while it is alone; rejects with what it throws. */
  run<T>(tenant: string, work: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#add(this.#shareOf(tenant), () => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  /** Resolves when it is the tenant's turn; what follows at once is part of it. */
  turn(tenant: string): Promise<void> {
    return this.run(tenant, () => {});
  }

  /** For work of many steps: whether the next one waits for a turn, because those before it took a slice of the time. */
  pace(tenant: string): () => Promise<void> | undefined {
    let begun = this.#clock.monotonic();
    return () => {
      if (this.#clock.monotonic() - begun < limits.turnMs) return undefined;
      return this.run(tenant, () => {
        begun = this.#clock.monotonic();
      });
    };
  }

  /** Counts time of the main thread that a tenant's work took outside of its turns. */
  charge(tenant: string, ms: number): void {
    if (this.#only === undefined) this.#shareOf(tenant).finish += ms;
  }

  #shareOf(tenant: string): Share {
    const now = this.#clock.monotonic();
    let share = this.#shares.get(tenant);
    if (share === undefined) {
      // The one that was alone was not watched.
      for (const other of this.#shares.values()) if (this.#only !== undefined) other.seenAt = now;
      share = { finish: this.#virtual, longestMs: 0, seenAt: now, yieldsSince: undefined };
      this.#shares.set(tenant, share);
      this.#only = this.#shares.size === 1 ? tenant : undefined;
    }
    share.seenAt = now;
    return share;
  }

  #add(share: Share, work: Work): void {
    if (this.#waiting.length(share) === 0) share.finish = Math.max(share.finish, this.#virtual);
    this.#waiting.push(share, work);
    this.#schedule();
  }

  /** An immediate for each piece of work that the next phase may do, and one behind it, which ends the measurement. */
  #schedule(): void {
    this.#phase ??= this.#extended({ left: 0, startedAt: undefined });
    if (this.#phase.left <= limits.turnPiecesMax) this.#extended(this.#phase);
  }

  #extended(phase: Phase): Phase {
    phase.left++;
    setImmediate(() => this.#step(phase));
    return phase;
  }

  #step(phase: Phase): void {
    phase.left--;
    if (this.#phase === phase) this.#phase = undefined; // what is added from now on is for the next one
    const now = this.#clock.monotonic();
    this.#settle(now);
    phase.startedAt ??= now;
    const isOver = now - phase.startedAt >= limits.turnMs;
    if (phase.left > 0 && !isOver) this.#next(now);
    else if (phase.left === 0) this.#end(now);
  }

  #settle(now: number): void {
    if (this.#running === undefined) return;
    const { share, startedAt } = this.#running;
    this.#running = undefined;
    const ms = now - startedAt;
    share.finish += ms;
    share.seenAt = now;
    share.longestMs = Math.max(ms, share.longestMs * 0.9);
  }

  #next(now: number): void {
    let first: Share | undefined;
    for (const share of this.#waiting.keys())
      if ((first === undefined || share.finish < first.finish) && !this.#yields(share, now)) first = share;
    if (first === undefined) return;
    this.#virtual = Math.max(this.#virtual, first.finish);
    first.yieldsSince = undefined;
    this.#running = { share: first, startedAt: now };
    this.#waiting.shiftOf(first)();
  }

  /**
   * Whether somebody who has had less was served just now and may be about to ask again: long work that began in between
   * would make it wait for all of that work, each time. Short work makes nobody wait. Each piece yields for a bounded
   * time: among many tenants somebody who has had less was always served just now.
   */
  #yields(share: Share, now: number): boolean {
    if (share.longestMs <= limits.turnMs) return false;
    if (share.yieldsSince !== undefined && now - share.yieldsSince >= limits.turnAwaitedMs) return false;
    for (const other of this.#shares.values())
      if (now - other.seenAt < limits.turnAwaitedMs && other.finish + limits.turnMs < share.finish) {
        share.yieldsSince ??= now;
        return true;
      }
    return false;
  }

  #end(now: number): void {
    let pieces = 0;
    let yielding = 0;
    for (const share of this.#waiting.keys()) {
      if (this.#yields(share, now)) yielding++;
      else pieces += this.#waiting.length(share);
    }
    for (let piece = 0; piece < Math.min(pieces, limits.turnPiecesMax); piece++) this.#schedule();
    if (yielding > 0)
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        if (this.#waiting.count > 0) this.#schedule();
      }, limits.turnAwaitedMs);
    if (now - this.#forgottenAt >= limits.turnMemoryMs / 10) this.#forget(now);
  }

  #forget(now: number): void {
    this.#forgottenAt = now;
    for (const [tenant, share] of this.#shares)
      if (share.seenAt < now - limits.turnMemoryMs && this.#waiting.length(share) === 0) this.#shares.delete(tenant);
    if (this.#shares.size === 1) this.#only = this.#shares.keys().next().value;
  }
}
