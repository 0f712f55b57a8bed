/**
 * The safety net under the waits: a resync looks at everything, and what has waited for longer than a resync and turns out
 * not to have had to was forgotten by whoever should have woken it. That is a fault of the operator, and is logged.
 */
import type { Observe } from '../server/core/observe.ts';
import type { Key, KindName, Source } from './source.ts';
import type { WaitList } from './waiting.ts';

type MissedWakeupsOptions = {
  waiting: WaitList;
  source: Source;
  kinds: readonly KindName[];
  /** Whether a key is in flight, waits for its turn, or for another try. */
  isPending: (key: Key) => boolean;
  observe: Observe;
};

export class MissedWakeups {
  readonly #options: MissedWakeupsOptions;
  readonly #overdue = new Map<Key, { for: string; ms: number }>();
  /** Objects that somebody deleted, that were there at the last resync, and that wait for nothing. */
  #idle = new Set<Key>();

  constructor(options: MissedWakeupsOptions) {
    this.#options = options;
  }

  /** Before everything is queued. */
  resynced(): void {
    const { waiting, source, kinds, isPending, observe } = this.#options;
    for (const { key, ...overdue } of waiting.resynced()) if (!isPending(key)) this.#overdue.set(key, overdue);
    const idle = new Set<Key>();
    for (const key of kinds.flatMap((kind) => [...source.keys(kind)])) {
      if (!source.get(key)?.deleting || isPending(key) || waiting.get(key) !== undefined) continue;
      idle.add(key);
      if (this.#idle.has(key)) observe({ kind: 'wakeup_missed', resource: key, waitedFor: 'nothing' });
    }
    this.#idle = idle;
  }

  /** The key was looked at, and nothing failed. */
  reconciled(key: Key): void {
    const overdue = this.#overdue.get(key);
    if (overdue === undefined) return;
    this.#overdue.delete(key);
    const { waiting, observe } = this.#options;
    if (waiting.get(key)?.for === overdue.for) return;
    observe({ kind: 'wakeup_missed', resource: key, waitedFor: overdue.for, waitedMs: overdue.ms });
  }
}
