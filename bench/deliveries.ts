/**
 * Measures deliveries on a Postgres that syncs: one worker (`accord serve`, a process of its own) and an endpoint on this machine,
 * ten tenants with a lane each. This process is the server that writes the events: it numbers them and tells the worker.
 */
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { Pool } from 'undici';
import { sql } from '../server/core/db/sql.ts';
import { parseCidrs } from '../server/core/outbound/addresses.ts';
import { insertEvents } from '../server/events/index.ts';
import { putSubscription } from '../server/subscriptions/actions.ts';
import type { SubscriptionSpec } from '../server/subscriptions/schema.ts';
import { answer, createInstallation, startProcess, stopped, writer } from './installation.ts';
import { median, noise, percentile, table, target } from './report.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    history: { type: 'string', default: '1000000' },
    only: { type: 'string', multiple: true },
  },
});
const ROUNDS = Number(values.rounds);
const HISTORY = Number(values.history);
const TENANTS = 10;
const HANGING = 5;
const DELIVERED = 20_000;
const PER_SECOND = 200;
const SECONDS = 6;
const REPLAYED = 100_000;
const FLOOR = 'a durable insert and a request';
const isWanted = (part: string) => values.only === undefined || values.only.includes(part);

const start = async (mode: string) => {
  const child = fork(join(import.meta.dirname, 'delivery-process.ts'), [mode]);
  return { child, said: await answer<number>(child) };
};
const [endpoint, bare] = await Promise.all([start('endpoint'), start('bare')]);
const url = `http://127.0.0.1:${endpoint.said}`;
const installation = await createInstallation({ durable: true });
const { services, adminUrl } = installation;
const { events, database, eventHints } = services;
const admin = new pg.Client({ connectionString: adminUrl });
await admin.connect();
await admin.query('create table public.bench_floor (n integer); grant insert on public.bench_floor to public');
const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
const [codes, hanging] = [names('bench', TENANTS), names('hang', HANGING)];
for (const code of [...codes, ...hanging]) {
  await installation.tenant(code);
  const spec: SubscriptionSpec = {
    ...{ endpoint: `${url}/${codes.includes(code) ? 'ok' : 'hang'}`, eventTypes: ['RELATIONSHIP_*'], handshake: false },
    ...{ format: 'cloudevents', maxPerSecond: 1000, numberOfRetries: 9, paused: false },
  };
  const secrets = { signing: `whsec_${Buffer.alloc(32, 1).toString('base64')}` };
  const subscriptions = { ...services.subscriptions, allow: parseCidrs('127.0.0.0/8') };
  await putSubscription(subscriptions, writer, code, 'hooks', spec, { secrets });
}
const worker = await startProcess('accord', { ...installation.environment, ACCORD_OUTBOUND_ALLOW: '127.0.0.0/8' });
const data = `{"requestor":"client:bench","from":{"type":"user","id":"user-1"},"relationshipType":"may_use","to":{"type":"car","id":"car-1"}}`;

const fill = (prefix: string, tenants: number, count: number) =>
  admin.query(
    `insert into accord.event_inbox (tenant, time, type, key, body)
      select $1::text || n % $2::int, now(), 'RELATIONSHIP_CREATED', 'car/' || n % 97, $4::jsonb from generate_series(1, $3::int) n`,
    [prefix, tenants, count, data],
  );
const count = () => answer<number>(endpoint.child, 'count');

type Rate = { perSecond: number; cpuUs: number };
async function delivering(): Promise<Rate> {
  const [before, used] = [await count(), await worker.usage()];
  await fill('bench', TENANTS, DELIVERED);
  const started = performance.now();
  await events.mover.move();
  while ((await count()) < before + DELIVERED) {
    await sleep(20);
    if (performance.now() - started > 120_000) throw new Error(`${(await count()) - before} of ${DELIVERED} arrived`);
  }
  const seconds = (performance.now() - started) / 1000;
  await sleep(300); // the last steps are recorded
  return { perSecond: DELIVERED / seconds, cpuUs: ((await worker.usage()).cpuUs - used.cpuUs) / DELIVERED };
}

/** ms from the answer to the commit until the endpoint has the event. */
async function latency(): Promise<number[]> {
  const committed = new Map<string, bigint>();
  await answer(endpoint.child, 'time');
  const writing: Promise<void>[] = [];
  const run = `${performance.now()}`;
  let next = performance.now();
  for (let n = 0; n < PER_SECOND * SECONDS; n++) {
    const tenant = codes[n % TENANTS] as string;
    const key = `${run}/${n}`;
    const event = { tenant, type: 'RELATIONSHIP_CREATED', time: Date.now(), key, data: JSON.parse(data) };
    const write = database.tenant(tenant, (tx) => insertEvents(tx, [event]));
    writing.push(
      write.then(() => {
        committed.set(key, process.hrtime.bigint());
        eventHints.committed();
      }),
    );
    next += 1000 / PER_SECOND;
    await sleep(Math.max(0, next - performance.now()));
  }
  await Promise.all(writing);
  await sleep(1000);
  const received = new Map(await answer<[string, string][]>(endpoint.child, 'end'));
  const ms = [...committed].map(([key, at]) => {
    const got = received.get(key);
    return got === undefined ? Number.POSITIVE_INFINITY : Math.max(0, Number(BigInt(got) - at) / 1e6);
  });
  return ms;
}

/** ms of what any delivery takes on this machine now, at the same rate: a durable insert, and then a request to the endpoint. */
async function floor(): Promise<number[]> {
  const pool = new Pool(url, { connections: 8, pipelining: 1 });
  const all: number[] = [];
  const doing: Promise<void>[] = [];
  let next = performance.now();
  for (let n = 0; n < PER_SECOND * SECONDS; n++) {
    const tenant = codes[n % TENANTS] as string;
    const started = performance.now();
    const one = database.tenant(tenant, (tx) => tx.run(sql`insert into public.bench_floor (n) values (${n})`));
    doing.push(
      one.then(async () => {
        const { body } = await pool.request({ method: 'POST', path: '/ok', body: data });
        await body.dump();
        all.push(performance.now() - started);
      }),
    );
    next += 1000 / PER_SECOND;
    await sleep(Math.max(0, next - performance.now()));
  }
  await Promise.all(doing);
  await pool.close();
  return all;
}

async function beside(prefix: string, isOn: boolean): Promise<void> {
  const disabled = isOn ? 'null' : 'now()';
  await admin.query(
    `update accord.event_lane set disabled_at = ${disabled}, blocked_until = null, failures = 0, trips = 0, version = version + 1
      where tenant like $1`,
    [`${prefix}%`],
  );
  await sleep(isOn ? 1500 : 6500); // lanes notice when they are renewed
}

/** Lays events and attempts behind, all of the past that lanes have delivered. */
async function layBehind(total: number): Promise<void> {
  const each = Math.min(total, 500_000) / TENANTS;
  for (let done = 0; done < total; done += each * TENANTS) {
    await admin.query(
      `insert into accord.event (tenant, sequence, at, time, id, type, key, body)
        select tenant, last + n, c.at, now(), uuidv7(), 'RELATIONSHIP_CREATED', 'car/' || n % 97, $2::jsonb
        from accord.event_counter c, generate_series(1, $1::int) n where tenant like 'bench%'`,
      [each, data],
    );
    await admin.query(
      `insert into accord.delivery_attempt (tenant, subscription, sequence, number, ms, status, kind)
        select tenant, 'hooks', last + n, 1, 3, 204, 'l' from accord.event_counter, generate_series(1, $1::int) n where tenant like 'bench%'`,
      [each],
    );
    await admin.query(
      `with moved as (update accord.event_counter set last = last + $1::int where tenant like 'bench%' returning tenant, last)
        update accord.event_lane l set cursor = moved.last, version = version + 1 from moved where moved.tenant = l.tenant`,
      [each],
    );
  }
  await admin.query('analyze accord.event, accord.delivery_attempt');
  await admin.query('checkpoint');
}

const p50s: Record<string, number[]> = {};
const shown = (name: string, ms: readonly number[]) => {
  p50s[name] = [...(p50s[name] ?? []), percentile(ms, 0.5)];
  return [name, ...[0.5, 0.95, 0.99].map((p) => percentile(ms, p).toFixed(1))];
};
const ratioOf = (name: string, to: string) => median(p50s[name] ?? []) / median(p50s[to] ?? []);
const rates: Record<string, Rate[]> = {};
const rows: (string | number)[][] = [];
const add = (name: string, rate: Rate) => {
  rates[name] = [...(rates[name] ?? []), rate];
};
const of = (name: string, kind: keyof Rate) => (rates[name] ?? []).map((rate) => rate[kind]);

await fill('bench', TENANTS, 2000);
await events.mover.move();
await sleep(4000);
await worker.rest();
await worker.profile();
if (isWanted('throughput') || isWanted('history')) {
  for (let round = 0; round < ROUNDS; round++) {
    add('bare', await answer<Rate>(bare.child, url));
    add('delivered', await delivering());
  }
}
if (isWanted('latency')) {
  for (let round = 0; round < ROUNDS; round++) {
    rows.push(shown(FLOOR, await floor()));
    rows.push(shown('at 200 events a second', await latency()));
  }
}
if (isWanted('hanging')) {
  await fill('hang', HANGING, 10_000);
  await events.mover.move();
  for (let round = 0; round < ROUNDS; round++) {
    await beside('hang', false);
    rows.push(shown('no endpoint hangs', await latency()));
    await beside('hang', true);
    rows.push(shown('five endpoints hang', await latency()));
  }
  await beside('hang', false);
}
if (isWanted('history')) {
  const started = performance.now();
  await layBehind(HISTORY);
  console.log(`${HISTORY} events and attempts laid behind in ${Math.round((performance.now() - started) / 1000)} s`);
  await delivering();
  for (let round = 0; round < ROUNDS; round++) {
    add('bare, later', await answer<Rate>(bare.child, url));
    add('history', await delivering());
  }
}
if (isWanted('replay')) {
  if (!isWanted('history')) await layBehind(REPLAYED * TENANTS);
  for (let round = 0; round < Math.min(3, ROUNDS); round++) {
    rows.push(shown('no replay', await latency()));
    await admin.query(
      `insert into accord.event_replay (tenant, id, subscription, first, cursor, last, failed_only, created_at)
        select tenant, gen_random_uuid(), 'hooks', last - $1::int + 1, last - $1::int, last, false, now() from accord.event_counter where tenant = 'bench0'`,
      [REPLAYED],
    );
    await admin.query("update accord.event_lane set version = version + 1 where tenant = 'bench0'");
    await sleep(6500); // lanes notice when they are renewed
    rows.push(shown('beside a replay', await latency()));
    const replay = await admin.query<{ delivered: number; failed: number; seconds: number }>(
      `select delivered, failed, extract(epoch from now() - created_at)::float8 as seconds from accord.event_replay where finished_at is null`,
    );
    const [underWay] = replay.rows;
    if (underWay === undefined || underWay.delivered === 0) throw new Error('no replay was under way');
    console.log(
      `replay under way: ${underWay.delivered} delivered, ${underWay.failed} failed in ${underWay.seconds.toFixed(1)} s`,
    );
    await admin.query('delete from accord.event_replay');
    await sleep(1500);
  }
}

if (rows.length > 0) table(['ms from commit to received', 'p50', 'p95', 'p99'], rows);
for (const [name, all] of Object.entries(rates)) {
  const [perSecond, cpuUs] = [all.map((rate) => Math.round(rate.perSecond)), all.map((rate) => Math.round(rate.cpuUs))];
  console.log(`${name}: ${perSecond.join(', ')} a second; ${cpuUs.join(', ')} us of CPU each`);
}
if (isWanted('throughput')) {
  const measured = median(of('delivered', 'perSecond'));
  target('deliveries a second with 10 lanes', '≥ 1,500', measured.toFixed(0), measured >= 1500);
  const [cpu, bareCpu] = [median(of('delivered', 'cpuUs')), median(of('bare', 'cpuUs'))];
  const share = measured / median(of('bare', 'perSecond'));
  console.log(
    `  ${share.toFixed(2)} of bare undici's; ${cpu.toFixed(0)} us of CPU a delivery, bare ${bareCpu.toFixed(0)}`,
  );
  console.log(`  ${noise(of('delivered', 'perSecond'))}`);
}
if (isWanted('latency')) {
  const p50 = median(p50s['at 200 events a second'] ?? []);
  target('commit to received at 200 events a second', 'p50 ≤ 20 ms', `${p50.toFixed(1)} ms`, p50 <= 20);
  console.log(`  ${ratioOf('at 200 events a second', FLOOR).toFixed(1)} times ${FLOOR}`);
  console.log(`  ${noise(p50s['at 200 events a second'] ?? [])}`);
}
if (isWanted('hanging')) {
  const ratio = ratioOf('five endpoints hang', 'no endpoint hangs');
  target('p50 of others beside five endpoints that hang', '≤ 1.5 times', ratio.toFixed(2), ratio <= 1.5);
}
if (isWanted('history')) {
  const ratio = median(of('history', 'perSecond')) / median(of('delivered', 'perSecond'));
  target(`deliveries a second with ${HISTORY} events and attempts behind`, '≥ 0.7', ratio.toFixed(2), ratio >= 0.7);
  const machine = median(of('bare, later', 'perSecond')) / median(of('bare', 'perSecond'));
  console.log(`  bare undici meanwhile: ${machine.toFixed(2)} times as fast as before`);
}
if (isWanted('replay')) {
  const ratio = ratioOf('beside a replay', 'no replay');
  target(`p50 beside a replay of ${REPLAYED} events`, '≤ 2 times', ratio.toFixed(2), ratio <= 2);
}
await Promise.all([stopped(endpoint.child), stopped(bare.child)]);
await worker.stop();
await admin.end();
await installation.close();
