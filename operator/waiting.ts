/**
 * What waits for what. A key whose result can be another one when something changes waits here, at most once, and says
 * for what. No wake-up is lost because whoever looks at a key takes `changesOf` its tenant first: when the wait begins and
 * the tenant has changed since, that change may be what the key waits for, and the key is looked at again at once.
 */
import type { Clock } from '../server/core/clock.ts';
import type { Key } from './source.ts';

/** A key that waits, for people: `GET /waiting` on the admin port. */
export type Waiting = { key: Key; since: string; for: string };

/** How often something of a tenant had changed. */
export type TenantVersion = number;

type Wait = {
  for: string;
  /** Others than this operator can bring it about, such as the Config API, and do not tell: the next resync finds it. */
  external?: boolean;
};

type Entry = Wait & { tenant: string | undefined; since: number; resyncs: number };

export class WaitList {
  readonly #clock: Clock;
  readonly #wake: (keys: readonly Key[]) => void;
  readonly #entries = new Map<Key, Entry>();
  /** The keys that wait for a change of a tenant; each of them has an entry that names it. */
  readonly #ofTenant = new Map<string, Set<Key>>();
  readonly #changes = new Map<string, TenantVersion>();

  /** @param wake looks at these keys again */
  constructor(clock: Clock, wake: (keys: readonly Key[]) => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  changesOf(tenant: string): TenantVersion {
    return this.#changes.get(tenant) ?? 0;
  }

  /**
   * The key waits for something else of the tenant to change.
   * @param seen `changesOf` the tenant before the key was looked at
   */
  waitForTenant(key: Key, { tenant, seen }: { tenant: string; seen: TenantVersion }, wait: Wait): void {
    if (this.changesOf(tenant) !== seen) {
      this.#wake([key]);
      return;
    }
    this.#begin(key, wait, tenant);
    const keys = this.#ofTenant.get(tenant);
    if (keys) keys.add(key);
    else this.#ofTenant.set(tenant, new Set([key]));
  }

  /** The key waits for something whose owner tells of it by queueing the key; the queue keeps that while it is in flight. */
  waitForOwner(key: Key, wait: Wait): void {
    this.#begin(key, wait, undefined);
  }

  /** Something of the tenant changed: whatever waits for that is looked at again. */
  tenantChanged(tenant: string): void {
    this.#changes.set(tenant, this.changesOf(tenant) + 1);
    const keys = this.#ofTenant.get(tenant);
    if (keys === undefined) return;
    const woken = [...keys];
    for (const key of woken) this.end(key);
    this.#wake(woken);
  }

  /** The key is looked at, or forgotten. */
  end(key: Key): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    if (entry.tenant === undefined) return;
    const keys = this.#ofTenant.get(entry.tenant);
    keys?.delete(key);
    if (keys?.size === 0) this.#ofTenant.delete(entry.tenant);
  }

  /** Everything is looked at again. */
  clear(): void {
    this.#entries.clear();
    this.#ofTenant.clear();
  }

  get(key: Key): Wait | undefined {
    return this.#entries.get(key);
  }

  /** Counts a resync. @returns those that have waited since before the last one, and should not have had to */
  resynced(): { key: Key; for: string; ms: number }[] {
    const overdue: { key: Key; for: string; ms: number }[] = [];
    for (const [key, entry] of this.#entries) {
      entry.resyncs += 1;
      if (entry.resyncs < 2 || entry.external) continue;
      overdue.push({ key, for: entry.for, ms: this.#clock.now() - entry.since });
    }
    return overdue;
  }

  *list(): Iterable<Waiting> {
    for (const [key, entry] of this.#entries) {
      yield { key, since: new Date(entry.since).toISOString(), for: entry.for };
    }
  }

  #begin(key: Key, wait: Wait, tenant: string | undefined): void {
    const before = this.#entries.get(key);
    this.end(key);
    const since = before?.for === wait.for ? before.since : this.#clock.now();
    this.#entries.set(key, { ...wait, tenant, since, resyncs: before?.for === wait.for ? before.resyncs : 0 });
  }
}

/** @param max how many are told */
export function longestFirst(all: readonly Waiting[], max: number): Waiting[] {
  return all.toSorted((a, b) => (a.since < b.since ? -1 : a.since > b.since ? 1 : 0)).slice(0, max);
}
