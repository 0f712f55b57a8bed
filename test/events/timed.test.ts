/** What time brings is told on time and once, whoever is killed and whatever the clock does; and not what no longer holds. */
import pg from 'pg';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { sql } from '../../server/core/db/sql.ts';
import { limits } from '../../server/core/limits.ts';
import { expiringRelationships } from '../../server/relationships/expiring.ts';
import { allEventTypes } from '../../server/room/catalogue.ts';
import { rooms } from '../../server/rooms.ts';
import { asAdmin } from '../helpers/admin.ts';
import { type Emitted, EmittedEvents } from '../helpers/emitted.ts';
import { createTestServer } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';
import { invitingTenant, WallClock } from '../invitations/inviting.ts';
import { sharingTenant } from '../relationships/sharing.ts';
import { tellAlways, tellOnce } from './timing.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
/** On the same database. */
const other = await createTestServer({}, server.db, clock);
const events = new EmittedEvents(server.db);
const types = allEventTypes(rooms);
const minute = 60_000;
const at = (ms: number) => new Date(clock.now() + ms).toISOString();
const admin = (text: string, values: unknown[] = []) => asAdmin(server.db.adminUrl, text, values);

/** What was told of since the last time. */
async function told() {
  await tellOnce(server);
  const taken = (await events.take()).filter(({ data }) => data.requestor === 'accord');
  for (const { type, data } of taken) {
    const schema = types.get(type)?.data;
    expect(schema && [...Value.Errors(schema, data)], type).toEqual([]);
  }
  return taken.map(({ type, data: { requestor: _, ...data } }) => ({ type, ...data }));
}
const expired = (id: string, expiresAt: string) => ({
  type: 'RELATIONSHIP_EXPIRED',
  ...{ from: { type: 'user', id: 'alice' }, relationshipType: 'drives', to: { type: 'car', id }, expiresAt },
});

afterEach(async () => void (await told()));

test('a relationship that expires is told once, at its instant and not before', async () => {
  const { relate } = await sharingTenant(server);
  const [soon, later] = [at(minute), at(2 * minute)];
  await relate('user/alice', 'drives', 'car/later', later);
  await relate('user/alice', 'drives', 'car/soon', soon);
  await relate('user/alice', 'drives', 'car/ever');
  clock.advance(minute - 1);
  expect(await told()).toEqual([]);
  clock.advance(1);
  expect(await told()).toEqual([expired('soon', soon)]);
  expect(await told()).toEqual([]);
  clock.advance(10 * minute);
  expect(await told()).toEqual([expired('later', later)]);
  // A clock that is set back tells nothing twice, and what is made meanwhile is told when it comes.
  clock.advance(-20 * minute);
  const between = at(minute);
  await relate('user/alice', 'drives', 'car/between', between);
  expect(await told()).toEqual([]);
  clock.advance(5 * minute);
  expect(await told()).toEqual([expired('between', between)]);
  clock.advance(30 * minute);
  expect(await told()).toEqual([]);
});

test('a relationship that was extended is told at its new instant, and one that was deleted is not', async () => {
  const { relate, backend } = await sharingTenant(server);
  for (const id of ['extended', 'endless', 'deleted', 'again'])
    await relate('user/alice', 'drives', `car/${id}`, at(minute));
  const first = at(minute);
  const later = at(3 * minute);
  await relate('user/alice', 'drives', 'car/extended', later);
  await relate('user/alice', 'drives', 'car/endless');
  await backend('DELETE', '/actors/user/alice/relationships/drives/car/deleted');
  clock.advance(minute);
  expect(await told()).toEqual([expired('again', first)]);
  // One that was told is made again.
  await relate('user/alice', 'drives', 'car/again', later);
  clock.advance(minute);
  expect(await told()).toEqual([]);
  clock.advance(minute);
  expect((await told()).map((event) => (event as { to?: unknown }).to)).toEqual(
    expect.arrayContaining([
      { type: 'car', id: 'again' },
      { type: 'car', id: 'extended' },
    ]),
  );
  expect(await told()).toEqual([]);
});

test('what is rolled back is told the next time, and one tenant does not hold up another', async () => {
  const [one, two] = [await sharingTenant(server), await sharingTenant(server)];
  const soon = at(minute);
  for (const { relate } of [one, two]) await relate('user/alice', 'drives', 'car/1', soon);
  clock.advance(minute);
  await admin(
    `create function public.fail() returns trigger language plpgsql as $$ begin raise exception 'killed'; end $$`,
  );
  await admin(`create trigger fail before insert on accord.event_inbox for each row
    when (new.tenant = '${one.tenant}' and new.type = 'RELATIONSHIP_EXPIRED') execute function public.fail()`);
  expect(await told()).toEqual([expired('1', soon)]);
  expect(server.observations).toContainEqual(
    expect.objectContaining({ kind: 'background_failed', task: `telling of expired relationships in ${one.tenant}` }),
  );
  await admin('drop trigger fail on accord.event_inbox');
  expect(await told()).toEqual([expired('1', soon)]);
  expect(await told()).toEqual([]);
});

test('two servers at the same time tell once, and more than timedEventsMax', async () => {
  const { tenant, relate } = await sharingTenant(server);
  await relate('user/alice', 'drives', 'car/0', at(minute));
  await admin(
    `insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id, expires_at)
      select $1, 'user', 'u' || n, 'drives', 'car', n, $2 from generate_series(1, $3::int) n`,
    [tenant, at(minute), 2 * limits.timedEventsMax],
  );
  clock.advance(minute);
  await Promise.all([tellOnce(server), tellOnce(other), tellOnce(server), tellOnce(other)]);
  await tellOnce(server);
  const ids = (await events.take()).flatMap(({ type, data }) =>
    type === 'RELATIONSHIP_EXPIRED' ? [(data.to as { id: string }).id] : [],
  );
  expect(ids.length).toBe(2 * limits.timedEventsMax + 1);
  expect(new Set(ids).size).toBe(ids.length);
});

test('a connection that is ended between the mark and the commit leaves both or neither', async () => {
  const { relate } = await sharingTenant(server);
  const soon = at(minute);
  await relate('user/alice', 'drives', 'car/1', soon);
  clock.advance(minute);
  const holder = new pg.Client({ connectionString: server.db.adminUrl });
  await holder.connect();
  // The event cannot be written while this holds the table: the mark is there, and is not committed.
  await holder.query('begin; lock table accord.event_inbox in share mode');
  const telling = tellOnce(server);
  const waiting = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'insert into accord.event_inbox%'`;
  await expect.poll(async () => (await admin(waiting)).length).toBe(1);
  await admin(`select pg_terminate_backend(pid) from (${waiting}) as w`);
  await telling;
  await holder.query('commit');
  await holder.end();
  expect(await told()).toEqual([expired('1', soon)]);
});

test('of running servers one tells it, at its instant and not before', async () => {
  const { tenant, relate } = await sharingTenant(server);
  const log = new EmittedEvents(server.db);
  const expiresAt = at(minute);
  await relate('user/alice', 'drives', 'car/1', expiresAt);
  const stops = [tellAlways(server), tellAlways(other)];
  const stop = () => Promise.all(stops.map((one) => one()));
  onTestFinished(async () => void (await stop()));
  clock.advance(minute);
  const found: { time: number }[] = [];
  const told = (one: Emitted) => one.tenant === tenant && one.type === 'RELATIONSHIP_EXPIRED';
  await until('the event', async () => found.push(...(await log.take()).filter(told)) > 0);
  expect(found.map(({ time }) => time)).toEqual([Date.parse(expiresAt)]);
  await stop();
  expect((await log.take()).filter(told)).toEqual([]);
});

test('an invitation that expires is told once; one that was used, declined or revoked is not', async () => {
  const { backend, invite, accept, path } = await invitingTenant(server);
  const open = await invite();
  const [accepted, declined, revoked] = [await invite(), await invite(), await invite()];
  await accept(backend, 'bob', accepted.requestToken);
  await backend('POST', path('/decline'), { body: { requestToken: declined.requestToken } });
  await backend('DELETE', path(`/${revoked.invitationId}`));
  const { expiresAt } = open;
  clock.advance(Date.parse(expiresAt) - clock.now() - 1);
  expect(await told()).toEqual([]);
  clock.advance(1);
  const target = { type: 'car', id: '1' };
  expect(await told()).toEqual([
    {
      type: 'INVITATION_EXPIRED',
      invitationId: open.invitationId,
      target,
      expiresAt: new Date(expiresAt).toISOString(),
    },
  ]);
  expect(await told()).toEqual([]);
});

test('a disabled tenant is told when it is active again', async () => {
  const { tenant, relate } = await sharingTenant(server);
  const soon = at(minute);
  await relate('user/alice', 'drives', 'car/1', soon);
  clock.advance(minute);
  await admin(`update accord.tenant set state = 'disabled' where tenant = $1`, [tenant]);
  expect(await told()).toEqual([]);
  await admin(`update accord.tenant set state = 'active' where tenant = $1`, [tenant]);
  expect(await told()).toEqual([expired('1', soon)]);
});

const Read = Type.Object({ whole: Type.Integer(), fetched: Type.Integer() });

test('a tenant with many relationships that expire later is not gone through', async () => {
  const { tenant } = await sharingTenant(server);
  await admin(
    `insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id, expires_at, told_expiry)
      select $1, 'user', 'u' || n, 'drives', 'car', 'c' || n, i, case when n % 2 = 0 then i end from generate_series(1, 50000) n,
        lateral (select $2::timestamptz + make_interval(mins => case when n % 2 = 0 then -n else n + 5 end)) as at (i)`,
    [tenant, at(0)],
  );
  await admin('vacuum analyze accord.relationship');
  const due = await server.services.database.system(async (tx) => {
    await tx.run(sql`set local plan_cache_mode = force_generic_plan`);
    const reads = () =>
      tx.one(
        Read,
        sql`select seq_tup_read::int as whole, coalesce(idx_tup_fetch, 0)::int as fetched from pg_stat_xact_user_tables
          where relname = 'relationship'`,
      );
    const before = await reads();
    await expiringRelationships(server.services.writes).tenantsDue(tx, at(0));
    const after = await reads();
    return { whole: after.whole - before.whole, fetched: after.fetched - before.fetched };
  });
  expect(due).toEqual({ whole: 0, fetched: 0 });
});
