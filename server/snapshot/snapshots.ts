/**
 * The snapshots that this server serves: loading, replacing them on NOTIFY (a hint) and by a slow poll of
 * revisions (the truth), acknowledging what is served, and knowing when it is too old to be served.
 */
import type { Clock } from '../core/clock.ts';
import type { Database } from '../core/db/database.ts';
import { type DatabaseTrouble, troubleOf } from '../core/db/errors.ts';
import { type Listener, listen, type Subscription } from '../core/db/listen.ts';
import { Drain } from '../core/drain.ts';
import type { Observe } from '../core/observe.ts';
import { problem } from '../core/problems.ts';
import type { AnySnapshotPart, TenantSnapshot } from '../room/tenant-snapshot.ts';
import { readTenantRevisions } from '../tenants/index.ts';
import { loadAll, loadTenant } from './load.ts';
import { RevisionWaiter } from './revision-waiter.ts';
import { ServedTenant } from './served-tenant.ts';
import { acknowledge, forgetServer, heartbeat, withdraw } from './store.ts';

type SnapshotOptions = {
  database: Database;
  /** What rooms add to a snapshot. */
  parts: readonly AnySnapshotPart[];
  baseUrl: string;
  /** This server process, a UUID. */
  server: string;
  maxStalenessMs: number;
  clock: Clock;
  observe: Observe;
};

export class Snapshots {
  readonly #options: SnapshotOptions;
  readonly #subscriptions: Subscription[] = [];
  readonly #served = new Map<string, ServedTenant>();
  readonly #isFresh = (tenant: string) => this.isFresh(tenant);
  /** Tenants being read, and the reading that follows for those who asked meanwhile. */
  readonly #reading = new Map<string, { done: Promise<void>; next?: PromiseWithResolvers<void> }>();
  /** Tenants whose last reading failed, since when. */
  readonly #behind = new Map<string, number>();
  #unacknowledged = new Map<string, number>();
  readonly #waiter = new RevisionWaiter({
    current: (tenant) => this.get(tenant)?.revision ?? 0,
    read: (tenant) => this.refresh(tenant),
  });
  /** Records what is served; what comes while a record is being written goes with the next one. */
  readonly #acknowledging = new Drain(
    () => this.#unacknowledged.size > 0 && !this.#closed,
    () => this.#acknowledgeWaiting(),
  );
  #confirmedAt = Number.NEGATIVE_INFINITY;
  #trouble: DatabaseTrouble | undefined;
  #listener: Listener | undefined;
  #poll: NodeJS.Timeout | undefined;
  #polling: Promise<void> | undefined;
  /** Whether the database knows this process as a server. A command reads tenants and answers nobody. */
  #isServer = false;
  #closed = false;

  constructor(options: SnapshotOptions) {
    this.#options = options;
  }

  /** Hears of a channel on the connection that the snapshots listen on. To be called before the start. */
  subscribe(subscription: Subscription): void {
    this.#subscriptions.push(subscription);
  }

  /** Loads everything and starts to follow changes. @throws when the database does not answer */
  async start(): Promise<void> {
    const { database, server, clock } = this.#options;
    const askedAt = clock.monotonic();
    await database.system((tx) => heartbeat(tx, server));
    this.#isServer = true;
    for (const snapshot of await loadAll(this.#options)) this.#serve(snapshot);
    this.#confirmedAt = askedAt;
    await this.#acknowledging.run();
    const own: Subscription = {
      channel: 'accord_config',
      received: (payload) => this.#notified(payload),
      missed: () => void this.#confirm(),
    };
    this.#listener = listen({
      database,
      subscriptions: [own, ...this.#subscriptions],
      observe: this.#options.observe,
    });
    const everyMs = Math.max(500, this.#options.maxStalenessMs / 5);
    this.#poll = setInterval(() => void this.#confirm(), everyMs);
    this.#poll.unref();
  }

  /** The tenant's snapshot, also when it is disabled; undefined when there is no such tenant. */
  get(tenant: string): TenantSnapshot | undefined {
    return this.#served.get(tenant)?.newest;
  }

  /**
   * The tenant for a request, also when it is disabled; undefined when there is no such tenant.
   * @throws Problem stale when that cannot be said
   */
  served(tenant: string): ServedTenant | undefined {
    const served = this.#served.get(tenant);
    if (served === undefined && !this.isFresh(tenant)) throw problem('stale');
    return served;
  }

  get parts(): readonly AnySnapshotPart[] {
    return this.#options.parts;
  }

  get size(): number {
    return this.#served.size;
  }

  all(): TenantSnapshot[] {
    return [...this.#served.values()].flatMap(({ newest }) => newest ?? []);
  }

  /** Whether the state was confirmed with the database recently enough to answer from it. */
  isFresh(tenant?: string): boolean {
    const oldest = this.#options.clock.monotonic() - this.#options.maxStalenessMs;
    const behindSince = tenant === undefined ? undefined : this.#behind.get(tenant);
    return this.#confirmedAt >= oldest && (behindSince === undefined || behindSince >= oldest);
  }

  /** What kept the last confirmation with the database from succeeding; undefined when it did. */
  get trouble(): DatabaseTrouble | undefined {
    return this.#trouble;
  }

  /** Whether notifications do not arrive, so that changes of other servers are found by the poll only. */
  get isDeaf(): boolean {
    return this.#listener?.isDeaf ?? false;
  }

  /**
   * Reads a tenant again; when it resolves, everything committed before the call is served. It waits for two readings at
   * most: a tenant that is written all the time must not keep its readers waiting.
   * @throws when reading fails
   */
  refresh(tenant: string): Promise<void> {
    const reading = this.#reading.get(tenant);
    if (reading === undefined) return this.#beginReading(tenant);
    reading.next ??= Promise.withResolvers<void>();
    return reading.next.promise;
  }

  /**
   * Waits until the tenant is served at least at this revision.
   * @throws Problem revision_not_reached after a bounded wait
   */
  async reach(tenant: string, revision: number, waitMs: number): Promise<void> {
    if (!(await this.#waiter.reach(tenant, revision, waitMs))) throw problem('revision_not_reached');
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#poll);
    await this.#listener?.close();
    await this.#polling;
    await Promise.allSettled([...this.#reading.values()].map(({ done, next }) => next?.promise ?? done));
    await this.#acknowledging.running?.catch(() => {});
    await this.#options.database.system((tx) => forgetServer(tx, this.#options.server)).catch(() => {});
  }

  #notified(payload: string): void {
    const at = payload.lastIndexOf(':');
    const tenant = payload.slice(0, at);
    const current = this.get(tenant);
    if (current !== undefined && current.revision >= Number(payload.slice(at + 1)) && current.active) return;
    this.refresh(tenant).catch(() => {}); // observed in #read; the poll tries again
  }

  #beginReading(tenant: string): Promise<void> {
    const reading: { done: Promise<void>; next?: PromiseWithResolvers<void> } = { done: this.#read(tenant) };
    this.#reading.set(tenant, reading);
    const ended = () => {
      this.#reading.delete(tenant);
      reading.next?.resolve(this.#beginReading(tenant));
    };
    reading.done.then(ended, ended);
    return reading.done;
  }

  async #read(tenant: string): Promise<void> {
    const started = performance.now();
    try {
      const { snapshot, full } = await loadTenant(this.#options, tenant, this.get(tenant));
      this.#behind.delete(tenant);
      if (snapshot === undefined) {
        if (this.#drop(tenant)) await this.#withdraw([tenant]);
        return;
      }
      if (this.get(tenant)?.revision === snapshot.revision && !full) return;
      this.#serve(snapshot);
      const ms = performance.now() - started;
      this.#options.observe({ kind: 'snapshot_swapped', tenant, revision: snapshot.revision, ms, full });
      this.#acknowledge();
    } catch (error) {
      if (!this.#behind.has(tenant)) this.#behind.set(tenant, this.#options.clock.monotonic());
      this.#options.observe({ kind: 'snapshot_failed', tenant, error });
      throw error;
    }
  }

  #serve(snapshot: TenantSnapshot): void {
    const served = this.#served.get(snapshot.tenant);
    if (served?.newest?.tenantCreatedAt === snapshot.tenantCreatedAt) served.newest = snapshot;
    else {
      // Requests that an erased tenant let in are not its successor's.
      this.#drop(snapshot.tenant);
      this.#served.set(snapshot.tenant, new ServedTenant(snapshot, this.#isFresh));
    }
    this.#unacknowledged.set(snapshot.tenant, snapshot.revision);
    this.#waiter.arrived(snapshot.tenant);
  }

  #drop(tenant: string): boolean {
    const served = this.#served.get(tenant);
    if (served !== undefined) served.newest = undefined;
    return this.#served.delete(tenant);
  }

  /** The slow truth: asks for every tenant's revision, reads what differs, and says that this server lives. */
  async #confirm(): Promise<void> {
    if (this.#closed || this.#polling) return;
    this.#polling = this.#confirmOnce().finally(() => {
      this.#polling = undefined;
    });
    await this.#polling;
  }

  async #confirmOnce(): Promise<void> {
    const { database, server, clock, observe } = this.#options;
    const askedAt = clock.monotonic();
    try {
      const rows = await database.system(async (tx) => {
        if (await heartbeat(tx, server)) {
          for (const current of this.all()) this.#unacknowledged.set(current.tenant, current.revision);
        }
        return readTenantRevisions(tx);
      });
      const known = new Set(rows.map((row) => row.tenant));
      const differing = rows.filter((row) => {
        const current = this.get(row.tenant);
        if (current === undefined) return row.revision > 0;
        return current.revision !== row.revision || current.tenantCreatedAt !== row.created_at;
      });
      const gone = [...this.#served.keys()].filter((tenant) => !known.has(tenant));
      // One whose last reading failed may be at the right revision, and is stale until it is read.
      const again = new Set([...differing.map((row) => row.tenant), ...gone, ...this.#behind.keys()]);
      for (const tenant of again) {
        // Not waited for: a tenant whose reading takes long becomes stale, and the others do not.
        if (!this.#behind.has(tenant)) this.#behind.set(tenant, askedAt);
        this.refresh(tenant).catch(() => {}); // observed in #read; the next poll tries again
      }
      this.#confirmedAt = askedAt;
      this.#trouble = undefined;
      // Not waited for: under constant writes it goes on and on, and the next confirmation would come too late.
      if (this.#unacknowledged.size > 0) this.#acknowledge();
    } catch (error) {
      this.#trouble = troubleOf(error);
      if (!this.#closed) observe({ kind: 'snapshot_failed', error });
      if (!this.isFresh()) observe({ kind: 'snapshot_stale', sinceMs: clock.monotonic() - this.#confirmedAt });
    }
  }

  #acknowledge(): void {
    if (!this.#isServer) return;
    const { observe } = this.#options;
    this.#acknowledging.run().catch((error) => observe({ kind: 'background_failed', task: 'acknowledge', error }));
  }

  async #acknowledgeWaiting(): Promise<void> {
    if (this.#unacknowledged.size === 0 || this.#closed) return;
    const batch = new Map(this.#unacknowledged);
    this.#unacknowledged.clear();
    try {
      await this.#options.database.system((tx) => acknowledge(tx, this.#options.server, batch));
    } catch (error) {
      this.#unacknowledged = new Map([...batch, ...this.#unacknowledged]);
      throw error;
    }
  }

  async #withdraw(tenants: string[]): Promise<void> {
    // One that is being written would come after the withdrawal, and speak for a successor of the same code.
    await this.#acknowledging.running?.catch(() => {});
    for (const tenant of tenants) this.#unacknowledged.delete(tenant);
    await this.#options.database.system((tx) => withdraw(tx, this.#options.server, tenants));
  }
}
