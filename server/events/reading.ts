/** Reading a tenant's events: a page, waiting for one, and all of them as they come. */
import type { Clock } from '../core/clock.ts';
import type { Database } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { eventProblem } from './problems.ts';
import type { EventReaders } from './readers.ts';
import type { EventRow } from './schema.ts';
import { readCounter, readEvents } from './store.ts';

/** Who waits looks by itself after this time, should it not be told. */
const CHECK_MS = 5000;
const SILENT_MS = 15_000;

export type ReadingServices = { database: Database; clock: Clock; readers: EventReaders };

export type Asked = {
  tenant: string;
  /** The number behind which reading begins; absent: the oldest event that is kept. */
  after: number | undefined;
  /** Absent: all. */
  types: readonly string[] | undefined;
  limit: number;
};

/** `after`: where the next page begins; `at`: of the event of that number; `last`: the newest number of the tenant. */
export type EventPage = { events: EventRow[]; after: number; at?: string; last: number };

/**
 * The next events, without waiting.
 * @param at of the event `after`, where it is known
 * @throws Problem events_gone, events_ahead
 */
export async function readPage({ database }: ReadingServices, asked: Asked, at?: string): Promise<EventPage> {
  const { tenant, types, limit } = asked;
  const { counter, rows } = await database.read(tenant, async (tx) => {
    const range = { after: asked.after ?? 0, at, types, limit };
    // The counter first: retention says what it removes before it does.
    const [counter, rows] = await Promise.all([readCounter(tx, tenant), readEvents(tx, tenant, range)]);
    return { counter, rows };
  });
  const after = asked.after ?? counter.removed;
  if (after < counter.removed) {
    const detail = `Events up to ${counter.removed} were removed. Begin after ${counter.removed}, and read what they told of by the other APIs.`;
    throw eventProblem('events_gone', { detail });
  }
  if (after > counter.last && rows.length === 0) {
    throw eventProblem('events_ahead', { detail: `The newest event has the number ${counter.last}.` });
  }
  const events: EventRow[] = [];
  let end: { sequence: number; at: string } | undefined;
  for (const { event, sequence, at } of rows) {
    if (events.length === limit) break;
    if (event !== null) events.push(event);
    end = { sequence, at };
  }
  const last = Math.max(counter.last, end?.sequence ?? 0);
  return { events, after: end?.sequence ?? after, ...((end?.at ?? at) ? { at: (end?.at ?? at) as string } : {}), last };
}

/**
 * The next events; when there are none, it waits for one.
 * @param waitMs at most
 * @throws Problem as readPage
 */
export async function awaitPage(
  services: ReadingServices,
  asked: Asked,
  waitMs: number,
  signal: AbortSignal,
): Promise<EventPage> {
  const { readers, clock } = services;
  const until = clock.monotonic() + waitMs;
  const watch = readers.watch(asked.tenant, signal);
  try {
    for (
      let page = await readPage(services, asked);
      ;
      page = await readPage(services, { ...asked, after: page.after }, page.at)
    ) {
      const left = until - clock.monotonic();
      if (page.events.length > 0 || signal.aborted) return page;
      if (left <= 0) return page;
      // Events of other types: there may be more behind them.
      if (page.after < page.last) continue;
      await watch.next(Math.min(left, CHECK_MS));
    }
  } finally {
    watch.end();
  }
}

/**
 * Pages of events as they come, until the time is over or the signal is aborted; an empty one when there were none for
 * a while, so that nobody on the way takes the connection for dead.
 */
export async function* follow(services: ReadingServices, asked: Asked, signal: AbortSignal): AsyncGenerator<EventPage> {
  const { clock } = services;
  const until = clock.monotonic() + limits.eventStreamMsMax;
  let { after } = asked;
  while (!signal.aborted && clock.monotonic() < until) {
    const waitMs = Math.min(SILENT_MS, until - clock.monotonic());
    const page = await awaitPage(services, { ...asked, after }, waitMs, signal);
    after = page.after;
    if (!signal.aborted) yield page;
  }
}

/** The number of the newest event; 0 when there is none. */
export async function lastEvent({ database }: ReadingServices, tenant: string): Promise<number> {
  return (await database.read(tenant, (tx) => readCounter(tx, tenant))).last;
}

/** As `follow`, as one of the readers of the tenant. @throws Problem event_readers_busy, and as readPage */
export async function* followEvents(
  services: ReadingServices,
  asked: Asked,
  signal: AbortSignal,
): AsyncGenerator<EventPage> {
  const end = services.readers.begin(asked.tenant);
  try {
    yield* follow(services, asked, signal);
  } finally {
    end();
  }
}
