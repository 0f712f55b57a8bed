/** GET /{tenant}/actors/{type} and /{tenant}/resources/{type} on a whole server with a real Postgres. */
import fc from 'fast-check';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { sql } from '../../server/core/db/sql.ts';
import { limits } from '../../server/core/limits.ts';
import { rangeOf } from '../../server/relationships/entity-filter.ts';
import { createTestServer } from '../helpers/server.ts';
import { sharingTenant } from './sharing.ts';

const server = await createTestServer();
const own = await sharingTenant(server, [
  ['/actor-types/user', { attributes: { level: { type: 'number' }, active: { type: 'boolean' } } }],
  ['/actor-types/robot', {}],
  ['/resource-types/car', { attributes: { color: { type: 'string' }, since: { type: 'date' } } }],
  ['/relationship-types/user:drives:car', {}],
]);
const { backend } = own;
for (const [id, body] of [
  ['anna', { level: 1, active: true }],
  ['annika', { level: 2, active: true }],
  ['bob', { level: 1 }],
  ['auth0|5f', { level: 1 }],
] as const)
  await backend('PUT', `/actors/user/${encodeURIComponent(id)}`, { body });
await backend('PUT', '/resources/car/a', { body: { color: 'red=dark', since: '2020-01-01T00:00:00Z' } });
await own.relate('user/unregistered', 'drives', 'car/unregistered');

const list = async (query: string, of = '/actors/user') => (await backend('GET', `${of}${query}`)).body;
const idsOf = async (query: string) => (await list(query)).actors.map(({ id }: { id: string }) => id);
const refusal = async (query: string, of = '/actors/user') => {
  const { status, body } = await backend('GET', `${of}${query}`);
  return [status, body.errors[0].pointer, body.errors[0].detail];
};

describe('a list', () => {
  test('has the registered ones with their attributes, in the byte order of their ids', async () => {
    expect(await list('')).toEqual({
      actors: [
        { id: 'anna', type: 'user', level: 1, active: true },
        { id: 'annika', type: 'user', level: 2, active: true },
        { id: 'auth0|5f', type: 'user', level: 1 },
        { id: 'bob', type: 'user', level: 1 },
      ],
    });
    expect(await list('', '/resources/car')).toEqual({
      resources: [{ id: 'a', type: 'car', color: 'red=dark', since: '2020-01-01T00:00:00Z' }],
    });
    expect(await list('', '/actors/robot')).toEqual({ actors: [] });
  });

  test('by prefix and by attributes, all of which must hold', async () => {
    expect(await idsOf('?prefix=ann')).toEqual(['anna', 'annika']);
    expect(await idsOf('?prefix=auth0%7C')).toEqual(['auth0|5f']);
    expect(await idsOf('?prefix=anna%F4%8F%BF%BF')).toEqual([]);
    expect(await idsOf('?attribute=level%3D1')).toEqual(['anna', 'auth0|5f', 'bob']);
    expect(await idsOf('?attribute=level%3D1&attribute=active%3Dtrue')).toEqual(['anna']);
    expect(await idsOf('?prefix=ann&attribute=level%3D2')).toEqual(['annika']);
    expect((await list('?attribute=color%3Dred%3Ddark', '/resources/car')).resources).toHaveLength(1);
    expect((await list('?attribute=color%3Dred', '/resources/car')).resources).toEqual([]);
  });

  test('page by page: Link and cursor lead on with the same filters, and a cursor belongs to its list', async () => {
    const first = await backend('GET', '/actors/user?limit=1&prefix=a&attribute=level%3D1');
    expect(first.body.actors.map(({ id }: { id: string }) => id)).toEqual(['anna']);
    const next = /^<([^>]+)>; rel="next"$/.exec(String(first.headers.link))?.[1] ?? '';
    const second = (await backend('GET', next.slice(`/${own.tenant}`.length))).body;
    expect(second).toEqual({ actors: [{ id: 'auth0|5f', type: 'user', level: 1 }] });
    expect(await refusal(`?cursor=${first.body.cursor}`, '/resources/car')).toContain('/query/cursor');
  });

  test.each([
    ['?attribute=colour%3Dred', 'This field must name an attribute that the type user declares: level, active.'],
    ['?attribute=levle%3D1', 'did you mean level?'],
    ['?attribute=level', 'must be NAME=VALUE'],
    ['?attribute=level%3Dhigh', 'a number as the value of level'],
    ['?attribute=level%3D', 'a number as the value of level'],
    ['?attribute=active%3Dyes', 'true or false as the value of active'],
    ['?attribute=level%3D1&attribute=level%3D2', 'once'],
  ])('%s is refused with where and why', async (query, detail) => {
    const [status, pointer, said] = await refusal(query);
    expect([status, pointer]).toEqual([400, '/query/attribute']);
    expect(String(said).toLowerCase()).toContain(detail.toLowerCase().replace('this field ', ''));
  });

  test('of a type that there is not, or of the other kind, is refused', async () => {
    const said = async (path: string) => {
      const [status, pointer, detail] = await refusal('', path);
      expect([status, pointer]).toEqual([400, '/params/type']);
      return detail;
    };
    expect(await said('/actors/usr')).toBe('There is no actor type usr. Did you mean user?');
    expect(await said('/actors/submarine')).toBe('There is no actor type submarine.');
    expect(await said('/actors/car')).toBe('There is no actor type car. car is a resource type.');
    expect(await said('/resources/robot')).toBe('There is no resource type robot. robot is an actor type.');
    const { body } = await backend('PUT', '/resources/cra/a', { body: {} });
    expect(body.detail).toBe('There is no resource type cra. Did you mean car?');
  });

  test('names the attributes that there are, if there are any', async () => {
    expect(await refusal('?attribute=colour%3Dred', '/actors/robot')).toEqual([
      400,
      '/query/attribute',
      'Must name an attribute that the type robot declares; it declares none.',
    ]);
  });

  test('with a cursor of another list says so in detail too', async () => {
    const { body } = await backend('GET', '/actors/user?cursor=xx');
    expect(body.detail).toBe('/query/cursor: Not a cursor of this list.');
  });

  test('is not for users', async () => {
    expect((await (await own.user('anna'))('GET', '/actors/user')).status).toBe(403);
  });
});

describe('bounds', () => {
  test('attributeFiltersMax filters are accepted, one more is refused', async () => {
    const names = Array.from({ length: limits.attributeFiltersMax + 1 }, (_, i) => `a${i}`);
    const attributes = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
    const wide = await sharingTenant(server, [['/actor-types/user', { attributes }]]);
    const query = (count: number) =>
      `?${names
        .slice(0, count)
        .map((name) => `attribute=${name}%3Dx`)
        .join('&')}`;
    expect((await wide.backend('GET', `/actors/user${query(limits.attributeFiltersMax)}`)).status).toBe(200);
    expect((await wide.backend('GET', `/actors/user${query(names.length)}`)).body.errors[0].pointer).toBe(
      '/query/attribute',
    );
  });

  test('entitiesScannedMax are looked at for a page; one more is on the next, and nothing is left out', async () => {
    const wide = await sharingTenant(server, [['/actor-types/user', { attributes: { last: { type: 'boolean' } } }]]);
    const count = limits.entitiesScannedMax + 1;
    await server.services.database.tenant(wide.tenant, (tx) =>
      tx.run(sql`insert into accord.entity (tenant, type, id, attributes)
        select ${wide.tenant}, 'user', lpad(n::text, 5, '0'), jsonb_build_object('last', n >= ${count - 1}::int)
        from generate_series(1, ${count}::int) n`),
    );
    const first = (await wide.backend('GET', '/actors/user?attribute=last%3Dtrue')).body;
    expect(first.actors.map(({ id }: { id: string }) => Number(id))).toEqual([count - 1]);
    const second = (await wide.backend('GET', `/actors/user?attribute=last%3Dtrue&cursor=${first.cursor}`)).body;
    expect(second.actors.map(({ id }: { id: string }) => Number(id))).toEqual([count]);
    expect(second.cursor).toBeUndefined();
    const none = (await wide.backend('GET', '/actors/user?attribute=last%3Dfalse&limit=1&prefix=02001')).body;
    expect(none).toEqual({ actors: [] });
  });

  test('rows come by the primary key, in its order: nothing is sorted', async () => {
    const plan = await server.services.database.tenant(own.tenant, async (tx) => {
      await tx.run(sql`set local enable_seqscan = off`);
      const rows = await tx.many(
        Type.Object({ 'QUERY PLAN': Type.String() }),
        sql`explain (costs off) select id, row_number() over (order by id) from (select id from accord.entity
          where tenant = ${own.tenant} and type = 'user' and id > '' and id >= 'a' and id < 'b' order by id limit 100) as rows`,
      );
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    });
    expect(plan).toMatch(/Index.*Scan using entity_pkey/);
    expect(plan).not.toContain('Sort');
  });
});

test('the range of a prefix holds exactly the texts that begin with it, in UTF-8 order', () => {
  const text = fc.string({ unit: 'binary', maxLength: 4 }).filter((one) => one.isWellFormed());
  const order = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
  fc.assert(
    fc.property(text, text, fc.boolean(), (prefix, other, joined) => {
      const id = joined ? prefix + other : other;
      const { from, until } = rangeOf(prefix);
      const within = order(id, from) >= 0 && (until === undefined || order(id, until) < 0);
      expect(within).toBe(id.startsWith(prefix));
    }),
  );
  expect(rangeOf('\u{10ffff}').until).toBeUndefined();
  expect(rangeOf('a\ud7ff').until).toBe('a\ue000');
});
