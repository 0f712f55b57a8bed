/**
 * Owns waiting until every live server decides with a revision. Servers say so in accord.server_revision and on the channel
 * accord_ack; the channel is a hint, a slow poll while anything waits is the truth. A server that was silent for longer
 * than ACCORD_MAX_STALENESS answers nothing, so it is not waited for.
 */
import type { Database } from '../server/core/db/database.ts';
import type { Observe } from '../server/core/observe.ts';
import type { Timers } from './queue.ts';
import type { Key } from './source.ts';
import { readServed } from './store.ts';

/** How many servers live, and how many of them do not serve the revision yet. */
export type Serving = { live: number; behind: number };

export type ProgrammedOptions = {
  database: Database;
  maxStalenessMs: number;
  pollMs: number;
  /** A wait this long is told, once, before it is over. */
  lateAfterMs: number;
  timers: Timers;
  observe: Observe;
  /** Look at this key again: its revision is served, or it has waited long, or servers came or went. */
  look: (key: Key) => void;
};

type Wait = { tenant: string; revision: number; since: number; late: boolean; live: number; reached: boolean };

export class Programmed {
  readonly #options: ProgrammedOptions;
  readonly #waits = new Map<Key, Wait>();
  #cancelPoll: (() => void) | undefined;
  #asking: Promise<void> | undefined;
  #again = false;
  #closed = false;

  constructor(options: ProgrammedOptions) {
    this.#options = options;
  }

  /** Asks now. */
  async serving(tenant: string, revision: number): Promise<Serving> {
    const rows = await this.#options.database.systemAtOnce((tx) =>
      readServed(tx, [tenant], this.#options.maxStalenessMs),
    );
    const { live = 0, revisions = [] } = rows[0] ?? {};
    return { live, behind: revisions.filter((served) => served < revision).length };
  }

  /** Watches a revision for a key, in the place of what it watched before. @returns whether the wait has lasted long */
  wait(key: Key, tenant: string, revision: number, live: number): boolean {
    const before = this.#waits.get(key);
    if (before?.tenant === tenant && before.revision === revision) {
      before.live = live;
      return before.late;
    }
    const since = this.#options.timers.monotonic();
    this.#waits.set(key, { tenant, revision, since, late: false, live, reached: false });
    this.#poll();
    return false;
  }

  /** Whether the wait for this revision is known to be over. */
  isReached(key: Key, tenant: string, revision: number): boolean {
    const wait = this.#waits.get(key);
    return wait?.tenant === tenant && wait.revision === revision && wait.reached;
  }

  forget(key: Key): void {
    this.#waits.delete(key);
  }

  /** A server acknowledged something of this tenant. */
  acknowledged(payload: string): void {
    const tenant = payload.slice(0, payload.lastIndexOf(':'));
    for (const wait of this.#waits.values()) {
      if (wait.tenant !== tenant) continue;
      void this.check();
      return;
    }
  }

  /** Asks about everything that waits; calls that come meanwhile are answered by one more asking. */
  async check(): Promise<void> {
    if (this.#asking) {
      this.#again = true;
      return this.#asking;
    }
    this.#asking = this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelPoll?.();
    this.#waits.clear();
    await this.#asking;
  }

  async #ask(): Promise<void> {
    do {
      this.#again = false;
      const tenants = [...new Set([...this.#waits.values()].map((wait) => wait.tenant))];
      if (tenants.length === 0) return;
      try {
        const rows = await this.#options.database.systemAtOnce((tx) =>
          readServed(tx, tenants, this.#options.maxStalenessMs),
        );
        const served = new Map(rows.map((row) => [row.tenant, row]));
        for (const [key, wait] of [...this.#waits]) this.#judge(key, wait, served.get(wait.tenant)?.revisions ?? []);
      } catch (error) {
        if (!this.#closed) this.#options.observe({ kind: 'background_failed', task: 'programmed', error });
      }
    } while (this.#again && !this.#closed);
  }

  #judge(key: Key, wait: Wait, revisions: readonly number[]): void {
    const live = revisions.length;
    const reached = live > 0 && revisions.every((revision) => revision >= wait.revision);
    const isLate = !wait.late && this.#options.timers.monotonic() - wait.since >= this.#options.lateAfterMs;
    const isOther = (live === 0) !== (wait.live === 0);
    if (isLate) wait.late = true;
    wait.reached = reached;
    if (reached || isLate || isOther) this.#options.look(key);
  }

  #poll(): void {
    if (this.#cancelPoll || this.#closed) return;
    this.#cancelPoll = this.#options.timers.after(this.#options.pollMs, () => {
      this.#cancelPoll = undefined;
      void this.check().then(() => this.#waits.size > 0 && this.#poll());
    });
  }
}
