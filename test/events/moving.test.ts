/** The numbered log on a real Postgres: no gaps, the order of each key, one mover at a time, and nothing of what was rolled back. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Clock } from '../../server/core/clock.ts';
import { sql } from '../../server/core/db/sql.ts';
import { limits } from '../../server/core/limits.ts';
import { insertEvents } from '../../server/events/index.ts';
import { EventMover } from '../../server/events/mover.ts';
import { EventReaders } from '../../server/events/readers.ts';
import { removeOld } from '../../server/events/retention.ts';
import { markRemoved, moveEvents, removeEvents } from '../../server/events/store.ts';
import type { NewEvent } from '../../server/room/events.ts';
import { asAdmin, waitingForLock } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { until, WAIT_MS_MAX } from '../helpers/wait.ts';

const server = await createTestServer();
const { database, clock } = server.services;
const observe = () => {};
const admin = <Row extends object>(text: string, values: unknown[] = []) =>
  asAdmin<Row>(server.db.adminUrl, text, values);
const event = (tenant: string, key: string, n: number): NewEvent => {
  return { tenant, type: 'NOTE', time: 0, key, data: { requestor: 'test', n } };
};
const emit = (tenant: string, key: string, n: number) =>
  database.tenant(tenant, (tx) => insertEvents(tx, [event(tenant, key, n)]));
const log = (tenant: string) =>
  admin<{ sequence: number; key: string; n: number; at: string }>(
    `select sequence::int, key, (body ->> 'n')::int as n, at::text from accord.event where tenant = $1 and type = 'NOTE' order by sequence`,
    [tenant],
  );
const waiting = async () => (await admin<{ n: number }>('select count(*)::int as n from accord.event_inbox'))[0]?.n;
const mover = (own: Clock = clock) => new EventMover({ database, clock: own, observe }, () => {});
/** Moves until nothing waits: another mover may be at work. */
async function moveAll(one = mover()) {
  await until('all events to be moved', async () => {
    await one.move();
    return (await waiting()) === 0;
  });
}
/** A tenant whose own events are moved. */
async function fresh() {
  const tenant = await server.tenant();
  await moveAll();
  return {
    tenant,
    first:
      (await admin<{ last: number }>('select last::int from accord.event_counter where tenant = $1', [tenant]))[0]
        ?.last ?? 0,
  };
}

test('numbers have no gaps and follow the order of each key, while several movers are at work', async () => {
  const tenants = await Promise.all([fresh(), fresh()]);
  let running = true;
  const movers = [mover(), mover(), mover()].map(async (one) => {
    while (running) {
      await one.move();
      await turn();
    }
  });
  await Promise.all(
    tenants.flatMap(({ tenant }) =>
      ['a', 'b', 'c', 'd'].map(async (key) => {
        for (let n = 0; n < 40; n++) await emit(tenant, key, n);
      }),
    ),
  );
  running = false;
  await Promise.all(movers);
  await moveAll();
  for (const { tenant, first } of tenants) {
    const rows = await log(tenant);
    expect(rows.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 160 }, (_, i) => first + 1 + i));
    for (const key of ['a', 'b', 'c', 'd']) {
      expect(rows.filter((row) => row.key === key).map(({ n }) => n)).toEqual(Array.from({ length: 40 }, (_, i) => i));
    }
    const at = rows.map((row) => Date.parse(row.at));
    expect(at).toEqual(at.toSorted((a, b) => a - b));
  }
});

test('what is rolled back is no event, and a tenant writes no event of another', async () => {
  const [{ tenant }, other] = [await fresh(), await fresh()];
  const failed = database.tenant(tenant, async (tx) => {
    await insertEvents(tx, [event(tenant, 'a', 1)]);
    throw new Error('undone');
  });
  await expect(failed).rejects.toThrow('undone');
  const foreign = database.tenant(tenant, (tx) => insertEvents(tx, [event(other.tenant, 'a', 1)]));
  await expect(foreign).rejects.toThrow(/row-level security/);
  await moveAll();
  expect([await log(tenant), await log(other.tenant)]).toEqual([[], []]);
});

test('eventsMovedMax are numbered in one transaction, and the others in the next', async () => {
  const { tenant } = await fresh();
  const fill = (count: number) =>
    admin(
      `insert into accord.event_inbox (tenant, time, type, key, body)
        select $1, now(), 'NOTE', 'k', jsonb_build_object('n', n) from generate_series(1, $2::int) n`,
      [tenant, count],
    );
  const move = () => database.systemPipelined((tx) => moveEvents(tx, 0));
  const most = limits.eventsMovedMax;
  await fill(most);
  expect((await move()).moved).toBe(most);
  await fill(most + 1);
  expect([(await move()).moved, (await move()).moved, (await move()).moved]).toEqual([most, 1, 0]);
});

test('one moves at a time, and who comes second says so', async () => {
  const { tenant } = await fresh();
  await emit(tenant, 'a', 1);
  await database.system(async (tx) => {
    expect(await moveEvents(tx, 0)).toMatchObject({ mine: true, moved: 1 });
    expect(await database.systemPipelined((other) => moveEvents(other, 0))).toMatchObject({ mine: false, moved: 0 });
  });
  expect(await log(tenant)).toHaveLength(1);
});

test('events of a tenant that is gone get no number', async () => {
  await admin(
    `insert into accord.event_inbox (tenant, time, type, key, body) values ('nowhere', now(), 'NOTE', 'k', '{}')`,
  );
  await moveAll();
  expect(await log('nowhere')).toEqual([]);
});

test('a transaction that took its number early is found until eventInboxWatermarkMs, and later by a look at all', async () => {
  const { tenant } = await fresh();
  let now = 0;
  const own = mover({ now: clock.now, monotonic: () => now });
  const early = (n: number) =>
    admin(
      `insert into accord.event_inbox (n, tenant, time, type, key, body) overriding system value
        values ($1::bigint, $2, now(), 'NOTE', 'early', '{"n": 1}')`,
      [n, tenant],
    );
  await emit(tenant, 'a', 1);
  await own.move();
  now = limits.eventInboxWatermarkMs;
  await early(1);
  await own.move();
  expect(await waiting()).toBe(0);
  now = limits.eventInboxWatermarkMs + 1;
  await early(2);
  await own.move();
  expect(await waiting()).toBe(1);
  now += 60_000;
  await own.move();
  expect(await waiting()).toBe(0);
});

test('a day without a partition is made, as after a jump of the clock', async () => {
  const { tenant } = await fresh();
  const day = (await admin<{ day: string }>(`select to_char(now() at time zone 'UTC', 'YYYY_MM_DD') as day`))[0]?.day;
  await admin(`drop table accord.event_${day}`);
  await emit(tenant, 'a', 1);
  await moveAll();
  expect(await log(tenant)).toHaveLength(1);
});

test('a reader of one server is woken by the mover of another', async () => {
  const { tenant } = await fresh();
  const [here, elsewhere] = [server.services.events.readers, new EventReaders({ database, observe })];
  const end = elsewhere.begin(tenant);
  const watch = elsewhere.watch(tenant, new AbortController().signal);
  await watch.next(WAIT_MS_MAX); // it listens: a connection wakes all
  const woken = watch.next(10 * WAIT_MS_MAX); // longer than this test may take
  await emit(tenant, 'a', 1);
  await moveAll(new EventMover({ database, clock, observe }, (tenants) => here.wake(tenants)));
  await woken;
  watch.end();
  end();
  await elsewhere.close();
});

test('eventReadersMax readers of a tenant wait at once, and one more is refused', async () => {
  const { tenant } = await fresh();
  const { readers } = server.services.events;
  const ends = Array.from({ length: limits.eventReadersMax }, () => readers.begin(tenant));
  expect(() => readers.begin(tenant)).toThrowError(expect.objectContaining({ code: 'event_readers_busy' }));
  ends[0]?.();
  ends[0]?.();
  ends.push(readers.begin(tenant));
  expect(() => readers.begin(tenant)).toThrow();
  for (const end of ends) end();
});

test('retention removes what is older, eventsRemovedMax in one statement, says so first, and drops days that are empty', async () => {
  const { tenant, first } = await fresh();
  const short = await server.tenant({ events: { retentionDays: 1, graceEndingDays: 7 } });
  const most = limits.eventsRemovedMax;
  await admin(
    `create table accord.event_2026_01_02 partition of accord.event for values from ('2026-01-02 00:00+00') to ('2026-01-03 00:00+00')`,
  );
  await admin(
    `insert into accord.event select $1, n, '2026-01-02 12:00+00', now(), uuidv7(), 'NOTE', 'k', '{}' from generate_series($2::int, $3::int) n`,
    [tenant, first + 1, first + most + 1],
  );
  await admin('update accord.event_counter set last = $2 where tenant = $1', [tenant, first + most + 1]);
  await database.system((tx) => markRemoved(tx, tenant, 14));
  const counter = async () =>
    (
      await admin<{ last: number; removed: number }>(
        'select last::int, removed::int from accord.event_counter where tenant = $1',
        [tenant],
      )
    )[0];
  expect(await counter()).toEqual({ last: first + most + 1, removed: first + most + 1 });
  expect(await database.system((tx) => removeEvents(tx, tenant, 14))).toBe(most);
  expect(await database.system((tx) => removeEvents(tx, tenant, 14))).toBe(1);
  const day = () => admin(`select to_regclass('accord.event_2026_01_02') as day`);
  expect(await day()).toEqual([{ day: expect.any(String) }]);
  await moveAll();
  await admin(
    `create table accord.event_2026_01_03 partition of accord.event for values from ('2026-01-03 00:00+00') to ('2026-01-04 00:00+00')`,
  );
  await admin(`insert into accord.event select $1, 1000, '2026-01-03 12:00+00', now(), uuidv7(), 'NOTE', 'k', '{}'`, [
    short,
  ]);
  await admin('update accord.event_counter set last = 1000 where tenant = $1', [short]);
  await removeOld({ database, observe });
  expect(await day()).toEqual([{ day: null }]);
  expect(await log(short)).toEqual([]);
});

test('old counts that cannot be removed yet hold up nobody who reads events', async () => {
  const { tenant } = await fresh();
  await admin(
    `create table accord.event_2026_01_04 partition of accord.event for values from ('2026-01-04 00:00+00') to ('2026-01-05 00:00+00')`,
  );
  await admin(`insert into accord.event_count select $1, now() - interval '33 days', 'NOTE', '', 1`, [tenant]);
  const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = database.system(async (tx) => {
    await tx.run(sql`select from accord.event_count where tenant = ${tenant} for update`);
    locked.resolve();
    await released.promise;
  });
  await locked.promise;
  const removing = removeOld({ database, observe });
  await expect.poll(() => waitingForLock(server.db.adminUrl, 'delete from accord.event_count')).toBe(1);
  expect(await admin('select count(*) from accord.event')).toHaveLength(1);
  released.resolve();
  await Promise.all([holding, removing]);
  const left = `select (select count(*)::int from accord.event_count where hour < now() - interval '32 days') as counts,
    to_regclass('accord.event_2026_01_04') as day`;
  expect(await admin(left)).toEqual([{ counts: 0, day: null }]);
});
