/**
 * Lanes: work that goes on in order, of which each lane is done by one server at a time (the deliveries to an endpoint, the
 * mails of a tenant). A server owns a lane for seconds and renews that while there is work; when it dies, another takes the lane
 * over. Whatever a lane writes is fenced by its owner (core/db/lanes.ts): who was stopped for a minute and wakes up writes nothing.
 *
 * Tenants take turns: a server owns a bounded number of lanes, takes one of each tenant before a second one of any, and ends the
 * turns of those that had theirs when others wait. Within a turn a lane waits for its own endpoint and holds up nobody.
 */
import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import {
  type LaneId,
  type LaneRow,
  type LaneTable,
  releaseLanes,
  renewLanes,
  takeLanes,
  waitingLanes,
} from '../db/lanes.ts';
import { limits } from '../limits.ts';
import type { Observe } from '../observe.ts';

/** A lane that this server owns. */
export type OwnedLane = LaneId & {
  /** One more whenever somebody changed what the lane works by: it reads its settings anew. */
  readonly version: number;
  /** Aborted when the lane is to end: it finishes what it has begun, and begins nothing more. */
  readonly ending: AbortSignal;
  /** Aborted when what is under way is to be cut off, because the lane has not ended in time or is lost. What is done is recorded. */
  readonly cut: AbortSignal;
  /** Aborted when the lane is lost: nothing is written any more. */
  readonly lost: AbortSignal;
  /** To be called when the fence refused a write. */
  lose(): void;
};

export type LanesOptions = {
  /** For errors: "delivering events". */
  name: string;
  table: LaneTable;
  database: Database;
  clock: Clock;
  observe: Observe;
  /** This process, a UUID. */
  me: string;
  /**
   * Works until nothing is to be done or the lane is ending. Called again when something may be to do. What it throws is
   * observed, and it is called again a little later.
   * @returns ms until there is something to do; undefined: when it is told
   */
  work(lane: OwnedLane): Promise<number | undefined>;
  /** The lane is no longer this server's: closes what belongs to it. */
  ended?(lane: LaneId): Promise<void>;
};

const FAILED_MS = 1000;
const keyOf = ({ tenant, id }: LaneId) => `${tenant}/${id}`;

export class Lanes {
  readonly #options: LanesOptions;
  readonly #owned = new Map<string, RunningLane>();
  /** Tenants with news, and when their lanes were looked for. */
  readonly #news = new Set<string>();
  readonly #lookedAt = new Map<string, number>();
  #lookAtAll = true;
  #wake = () => {};

  constructor(options: LanesOptions) {
    this.#options = options;
  }

  /** How many lanes this server owns. */
  get size(): number {
    return this.#owned.size;
  }

  /** There may be something to do. @param tenants absent: for any */
  hint(tenants?: readonly string[]): void {
    const told = tenants && new Set(tenants);
    for (const lane of this.#owned.values()) if (told === undefined || told.has(lane.tenant)) lane.wake();
    if (tenants === undefined) this.#lookAtAll = true;
    else for (const tenant of tenants) this.#news.add(tenant);
    this.#wake();
  }

  /** Works until the signal is aborted; then the lanes end and are given up. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, observe, name } = this.#options;
    const stop = () => this.#wake();
    signal.addEventListener('abort', stop);
    let [polledAt, renewedAt] = [Number.NEGATIVE_INFINITY, clock.monotonic()];
    try {
      while (!signal.aborted) {
        const now = clock.monotonic();
        try {
          if (now >= renewedAt + limits.laneOwnedMs / 3) {
            renewedAt = now;
            await this.#renew(now);
          }
          if (now >= polledAt + limits.lanePollMs || this.#lookAtAll) {
            polledAt = now;
            await this.#look(undefined);
          } else await this.#lookForNews(now);
        } catch (error) {
          observe({ kind: 'background_failed', task: name, error });
        }
        await this.#pause(signal, Math.max(1, polledAt + limits.lanePollMs - clock.monotonic()));
      }
    } finally {
      signal.removeEventListener('abort', stop);
      await this.#end([...this.#owned.values()]);
    }
  }

  async #pause(signal: AbortSignal, ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    if (signal.aborted || this.#lookAtAll) resolve();
    // News of a tenant that was looked at just now wait a little.
    const timer = setTimeout(resolve, this.#news.size > 0 ? Math.min(ms, limits.laneHintMs) : ms);
    await promise;
    clearTimeout(timer);
    this.#wake = () => {};
  }

  async #lookForNews(now: number): Promise<void> {
    const tenants = [...this.#news].filter((tenant) => now >= (this.#lookedAt.get(tenant) ?? 0) + limits.laneHintMs);
    if (tenants.length === 0) return;
    for (const tenant of tenants) this.#news.delete(tenant);
    await this.#look(tenants);
  }

  async #look(tenants: readonly string[] | undefined): Promise<void> {
    const { database, table, me, clock } = this.#options;
    const now = clock.monotonic();
    if (tenants === undefined) {
      this.#lookAtAll = false;
      this.#news.clear();
      this.#lookedAt.clear();
    } else for (const tenant of tenants) this.#lookedAt.set(tenant, now);
    const limit = limits.lanesOwnedMax - this.#owned.size;
    if (limit <= 0) return this.#makeRoom(now);
    const taking = { limit, ownedMs: limits.laneOwnedMs, tenants };
    const rows = await database.systemPipelined((tx) => takeLanes(tx, table, me, taking));
    for (const row of rows) {
      // It was lost and not noticed, and is one's own again: the former turn ends first.
      const before = this.#owned.get(keyOf(row));
      if (before !== undefined) before.lose();
      else this.#start(row, now);
    }
  }

  #start(row: LaneRow, now: number): void {
    const lane = new RunningLane(row, this.#options, now);
    this.#owned.set(keyOf(row), lane);
    void lane.run().finally(() => this.#end([lane]));
  }

  /** Ends the turns of lanes that had one, as many as others wait. */
  async #makeRoom(now: number): Promise<void> {
    const { database, table } = this.#options;
    const had = [...this.#owned.values()].filter(({ since }) => now >= since + limits.laneTurnMs);
    if (had.length === 0) return;
    const waiting = await database.systemPipelined((tx) => waitingLanes(tx, table, had.length));
    for (const lane of had.slice(0, waiting)) lane.end();
  }

  async #renew(now: number): Promise<void> {
    const { database, table, me } = this.#options;
    const lanes = [...this.#owned.values()];
    const idle = lanes.filter((lane) => lane.isIdle(now));
    for (const lane of idle) lane.end();
    const busy = lanes.filter((lane) => !idle.includes(lane));
    // The connection may have been lost with the answer: what was not renewed in time is not one's own.
    for (const lane of busy) if (now >= lane.until) lane.lose();
    if (busy.length === 0) return;
    const rows = await database.systemPipelined((tx) => renewLanes(tx, table, me, busy, limits.laneOwnedMs));
    const versions = new Map(rows.map((row) => [keyOf(row), row.version]));
    for (const lane of busy) {
      const version = versions.get(keyOf(lane));
      if (version === undefined) lane.lose();
      else lane.renewed(version, now);
    }
  }

  async #end(lanes: readonly RunningLane[]): Promise<void> {
    const { database, table, me, observe, name, ended } = this.#options;
    const { laneEndMsMax, laneRecordMsMax } = limits;
    const late = setTimeout(() => lanes.map((lane) => lane.cutOff()), laneEndMsMax);
    const over = setTimeout(() => lanes.map((lane) => lane.lose()), laneEndMsMax + laneRecordMsMax);
    await Promise.all(lanes.map((lane) => lane.end()));
    const mine = lanes.filter((lane) => this.#owned.get(keyOf(lane)) === lane);
    for (const lane of mine) this.#owned.delete(keyOf(lane));
    try {
      await Promise.all(mine.map((lane) => ended?.(lane)));
      if (mine.length > 0) await database.systemPipelined((tx) => releaseLanes(tx, table, me, mine));
    } catch (error) {
      observe({ kind: 'background_failed', task: name, error });
    } finally {
      clearTimeout(late);
      clearTimeout(over);
    }
  }
}

class RunningLane implements OwnedLane {
  readonly tenant: string;
  readonly id: string;
  version: number;
  /** Since when this is its turn; since when it has nothing to do; until when it is surely its owner's (monotonic ms). */
  readonly since: number;
  until: number;
  #idleSince: number | undefined;
  readonly #options: LanesOptions;
  readonly #ending = new AbortController();
  readonly ending = this.#ending.signal;
  readonly #cut = new AbortController();
  readonly cut = this.#cut.signal;
  readonly #lost = new AbortController();
  readonly lost = this.#lost.signal;
  readonly #done = Promise.withResolvers<void>();
  #isNew = true;
  #wake = () => {};

  constructor({ tenant, id, version }: LaneRow, options: LanesOptions, now: number) {
    this.tenant = tenant;
    this.id = id;
    this.version = version;
    this.since = now;
    this.until = now + limits.laneOwnedMs;
    this.#options = options;
  }

  isIdle(now: number): boolean {
    return this.#idleSince !== undefined && now >= this.#idleSince + limits.laneIdleMs;
  }

  wake(): void {
    this.#isNew = true;
    this.#wake();
  }

  renewed(version: number, now: number): void {
    this.until = now + limits.laneOwnedMs;
    if (version === this.version) return;
    this.version = version;
    this.wake();
  }

  cutOff(): void {
    this.#cut.abort();
    this.end();
  }

  lose(): void {
    this.#lost.abort();
    this.cutOff();
  }

  /** Resolves when nothing is under way. */
  end(): Promise<void> {
    this.#ending.abort();
    this.#wake();
    return this.#done.promise;
  }

  /** Works whenever there is something to do, until it ends. */
  async run(): Promise<void> {
    const { work, clock, observe, name } = this.#options;
    while (!this.ending.aborted) {
      this.#isNew = false;
      this.#idleSince = undefined;
      let nextMs: number | undefined;
      try {
        nextMs = await work(this);
      } catch (error) {
        if (!this.lost.aborted) observe({ kind: 'background_failed', task: `${name} of ${keyOf(this)}`, error });
        nextMs = FAILED_MS;
      }
      if (this.#isNew || this.ending.aborted) continue;
      this.#idleSince = clock.monotonic();
      await this.#pause(Math.min(nextMs ?? limits.laneIdleMs * 2, limits.laneIdleMs * 2));
    }
    this.#done.resolve();
  }

  async #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const timer = setTimeout(resolve, Math.max(1, ms));
    await promise;
    clearTimeout(timer);
    this.#wake = () => {};
  }
}
