/**
 * Waits until every live server decides with a revision. Servers say so in accord.server_revision and on the channel
 * accord_ack; the channel is a hint, a slow poll while anything waits is the truth. A server that was silent for longer
 * than ACCORD_MAX_STALENESS answers nothing, so it is not waited for.
 */
import type { Clock } from '../server/core/clock.ts';
import type { Database } from '../server/core/db/database.ts';
import type { Observe } from '../server/core/observe.ts';
import type { Timers } from './queue.ts';
import type { Key } from './source.ts';
import { readServed } from './store.ts';
import type { Waiting } from './waiting.ts';

/** How many servers live, and how many of them do not serve the revision yet. */
type Serving = { live: number; behind: number };

type RolloutTrackerOptions = {
  database: Database;
  maxStalenessMs: number;
  pollMs: number;
  /** A wait this long is told, once, before it is over. */
  lateAfterMs: number;
  timers: Timers;
  clock: Clock;
  observe: Observe;
  /** Its revision is served, or it has waited long, or servers came or went. */
  requeue: (key: Key) => void;
};

type Wait = { tenant: string; revision: number; since: number; late: boolean; live: number; reached: boolean };

export class RolloutTracker {
  readonly #options: RolloutTrackerOptions;
  readonly #waits = new Map<Key, Wait>();
  readonly #ofTenant = new Map<string, Set<Key>>();
  /** Tenants of which servers have said something since they were asked about. */
  readonly #acknowledged = new Set<string>();
  #cancelPoll: (() => void) | undefined;
  #asking: Promise<void> | undefined;
  /** Whether everything that waits is to be asked about. */
  #all = false;
  #closed = false;

  constructor(options: RolloutTrackerOptions) {
    this.#options = options;
  }

  /** Asks now. */
  async serving(tenant: string, revision: number): Promise<Serving> {
    const rows = await this.#options.database.systemPipelined((tx) =>
      readServed(tx, [tenant], this.#options.maxStalenessMs),
    );
    const { live = 0, revisions = [] } = rows[0] ?? {};
    return { live, behind: revisions.filter((served) => served < revision).length };
  }

  /** Watches a revision for a key, in the place of what it watched before. @returns whether the wait has lasted long */
  track(key: Key, { tenant, revision, live }: { tenant: string; revision: number; live: number }): boolean {
    const before = this.#waits.get(key);
    if (before?.tenant === tenant && before.revision === revision) {
      before.live = live;
      return before.late;
    }
    const since = this.#options.timers.monotonic();
    this.forget(key);
    this.#waits.set(key, { tenant, revision, since, late: false, live, reached: false });
    const keys = this.#ofTenant.get(tenant);
    if (keys) keys.add(key);
    else this.#ofTenant.set(tenant, new Set([key]));
    this.#poll();
    return false;
  }

  has(key: Key): boolean {
    return this.#waits.has(key);
  }

  /** Whether the wait for this revision is known to be over. */
  isReached(key: Key, tenant: string, revision: number): boolean {
    const wait = this.#waits.get(key);
    return wait?.tenant === tenant && wait.revision === revision && wait.reached;
  }

  forget(key: Key): void {
    const wait = this.#waits.get(key);
    if (wait === undefined) return;
    this.#waits.delete(key);
    const keys = this.#ofTenant.get(wait.tenant);
    keys?.delete(key);
    if (keys?.size === 0) this.#ofTenant.delete(wait.tenant);
  }

  *list(): Iterable<Waiting> {
    const { timers, clock } = this.#options;
    for (const [key, { tenant, revision, since, live }] of this.#waits) {
      const at = clock.now() - (timers.monotonic() - since);
      const what = `every live server (${live}) to serve revision ${revision} of tenant ${tenant}`;
      yield { key, since: new Date(at).toISOString(), for: what };
    }
  }

  /** A server acknowledged something of this tenant. */
  acknowledged(payload: string): void {
    const tenant = payload.slice(0, payload.lastIndexOf(':'));
    if (!this.#ofTenant.has(tenant)) return;
    this.#acknowledged.add(tenant);
    void this.#askNow();
  }

  /** Asks about everything that waits; calls that come meanwhile are answered by one more asking. */
  check(): Promise<void> {
    this.#all = true;
    return this.#askNow();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelPoll?.();
    this.#waits.clear();
    this.#ofTenant.clear();
    await this.#asking;
  }

  /**
   * What comes while servers are asked about is asked about in the same run: it ends, and says so, in one step with seeing
   * that there is nothing more to ask about. It begins in a step of its own, after it is known here.
   */
  #askNow(): Promise<void> {
    this.#asking ??= Promise.resolve().then(async () => {
      try {
        await this.#ask();
      } finally {
        this.#asking = undefined;
      }
    });
    return this.#asking;
  }

  async #ask(): Promise<void> {
    while ((this.#all || this.#acknowledged.size > 0) && !this.#closed) {
      const all = this.#all;
      const tenants = [...(all ? this.#ofTenant.keys() : this.#acknowledged)];
      this.#all = false;
      this.#acknowledged.clear();
      if (tenants.length === 0) return;
      try {
        const { database, maxStalenessMs } = this.#options;
        const rows = await database.systemPipelined((tx) => readServed(tx, tenants, maxStalenessMs));
        for (const { tenant, revisions } of rows) this.#compare(tenant, revisions, all);
      } catch (error) {
        if (!this.#closed) this.#options.observe({ kind: 'background_failed', task: 'rollouts', error });
      }
    }
  }

  /** @param again also those that were told before: what came of that may be lost, so the poll tells again */
  #compare(tenant: string, revisions: readonly number[], again: boolean): void {
    const live = revisions.length;
    const served = live > 0 ? Math.min(...revisions) : 0;
    const late = this.#options.timers.monotonic() - this.#options.lateAfterMs;
    for (const key of [...(this.#ofTenant.get(tenant) ?? [])]) {
      const wait = this.#waits.get(key) as Wait;
      const before = wait.reached;
      wait.reached = served >= wait.revision && live > 0;
      const isLate = !wait.late && wait.since <= late;
      const isOther = (live === 0) !== (wait.live === 0);
      if (isLate) wait.late = true;
      if ((wait.reached && (again || !before)) || isLate || isOther) this.#options.requeue(key);
    }
  }

  #poll(): void {
    if (this.#cancelPoll || this.#closed) return;
    this.#cancelPoll = this.#options.timers.after(this.#options.pollMs, () => {
      this.#cancelPoll = undefined;
      void this.check().then(() => this.#waits.size > 0 && this.#poll());
    });
  }
}
