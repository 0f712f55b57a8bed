/** One subscription's lane while this server owns it: what failed is sent again, what is new is sent, and the cursor moves. */

import type { Clock } from '../../core/clock.ts';
import type { Database, Transaction } from '../../core/db/database.ts';
import { withPartitions } from '../../core/db/partitions.ts';
import { utc } from '../../core/instants.ts';
import type { OwnedLane } from '../../core/lanes/lanes.ts';
import { limits } from '../../core/limits.ts';
import { type EventRow, insertEvents, readEventKeys, readEvents, readEventsOf } from '../../events/index.ts';
import type { EventHints } from '../../room/events.ts';
import { disableLane, type LaneStateRow, readLane, readOpen, readVersion, recordStep } from '../lane-store.ts';
import { chainsOf, type Result, sendChains } from './chains.ts';
import { type Attempt, Endpoint, type EndpointServices } from './endpoint.ts';
import type { Configured, DeliverySettings } from './settings.ts';
import { disabledFor, dueOf, healthAfter, nextDueMs, type Open, settle, stepMaxOf } from './step.ts';

export type LaneServices = EndpointServices & {
  database: Database;
  clock: Clock;
  /** This process. */
  server: string;
  eventHints: EventHints;
};

/** A cursor that moved over events that were not to be sent is recorded after so long. */
const CURSOR_MS = 1000;

/** What it works by is read anew after so long: a secret may have expired. */
const RELOADED_MS = 600_000;

/** `at`: monotonic ms. */
type Loaded = { at: number; row: LaneStateRow; settings: DeliverySettings; endpoint: Endpoint };

export class DeliveryLane {
  readonly #services: LaneServices;
  readonly #configured: Configured;
  readonly lane: OwnedLane;
  #loaded: Loaded | undefined;
  /** In the order of numbers. */
  #opens: Open[] = [];
  /** When the cursor moved without being recorded, monotonic ms. */
  #movedAt: number | undefined;
  /** The newest version that was seen. */
  #changedTo = 0;

  constructor(services: LaneServices, configured: Configured, lane: OwnedLane) {
    this.#services = services;
    this.#configured = configured;
    this.lane = lane;
  }

  /** What it works by; undefined while nothing is to be sent. */
  get active(): (Loaded & { version: number }) | undefined {
    const loaded = this.#loaded;
    if (loaded === undefined || !loaded.settings.enabled || loaded.row.disabled_at !== null) return undefined;
    return { ...loaded, version: loaded.row.version };
  }

  /** Whether somebody changed what it works by since that was read: nothing more is sent by it. */
  get isOutdated(): boolean {
    return this.#loaded !== undefined && this.#loaded.row.version < Math.max(this.lane.version, this.#changedTo);
  }

  /** Told of a version that was seen; undefined: the lane is gone. */
  changedTo(version: number | undefined): void {
    if (version === undefined) this.lane.lose();
    else this.#changedTo = Math.max(this.#changedTo, version);
  }

  get #isOver(): boolean {
    return this.isOutdated || this.lane.ending.aborted;
  }

  get #stepMax(): number {
    const { settings, endpoint } = this.#loaded as Loaded;
    return stepMaxOf(settings, endpoint.perSecond);
  }

  /** ms for which nothing is sent. */
  get blockedMs(): number {
    const until = this.#loaded?.row.blocked_until ?? null;
    if (until === null) return 0;
    return Math.min(limits.deliveryFailingMsMax, Math.max(0, Date.parse(until) - this.#services.clock.now()));
  }

  /** Sends until nothing is due. @returns ms until something is; undefined: when there are new events */
  async work(): Promise<number | undefined> {
    try {
      return await this.#work();
    } catch (error) {
      // A step may have been sent and not recorded: the cursor and what is open are those of the database.
      this.#unload();
      throw error;
    }
  }

  async #work(): Promise<number | undefined> {
    while (!this.lane.ending.aborted) {
      await this.#load();
      if (this.active === undefined) return undefined;
      if (this.blockedMs > 0) return this.blockedMs;
      if ((await this.#again()) || (await this.#fresh())) continue;
      const { clock } = this.#services;
      const moved = this.#movedAt === undefined ? undefined : this.#movedAt + CURSOR_MS - clock.monotonic();
      if (moved !== undefined && moved <= 0) await this.#record([], clock.now());
      const next = [nextDueMs(this.#opens, clock.now()), moved].filter((ms) => ms !== undefined && ms > 0) as number[];
      return next.length === 0 ? undefined : Math.min(...next);
    }
    return undefined;
  }

  async close(): Promise<void> {
    await this.#loaded?.endpoint.close();
  }

  /** Reads what it works by, unless that is the same as before. */
  async #load(): Promise<void> {
    if (this.#loaded !== undefined && !this.isOutdated) {
      // Secrets expire.
      if (this.#services.clock.monotonic() < this.#loaded.at + RELOADED_MS) return;
    }
    const { database } = this.#services;
    const { tenant, id } = this.lane;
    const [row, settings, open] = await database.read(tenant, (tx) =>
      Promise.all([readLane(tx, this.lane), this.#configured.settingsOf(tx, tenant, id), readOpen(tx, this.lane)]),
    );
    this.#unload();
    if (row === undefined || settings === undefined) return;
    const numbers = open.map(({ sequence }) => sequence);
    const keys = numbers.length === 0 ? [] : await database.read(tenant, (tx) => readEventKeys(tx, tenant, numbers));
    const keyOf = new Map(keys.map(({ sequence, key }) => [sequence, key]));
    // What retention removed meanwhile is found when it is due.
    this.#opens = open.map((one) => ({ ...one, key: this.#keyOf(settings, keyOf.get(one.sequence) ?? '') }));
    this.#movedAt = undefined;
    const endpoint = new Endpoint(this.#services, this.#configured, tenant, settings);
    this.#loaded = { row, settings, endpoint, at: this.#services.clock.monotonic() };
  }

  /** A replay may wait for an answer: nobody waits for that here. */
  #unload(): void {
    void this.close();
    this.#loaded = undefined;
  }

  /** Where requests carry several events, all of them are in order. */
  #keyOf({ batch }: DeliverySettings, key: string): string {
    return batch ? '' : key;
  }

  /** Sends again what is due. @returns whether something was */
  async #again(): Promise<boolean> {
    const { row } = this.#loaded as Loaded;
    const now = this.#services.clock.now();
    const isProbe = row.trips > 0;
    const due = isProbe ? this.#opens.slice(0, 1) : dueOf(this.#opens, now).slice(0, this.#stepMax);
    if (due.length === 0) return false;
    const { tenant } = this.lane;
    const numbers = due.map(({ sequence }) => sequence);
    const events = await this.#read((tx) => readEventsOf(tx, tenant, numbers));
    if (this.isOutdated) return true;
    const last = events.at(-1)?.sequence ?? Number.POSITIVE_INFINITY;
    const kept = new Set(events.map(({ sequence }) => sequence));
    const isGone = (number: number) => number <= last && !kept.has(number);
    const { wanted, other } = this.#split(events);
    const unwanted = new Set([...numbers.filter(isGone), ...other.map(({ sequence }) => sequence)]);
    const results = await this.#send(wanted);
    await this.#record(results, now, [...unwanted]);
    return true;
  }

  /** Sends what is new. @returns whether there was something */
  async #fresh(): Promise<boolean> {
    if (this.#opens.length >= limits.deliveryOpenMax) return false;
    const { row, settings } = this.#loaded as Loaded;
    // Requests of a batch are one after another.
    if (settings.batch && this.#opens.length > 0) return false;
    const { clock } = this.#services;
    const { tenant } = this.lane;
    const types = settings.types === 'all' ? undefined : [...settings.types];
    const range = {
      after: row.cursor,
      at: row.cursor_at ?? undefined,
      types,
      limit: row.trips > 0 ? 1 : this.#stepMax,
    };
    const scanned = await this.#read((tx) => readEvents(tx, tenant, range));
    if (this.isOutdated) return true;
    const end = scanned.at(-1);
    if (end === undefined) return false;
    const { wanted } = this.#split(scanned.flatMap(({ event }) => event ?? []));
    const now = clock.now();
    const blocked = new Set(this.#opens.map(({ key }) => key));
    const isBlocked = ({ key }: EventRow) => blocked.has(this.#keyOf(settings, key));
    const sent = await this.#send(wanted.filter((event) => !isBlocked(event)));
    if (this.lane.lost.aborted) return true;
    row.cursor = end.sequence;
    row.cursor_at = end.at;
    const results = [...sent, ...wanted.filter(isBlocked).map((event) => ({ event }))];
    if (results.length > 0) await this.#record(results, now);
    else this.#movedAt ??= clock.monotonic();
    return true;
  }

  /** Reads events, and behind them whether the lane was changed: what is begun after a change was committed goes by it. */
  async #read<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const { database } = this.#services;
    const { tenant } = this.lane;
    const [found, version] = await database.read(tenant, (tx) => Promise.all([work(tx), readVersion(tx, this.lane)]));
    this.changedTo(version);
    return found;
  }

  #split(events: readonly EventRow[]): { wanted: EventRow[]; other: EventRow[] } {
    const { settings } = this.#loaded as Loaded;
    const is = (event: EventRow) =>
      (settings.types === 'all' || settings.types.has(event.type)) && settings.matches(event);
    return { wanted: events.filter(is), other: events.filter((event) => !is(event)) };
  }

  #send(events: readonly EventRow[]): Promise<Result[]> {
    const { row, settings, endpoint } = this.#loaded as Loaded;
    let [failures, underWay, stopped] = [row.failures, 0, false];
    // Requests under way count, because they may fail too: an endpoint that hangs gets no third round of them.
    const most = row.trips > 0 ? Number.POSITIVE_INFINITY : limits.deliveryFailuresMax;
    return sendChains(chainsOf(events, settings.batch), limits.deliveryConnectionsMax, {
      send: (some) => {
        underWay++;
        return endpoint.send(some, limits.deliveryConnectionsMax, this.lane.cut, () => this.#isOver);
      },
      goesOn: () => !stopped && !this.#isOver && (failures === 0 || failures + underWay < most),
      after: ({ ok, status, retryAfterMs }) => {
        underWay--;
        failures = ok ? 0 : failures + 1;
        stopped ||= status === 410 || retryAfterMs !== undefined;
      },
    });
  }

  async #record(results: readonly Result[], now: number, unwanted: readonly number[] = []): Promise<void> {
    // Nothing of it is recorded: the next owner sends it again.
    if (this.lane.lost.aborted) return;
    const { row, settings } = this.#loaded as Loaded;
    const { tenant } = this.lane;
    const keyed = results.map(({ event, ...rest }) => ({
      event: { ...event, key: this.#keyOf(settings, event.key) },
      ...rest,
    }));
    const gone = new Set(unwanted);
    const settled = settle(this.#opens, keyed, { numberOfRetries: settings.numberOfRetries, now });
    const attempts = [...new Set(results.flatMap(({ attempt }) => attempt ?? []))];
    const health = healthAfter(row, attempts, this.#services.clock.now());
    const isRecovered = row.trips > 0 && health.trips === 0;
    const { cursor, cursor_at } = row;
    const step = {
      version: row.version,
      ...health,
      cursor,
      cursor_at,
      ...settled,
      done: [...settled.done, ...gone],
      isRecovered,
    };
    const { server, database } = this.#services;
    // When a step leaves nothing open, a crash of Postgres loses only the cursor, and the events are sent again.
    const durable = step.open.length > 0;
    const recording = () => database.write(tenant, (tx) => recordStep(tx, server, this.lane, step), { durable });
    const version = await withPartitions(database, recording);
    if (version === undefined) return this.lane.lose();
    this.changedTo(version);
    const since = row.failing_since ?? undefined;
    this.#opens = settled.opens.filter(({ sequence }) => !gone.has(sequence));
    this.#movedAt = undefined;
    Object.assign(row, health);
    const fresh = new Set(settled.open.map(({ sequence }) => sequence));
    if (isRecovered)
      this.#opens = this.#opens.map((open) => (fresh.has(open.sequence) ? open : { ...open, next_at: utc(now) }));
    await this.#tell(attempts, isRecovered, since);
  }

  /** Events about the endpoint itself, and its end. */
  async #tell(attempts: readonly Attempt[], isRecovered: boolean, since: string | undefined): Promise<void> {
    const { row, settings } = this.#loaded as Loaded;
    const { clock, database, server, eventHints } = this.#services;
    const { tenant, id } = this.lane;
    const reason = disabledFor(row, attempts, clock.now());
    if (reason === undefined && !isRecovered) return;
    const isTold = await database.tenant(tenant, async (tx) => {
      if (reason !== undefined && !(await disableLane(tx, server, this.lane, reason))) return false;
      const about = { endpoint: settings.endpoint, since: since ?? row.failing_since ?? undefined };
      const { disabled, recovered } = this.#configured;
      await insertEvents(tx, [
        reason === undefined ? recovered(tenant, id, about) : disabled(tenant, id, { reason, ...about }),
      ]);
      return true;
    });
    if (!isTold) return;
    if (reason !== undefined) row.disabled_at = utc(clock.now());
    eventHints.committed();
  }
}
