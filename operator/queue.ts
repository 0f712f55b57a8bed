/**
 * The order of work: keys, coalesced, one in flight each, retried with growing delays, shared out between tenants. Three
 * priorities: what somebody just changed goes before saying that it is served, and that before what is only looked at again;
 * but what waits too long goes between.
 */

import { delayMsAfter, jittered } from '../server/core/backoff.ts';
import type { Clock } from '../server/core/clock.ts';
import type { Waiting } from './waiting.ts';

type Priority = 'high' | 'normal' | 'low';

/** The clock and the timers, so that a test decides what time it is. */
export type Timers = {
  /** Milliseconds that never go back. */
  monotonic(): number;
  /** Calls back once; the returned function cancels. */
  after(ms: number, call: () => void): () => void;
};

export type QueueOptions = {
  /** Rejecting means: try again later, later each time. */
  work: (key: string) => Promise<void>;
  failed: (key: string, error: unknown, retryInMs: number) => void;
  /** Whose turn a key is taken in. */
  groupOf: (key: string) => string;
  timers: Timers;
  /** 0 to 1, for the jitter of retries. */
  random: () => number;
  concurrency: number;
  backoff: { minMs: number; maxMs: number };
  /** A key of another priority that has waited this long may go before high ones, every fourth time each. */
  agedAfterMs: number;
};

const ranks: readonly Priority[] = ['high', 'normal', 'low'];
/** Whose turn it may be at each fourth take. */
const agedTurns: readonly (Priority | undefined)[] = ['normal', undefined, 'low', undefined];

export class Queue {
  readonly #options: QueueOptions;
  readonly #rings = { high: new Ring(), normal: new Ring(), low: new Ring() };
  /** Keys by arrival, for ageing. */
  readonly #since = {
    high: new Map<string, number>(),
    normal: new Map<string, number>(),
    low: new Map<string, number>(),
  };
  /** Keys in flight, and how they were added again meanwhile. */
  readonly #running = new Map<string, Priority | undefined>();
  /** When each key in flight was begun, monotonic ms. */
  readonly #begun = new Map<string, number>();
  readonly #failures = new Map<string, number>();
  readonly #retries = new Map<string, { cancel: () => void; since: number; for: string }>();
  #taken = 0;
  #paused = false;
  #closed = false;
  #idle: (() => void)[] = [];

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Nothing is in flight or waits for its turn (something may wait for a retry). */
  get idle(): boolean {
    return this.depth === 0;
  }

  /** How many keys are in flight or wait for their turn. */
  get depth(): number {
    const waiting = ranks.reduce((sum, rank) => sum + this.#rings[rank].size, 0);
    return waiting + this.#running.size;
  }

  /** Whether a key waits for its turn, or for another one after the one that it has. */
  has(key: string): boolean {
    return this.#running.get(key) !== undefined || ranks.some((rank) => this.#rings[rank].has(key));
  }

  /** Whether a key is in flight. */
  isRunning(key: string): boolean {
    return this.#running.has(key);
  }

  /** Whether a key is in flight, waits for its turn or for another try. */
  isPending(key: string): boolean {
    return this.isRunning(key) || this.#retries.has(key) || this.has(key);
  }

  /** What is in flight, and what is tried again later. */
  *list(clock: Clock): Iterable<Waiting> {
    const now = this.#options.timers.monotonic();
    const at = (since: number) => new Date(clock.now() - (now - since)).toISOString();
    for (const [key, since] of this.#begun) yield { key, since: at(since), for: 'its reconcile to finish' };
    for (const [key, retry] of this.#retries) yield { key, since: at(retry.since), for: retry.for };
  }

  add(key: string, priority: Priority = 'high'): void {
    if (this.#closed) return;
    if (this.#running.has(key)) {
      const known = this.#running.get(key);
      this.#running.set(key, known && ranks.indexOf(known) < ranks.indexOf(priority) ? known : priority);
      return;
    }
    this.#cancelRetry(key);
    this.#enqueue(key, priority);
    this.#next();
  }

  /** Adds it after a while, if it is not added before. */
  addLater(key: string, ms: number): void {
    if (this.#closed || this.#retries.has(key)) return;
    const cancel = this.#options.timers.after(ms, () => {
      this.#retries.delete(key);
      this.add(key, 'low');
    });
    this.#retries.set(key, { cancel, since: this.#options.timers.monotonic(), for: `a retry after ${ms} ms` });
  }

  /** Nothing is begun until `resume`; what is in flight ends. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#next();
  }

  /** Begins nothing more, and resolves when what is in flight has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { cancel } of this.#retries.values()) cancel();
    this.#retries.clear();
    await this.quiet();
  }

  /** Resolves when nothing is in flight. */
  async quiet(): Promise<void> {
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #enqueue(key: string, priority: Priority): void {
    const waiting = ranks.find((rank) => this.#rings[rank].has(key));
    if (waiting !== undefined) {
      if (ranks.indexOf(waiting) <= ranks.indexOf(priority)) return;
      this.#drop(key, waiting);
    }
    this.#rings[priority].add(key, this.#options.groupOf(key));
    if (priority !== 'high') this.#since[priority].set(key, this.#options.timers.monotonic());
  }

  #drop(key: string, priority: Priority): void {
    this.#rings[priority].remove(key);
    this.#since[priority].delete(key);
  }

  #next(): void {
    while (!this.#paused && !this.#closed && this.#running.size < this.#options.concurrency) {
      const key = this.#take();
      if (key === undefined) return;
      this.#running.set(key, undefined);
      this.#begun.set(key, this.#options.timers.monotonic());
      void this.#run(key);
    }
  }

  #take(): string | undefined {
    const aged = this.#takeAged(agedTurns[this.#taken++ % agedTurns.length]);
    if (aged !== undefined) return aged;
    for (const rank of ranks) {
      const key = this.#rings[rank].take();
      if (key === undefined) continue;
      this.#since[rank].delete(key);
      return key;
    }
    return undefined;
  }

  #takeAged(rank: Priority | undefined): string | undefined {
    if (rank === undefined) return undefined;
    const [oldest] = this.#since[rank];
    if (oldest === undefined || this.#options.timers.monotonic() - oldest[1] < this.#options.agedAfterMs)
      return undefined;
    this.#drop(oldest[0], rank);
    return oldest[0];
  }

  async #run(key: string): Promise<void> {
    try {
      await this.#options.work(key);
      this.#failures.delete(key);
    } catch (error) {
      this.#retryLater(key, error);
    } finally {
      this.#ended(key);
    }
  }

  #ended(key: string): void {
    const again = this.#running.get(key);
    this.#running.delete(key);
    this.#begun.delete(key);
    if (again !== undefined && !this.#closed) {
      this.#cancelRetry(key);
      this.#enqueue(key, again);
    }
    this.#next();
    if (this.#running.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  #retryLater(key: string, error: unknown): void {
    const { backoff, random, timers, failed } = this.#options;
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    const delay = jittered(delayMsAfter(failures, backoff), random());
    this.#cancelRetry(key);
    if (!this.#closed) {
      const cancel = timers.after(delay, () => {
        this.#retries.delete(key);
        this.add(key);
      });
      const what = `a retry after ${Math.round(delay)} ms, because it failed: ${(error as Error)?.message}`;
      this.#retries.set(key, { cancel, since: timers.monotonic(), for: what });
    }
    // Last, because it is the caller's, and may throw.
    failed(key, error, delay);
  }

  #cancelRetry(key: string): void {
    this.#retries.get(key)?.cancel();
    this.#retries.delete(key);
  }
}

/** First come, first served within a group; the groups take turns. */
class Ring {
  /** In the order of their turns: a group that was served goes to the end. */
  readonly #groups = new Map<string, Set<string>>();
  readonly #groupOf = new Map<string, string>();

  get size(): number {
    return this.#groupOf.size;
  }

  has(key: string): boolean {
    return this.#groupOf.has(key);
  }

  add(key: string, group: string): void {
    if (this.#groupOf.has(key)) return;
    this.#groupOf.set(key, group);
    const keys = this.#groups.get(group);
    if (keys) keys.add(key);
    else this.#groups.set(group, new Set([key]));
  }

  take(): string | undefined {
    const [turn] = this.#groups;
    if (turn === undefined) return undefined;
    const [group, keys] = turn;
    const [key] = keys as Set<string> & Iterable<string>;
    this.remove(key as string);
    if (this.#groups.delete(group)) this.#groups.set(group, keys);
    return key;
  }

  remove(key: string): void {
    const group = this.#groupOf.get(key);
    if (group === undefined) return;
    this.#groupOf.delete(key);
    const keys = this.#groups.get(group);
    keys?.delete(key);
    if (keys?.size === 0) this.#groups.delete(group);
  }
}
