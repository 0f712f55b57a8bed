/** Lanes on a real Postgres: one owner each, turns of tenants, what happens when a server stops, dies or sleeps. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../../server/core/clock.ts';
import { type LaneTable, lockLane, ofTenants, takeLanes } from '../../../server/core/db/lanes.ts';
import { sql } from '../../../server/core/db/sql.ts';
import { Lanes, type LanesOptions, type OwnedLane } from '../../../server/core/lanes/lanes.ts';
import { limits } from '../../../server/core/limits.ts';
import type { Observation } from '../../../server/core/observe.ts';
import { asAdmin } from '../../helpers/admin.ts';
import { createTestDatabase } from '../../helpers/database.ts';
import { untilPasses } from '../../helpers/wait.ts';

const { database, adminUrl } = await createTestDatabase();
await asAdmin(
  adminUrl,
  `create table accord.test_lane (tenant text collate "C", lane text, todo integer not null default 0, done integer not null default 0,
    owner uuid, owned_until timestamptz, version integer not null default 0, primary key (tenant, lane));
  select accord.isolate('accord.test_lane')`,
);
const table: LaneTable = {
  table: 'test_lane',
  id: 'lane',
  due: (tenants) =>
    sql`select tenant, lane as id from accord.test_lane where todo > done ${ofTenants(tenants, sql`tenant`)}`,
};
const add = (tenant: string, lane: string, todo: number) =>
  asAdmin(adminUrl, 'insert into accord.test_lane (tenant, lane, todo) values ($1, $2, $3)', [tenant, lane, todo]);
const rows = (tenant: string) =>
  asAdmin<{ lane: string; todo: number; done: number; owner: string | null; owned_until: Date | null }>(
    adminUrl,
    'select * from accord.test_lane where tenant = $1 order by lane',
    [tenant],
  );

/** Does one of what is to do, fenced. @returns whether there was something */
async function doOne(lane: OwnedLane, me: string): Promise<boolean> {
  return database.tenant(lane.tenant, async (tx) => {
    if ((await lockLane(tx, table, me, lane)) === undefined) {
      lane.lose();
      return false;
    }
    const changed = await tx.run(
      sql`update accord.test_lane set done = done + 1 where tenant = ${lane.tenant} and lane = ${lane.id} and done < todo`,
    );
    return changed > 0;
  });
}

const running: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0)) await stop();
  await asAdmin(adminUrl, 'delete from accord.test_lane');
});
function start(work?: (lane: OwnedLane, me: string) => Promise<number | undefined>, more: Partial<LanesOptions> = {}) {
  const me = randomUUID();
  const stopping = new AbortController();
  const observations: Observation[] = [];
  const usual = async (lane: OwnedLane) => {
    while (!lane.ending.aborted && (await doOne(lane, me)));
    return undefined;
  };
  const lanes = new Lanes({
    ...{ name: 'testing', table, database, clock: systemClock, me, observe: (one) => observations.push(one) },
    work: (lane) => (work ? work(lane, me) : usual(lane)),
    ...more,
  });
  const ran = lanes.run(stopping.signal);
  const stop = async () => {
    stopping.abort();
    await ran;
  };
  running.push(stop);
  return { me, lanes, stop, observations };
}
const tenantName = () => `t${randomUUID().slice(0, 8)}`;

test('a lane is worked by one server at a time, and what is to do is done', async () => {
  const tenant = tenantName();
  await Promise.all(['a', 'b', 'c'].map((lane) => add(tenant, lane, 30)));
  const inside = new Map<string, number>();
  const work = async (lane: OwnedLane, me: string) => {
    const now = (inside.get(lane.id) ?? 0) + 1;
    inside.set(lane.id, now);
    expect(now).toBe(1);
    while (!lane.ending.aborted && (await doOne(lane, me)));
    inside.set(lane.id, now - 1);
    return undefined;
  };
  start(work);
  start(work);
  await untilPasses('rows(tenant)).map(({ done }) => done) to equal [30, 30, 30]', async () =>
    expect((await rows(tenant)).map(({ done }) => done)).toEqual([30, 30, 30]),
  );
});

test('news are worked at once, by a server that owns the lane and by one that does not yet', async () => {
  const [tenant, other] = [tenantName(), tenantName()];
  const done = async (of: string) => (await rows(of))[0]?.done;
  await add(other, 'a', 1);
  // Time stands still: after its first look this server never polls again.
  let now = performance.now();
  const { lanes } = start(undefined, { clock: { now: () => Date.now(), monotonic: () => now } });
  await untilPasses('done(other) to be 1', async () => expect(await done(other)).toBe(1));
  await add(tenant, 'a', 1);
  lanes.hint([tenant]);
  await untilPasses('done(tenant) to be 1', async () => expect(await done(tenant)).toBe(1));
  await asAdmin(adminUrl, 'update accord.test_lane set todo = 2 where tenant = $1', [tenant]);
  lanes.hint([tenant]);
  await untilPasses('done(tenant) to be 2', async () => expect(await done(tenant)).toBe(2));
  // Another lane of the tenant is looked for once more laneHintMs after the last time.
  await add(tenant, 'b', 1);
  lanes.hint([tenant]);
  now += limits.laneHintMs;
  await untilPasses('rows(tenant))[1]?.done to be 1', async () => expect((await rows(tenant))[1]?.done).toBe(1));
});

test('what nobody told of is found by polling each lanePollMs', async () => {
  const tenant = tenantName();
  start();
  await sleep(100); // its first poll is mostly over then; whoever finds it, it is found
  await add(tenant, 'a', 1);
  await untilPasses('rows(tenant))[0]?.done to be 1', async () => expect((await rows(tenant))[0]?.done).toBe(1));
});

test('a server that stops finishes what it has begun and gives its lanes up at once', async () => {
  const tenant = tenantName();
  await add(tenant, 'a', 1000);
  const first = start();
  await untilPasses('rows(tenant))[0]?.done to be greater than 5', async () =>
    expect((await rows(tenant))[0]?.done).toBeGreaterThan(5),
  );
  await first.stop();
  const [row] = await rows(tenant);
  expect(row).toMatchObject({ owner: null });
  expect(row?.done).toBeLessThan(1000);
  start();
  await untilPasses('rows(tenant))[0]?.done to be 1000', async () => expect((await rows(tenant))[0]?.done).toBe(1000));
});

test('what does not end within laneEndMsMax is cut off, and loses its lane laneRecordMsMax later', async () => {
  const tenant = tenantName();
  await add(tenant, 'a', 1);
  const cut = Promise.withResolvers<number>();
  const lost = Promise.withResolvers<number>();
  const { stop } = start(async (lane) => {
    const begun = performance.now();
    await new Promise((resolve) => lane.cut.addEventListener('abort', resolve));
    cut.resolve(performance.now() - begun);
    expect(lane.lost.aborted).toBe(false);
    await new Promise((resolve) => lane.lost.addEventListener('abort', resolve));
    lost.resolve(performance.now() - begun);
    return undefined;
  });
  await untilPasses('rows(tenant))[0]?.owner to be null', async () =>
    expect((await rows(tenant))[0]?.owner).not.toBeNull(),
  );
  await stop();
  expect(await cut.promise).toBeGreaterThan(limits.laneEndMsMax - 100);
  // From the beginning, too: a busy machine may tell of the first one late.
  expect(await lost.promise).toBeGreaterThan(limits.laneEndMsMax + limits.laneRecordMsMax - 100);
  expect((await rows(tenant))[0]).toMatchObject({ owner: null, done: 0 });
});

test('the lane of a server that died is taken over after laneOwnedMs, and the fence refuses who wakes up', async () => {
  const tenant = tenantName();
  await add(tenant, 'a', 1);
  const dead = randomUUID();
  const taking = { limit: 10, ownedMs: limits.laneOwnedMs, tenants: [tenant] };
  const [taken] = await database.system((tx) => takeLanes(tx, table, dead, taking));
  expect(taken).toMatchObject({ tenant, id: 'a' });
  const other = randomUUID();
  expect(await database.system((tx) => takeLanes(tx, table, other, taking))).toEqual([]);
  const until = `select extract(epoch from owned_until - clock_timestamp())::float8 as left from accord.test_lane where tenant = $1`;
  const [{ left } = { left: 0 }] = await asAdmin<{ left: number }>(adminUrl, until, [tenant]);
  expect(left * 1000).toBeLessThanOrEqual(limits.laneOwnedMs);
  expect(left * 1000).toBeGreaterThan(limits.laneOwnedMs - 5000);
  await asAdmin(adminUrl, `update accord.test_lane set owned_until = now() - interval '1 ms' where tenant = $1`, [
    tenant,
  ]);
  expect(await database.system((tx) => takeLanes(tx, table, other, taking))).toHaveLength(1);
  const locked = (me: string) => database.tenant(tenant, (tx) => lockLane(tx, table, me, { tenant, id: 'a' }));
  expect(await locked(dead)).toBeUndefined();
  expect(await locked(other)).toBe(0);
});

test('one of each tenant is taken before a second one of any, at most lanesOwnedMax', async () => {
  const [large, small] = [tenantName(), tenantName()];
  await asAdmin(
    adminUrl,
    `insert into accord.test_lane (tenant, lane, todo) select $1, 'l' || n, 1 from generate_series(1, $2::int) n`,
    [large, limits.lanesOwnedMax + 1],
  );
  await add(small, 'a', 1);
  const me = randomUUID();
  const taken = await database.system((tx) =>
    takeLanes(tx, table, me, { limit: limits.lanesOwnedMax, ownedMs: 60_000, tenants: [large, small] }),
  );
  expect(taken).toHaveLength(limits.lanesOwnedMax);
  expect(taken.filter(({ tenant }) => tenant === small)).toHaveLength(1);
});

test('when lanes wait for a server that owns lanesOwnedMax, those that had laneTurnMs end: none starves', async () => {
  const [large, late] = [tenantName(), tenantName()];
  await asAdmin(
    adminUrl,
    `insert into accord.test_lane (tenant, lane, todo) select $1, 'l' || n, 1 from generate_series(1, $2::int) n`,
    [large, limits.lanesOwnedMax],
  );
  // Endpoints that never answer.
  const { lanes, me } = start(async (lane, me) => {
    if (lane.tenant === late) await doOne(lane, me);
    else await new Promise((resolve) => lane.ending.addEventListener('abort', resolve));
    return undefined;
  });
  await untilPasses('lanes.size to be limits.lanesOwnedMax', () => expect(lanes.size).toBe(limits.lanesOwnedMax));
  await add(late, 'a', 1);
  await untilPasses('rows(late))[0] to match object { done: 1 }', async () =>
    expect((await rows(late))[0]).toMatchObject({ done: 1 }),
  );
  expect((await rows(large)).filter(({ owner }) => owner === me).length).toBeGreaterThan(limits.lanesOwnedMax - 5);
});

test('a lane without work is given up after laneIdleMs, and a changed version wakes one', async () => {
  const tenant = tenantName();
  let now = performance.now();
  const clock = { now: () => Date.now(), monotonic: () => now };
  await add(tenant, 'a', 1);
  const versions: number[] = [];
  const work = async (lane: OwnedLane, me: string) => {
    versions.push(lane.version);
    await doOne(lane, me);
    return undefined;
  };
  const { lanes } = start(work, { clock });
  await untilPasses('versions to equal [0]', () => expect(versions).toEqual([0]));
  await asAdmin(adminUrl, 'update accord.test_lane set version = 1 where tenant = $1', [tenant]);
  now += limits.laneOwnedMs / 3;
  lanes.hint([]);
  await untilPasses('versions to equal [0, 1]', () => expect(versions).toEqual([0, 1]));
  // Idle since `now`: renewed meanwhile, and then given up.
  for (let passed = 0; passed < limits.laneIdleMs; passed += limits.laneOwnedMs / 3) {
    expect(lanes.size).toBe(1);
    const [before] = await rows(tenant);
    now += limits.laneOwnedMs / 3;
    lanes.hint([]);
    await untilPasses('a renewal, or the end', async () =>
      expect((await rows(tenant))[0]?.owned_until).not.toEqual(before?.owned_until),
    );
  }
  await untilPasses('lanes.size to be 0', () => expect(lanes.size).toBe(0));
  expect((await rows(tenant))[0]?.owner).toBeNull();
});

test('an error is observed and the lane goes on', async () => {
  const tenant = tenantName();
  await add(tenant, 'a', 1);
  let failed = false;
  const { observations } = start(async (lane, me) => {
    if (!failed) {
      failed = true;
      throw new Error('broken');
    }
    await doOne(lane, me);
    return undefined;
  });
  await untilPasses('rows(tenant))[0]?.done to be 1', async () => expect((await rows(tenant))[0]?.done).toBe(1));
  expect(observations).toMatchObject([{ kind: 'background_failed', task: `testing of ${tenant}/a` }]);
});
