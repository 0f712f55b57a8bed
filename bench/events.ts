/**
 * Measures the log of events on a Postgres that syncs, in one process: numbering what waits in the inbox, the time from a
 * commit's answer to a reader that waits for it, at 200 events a second, and reading the log from its beginning; also with
 * events behind (HISTORY, none by default), in the same run.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { limits } from '../server/core/limits.ts';
import { followEvents, insertEvents, lastEvent } from '../server/events/index.ts';
import type { NewEvent } from '../server/room/events.ts';
import { createInstallation } from './installation.ts';
import { noise, percentile, table, target } from './report.ts';

const HISTORY = Number(process.argv[2] ?? 0);
const MOVED = 50_000;
const PER_SECOND = 200;
const SECONDS = 10;
const TENANTS = 10;

const installation = await createInstallation({ durable: true });
const { services, adminUrl } = installation;
const { events, database, eventHints } = services;
const codes = Array.from({ length: TENANTS }, (_, i) => `bench${i}`);
for (const code of codes) await installation.tenant(code);
const admin = new pg.Client({ connectionString: adminUrl });
await admin.connect();
const body = `{"requestor":"client:bench","from":{"type":"user","id":"user-1"},"relationshipType":"may_use","to":{"type":"car","id":"car-1"}}`;

async function numbering(): Promise<number> {
  await events.mover.move();
  await admin.query(
    `insert into accord.event_inbox (tenant, time, type, key, body)
      select 'bench' || n % ${TENANTS}, now(), 'RELATIONSHIP_CREATED', 'car/' || n % 97, $2::jsonb from generate_series(1, $1::int) n`,
    [MOVED, body],
  );
  const started = performance.now();
  await events.mover.move();
  return (MOVED / (performance.now() - started)) * 1000;
}

/** ms from the answer to the commit until a reader has the event. */
async function latency(): Promise<number[]> {
  const committed = new Map<string, number>();
  const received = new Map<string, number>();
  const stopping = new AbortController();
  const readers = codes.map(async (tenant) => {
    const asked = { tenant, after: await lastEvent(events, tenant), types: undefined, limit: limits.eventsPageMax };
    for await (const page of followEvents(events, asked, stopping.signal))
      for (const { key } of page.events) received.set(key, performance.now());
  });
  await sleep(200);
  const writing: Promise<void>[] = [];
  const run = `${performance.now()}`;
  let next = performance.now();
  for (let n = 0; n < PER_SECOND * SECONDS; n++) {
    const tenant = codes[n % TENANTS] as string;
    const event: NewEvent = { tenant, type: 'NOTE', time: Date.now(), key: `${run}/${n}`, data: JSON.parse(body) };
    const write = database.tenant(tenant, (tx) => insertEvents(tx, [event]));
    writing.push(
      write.then(() => {
        committed.set(event.key, performance.now());
        eventHints.committed();
      }),
    );
    next += 1000 / PER_SECOND;
    await sleep(Math.max(0, next - performance.now()));
  }
  await Promise.all(writing);
  while (received.size < committed.size) await sleep(10);
  stopping.abort();
  await Promise.all(readers);
  return [...committed].map(([key, at]) => Math.max(0, (received.get(key) as number) - at));
}

async function reading(): Promise<number> {
  let [after, read] = [0, 0];
  const started = performance.now();
  while (performance.now() - started < 3000) {
    const stopping = new AbortController();
    const asked = { tenant: 'bench0', after, types: undefined, limit: limits.eventsPageMax };
    for await (const page of followEvents(events, asked, stopping.signal)) {
      read += page.events.length;
      after = page.after >= page.last ? 0 : page.after;
      break;
    }
  }
  return (read / (performance.now() - started)) * 1000;
}

type Measured = { moved: number[]; ms: number[]; read: number };
async function measure(): Promise<Measured> {
  const moved: number[] = [];
  for (let round = 0; round < 5; round++) moved.push(await numbering());
  return { moved, ms: await latency(), read: await reading() };
}

/** Lays events behind, a million at a time. */
async function layBehind(count: number): Promise<void> {
  for (let done = 0; done < count; done += 1_000_000) {
    await admin.query(
      `insert into accord.event (tenant, sequence, at, time, id, type, key, body)
        select tenant, last + n, c.at, now(), uuidv7(), 'RELATIONSHIP_CREATED', 'car/' || n % 97, $2::jsonb
        from accord.event_counter c, generate_series(1, $1::int) n where tenant like 'bench%'`,
      [1_000_000 / TENANTS, body],
    );
    await admin.query('update accord.event_counter set last = last + $1::int', [1_000_000 / TENANTS]);
  }
  await admin.query('analyze accord.event');
}

const empty = await measure();
const rows: [string, Measured][] = [['nothing behind', empty]];
if (HISTORY > 0) {
  await layBehind(HISTORY);
  rows.push([`${HISTORY.toLocaleString('en')} events behind`, await measure()]);
}
table(
  ['', 'numbered a second', 'commit to reader p50 ms', 'p95', 'p99', 'read a second'],
  rows.map(([name, { moved, ms, read }]) => [
    ...[name, Math.round(percentile(moved, 0.5)), percentile(ms, 0.5).toFixed(1), percentile(ms, 0.95).toFixed(1)],
    ...[percentile(ms, 0.99).toFixed(1), Math.round(read)],
  ]),
);
const p50 = percentile(empty.ms, 0.5);
target('commit to reader at 200 events a second', 'p50 ≤ 20 ms', `${p50.toFixed(1)} ms`, p50 <= 20);
console.log(`  numbering: ${noise(empty.moved)}`);
if (HISTORY > 0) {
  const ratio = percentile((rows[1] as [string, Measured])[1].moved, 0.5) / percentile(empty.moved, 0.5);
  target('numbering with events behind', '≥ 0.7 of an empty log', ratio.toFixed(2), ratio >= 0.7);
}
await admin.end();
await installation.close();
