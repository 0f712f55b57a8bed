/**
 * Asks a room again and again whose conditions have changed, where others than the operator change what they say: servers
 * that read an issuer's keys, for one.
 */
import type { Observe } from '../server/core/observe.ts';
import type { ResourceClaim } from '../server/room/resource-kind.ts';
import type { Timers } from './queue.ts';
import type { KindName } from './source.ts';

type ConditionPollOptions = {
  kind: KindName;
  /** The claims whose conditions have changed within this time. */
  read: (withinMs: number) => Promise<readonly ResourceClaim[]>;
  pollMs: number;
  timers: Timers;
  observe: Observe;
  /** Told more than once. */
  changed: (claim: ResourceClaim) => void;
};

export class ConditionPoll {
  readonly #options: ConditionPollOptions;
  #cancel: (() => void) | undefined;
  #asking: Promise<void> | undefined;
  #polling = false;

  constructor(options: ConditionPollOptions) {
    this.#options = options;
  }

  /** Begins to look for changes: only whoever leads does. */
  start(): void {
    if (this.#polling) return;
    this.#polling = true;
    this.#next();
  }

  stop(): void {
    this.#polling = false;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  async close(): Promise<void> {
    this.stop();
    await this.#asking;
  }

  #next(): void {
    // After a stop and a start while a poll is under way, its end begins the next one.
    if (!this.#polling || this.#cancel || this.#asking) return;
    this.#cancel = this.#options.timers.after(this.#options.pollMs, () => {
      this.#cancel = undefined;
      this.#asking = this.#ask().finally(() => {
        this.#asking = undefined;
        this.#next();
      });
    });
  }

  async #ask(): Promise<void> {
    const { kind, read, pollMs, changed, observe } = this.#options;
    try {
      // Longer than since the last time: a change bears the time at which its transaction began.
      for (const claim of await read(pollMs * 3)) changed(claim);
    } catch (error) {
      if (this.#polling) observe({ kind: 'background_failed', task: `conditions of ${kind}`, error });
    }
  }
}
