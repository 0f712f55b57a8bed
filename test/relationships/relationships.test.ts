/** /{tenant}/actors, /{tenant}/resources and relationships on a whole server with a real Postgres. */
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { identifier, sql } from '../../server/core/db/sql.ts';
import { limits } from '../../server/core/limits.ts';
import { eraseTenant } from '../../server/tenants/index.ts';
import { TestClock } from '../core/auth/test-clock.ts';
import { random } from '../facts/graphs.ts';
import { seed } from '../helpers/seed.ts';
import { createTestServer, manifestWriter } from '../helpers/server.ts';
import { sharingTenant } from './sharing.ts';

const clock = new TestClock();
const server = await createTestServer({}, undefined, clock);
const cars = await sharingTenant(server);
const { backend, relate } = cars;

describe('making a relationship', () => {
  test('answers 201 with its place, and the list of the actor has it, as the specification shows', async () => {
    const made = await relate('user/alice', 'drives', 'car/1');
    expect([made.status, made.body]).toEqual([201, { relationshipType: 'drives', to: { type: 'car', id: '1' } }]);
    expect(made.headers.location).toBe(`/${cars.tenant}/actors/user/alice/relationships/drives/car/1`);
    expect(made.headers['accord-revision']).toMatch(/^r\d+$/);
    const list = await backend('GET', '/actors/user/alice/relationships');
    expect([list.status, list.body]).toEqual([200, [{ relationshipType: 'drives', to: { id: '1', type: 'car' } }]]);
    const other = await backend('GET', '/resources/car/1/relationships');
    expect(other.body).toEqual([{ relationshipType: 'drives', from: { id: 'alice', type: 'user' } }]);
  });

  test('again it is 200 and gets the expiry that is sent', async () => {
    await relate('user/again', 'drives', 'car/1');
    const soon = new Date(clock.now() + 60_000).toISOString();
    const again = await relate('user/again', 'drives', 'car/1', soon);
    expect([again.status, again.body.expiresAt]).toEqual([200, soon]);
  });

  test.each([
    [
      'an unknown relationship type',
      { relationshipType: 'flies', to: { type: 'car', id: '1' } },
      'type_unknown',
      '/relationshipType',
    ],
    [
      'a type that does not lead there',
      { relationshipType: 'drives', to: { type: 'group', id: '1' } },
      'type_unknown',
      '/relationshipType',
    ],
    [
      'an unknown field',
      { relationshipType: 'drives', to: { type: 'car', id: '1' }, expiresat: 'x' },
      'invalid_request',
      '/expiresat',
    ],
    [
      'an instant that is none',
      { relationshipType: 'drives', to: { type: 'car', id: '1' }, expiresAt: '2030-02-30T00:00:00Z' },
      'invalid_request',
      '/expiresAt',
    ],
    [
      'an instant in the past',
      { relationshipType: 'drives', to: { type: 'car', id: '1' }, expiresAt: '2020-01-01T00:00:00Z' },
      'invalid_request',
      '/expiresAt',
    ],
    ['an empty id', { relationshipType: 'drives', to: { type: 'car', id: '' } }, 'invalid_request', '/to/id'],
    [
      'a control character',
      { relationshipType: 'drives', to: { type: 'car', id: 'a\nb' } },
      'invalid_request',
      '/to/id',
    ],
    ['two dots', { relationshipType: 'drives', to: { type: 'car', id: '..' } }, 'invalid_request', '/to/id'],
    ['no target', { relationshipType: 'drives' }, 'invalid_request', '/to'],
  ])('%s is 400 and says where', async (_, body, code, pointer) => {
    const answer = await backend('POST', '/actors/user/bad/relationships', { body });
    expect([answer.status, answer.body.code]).toEqual([400, code]);
    expect(answer.body.errors.map((place: { pointer: string }) => place.pointer)).toContain(pointer);
    expect((await backend('GET', '/actors/user/bad/relationships')).status).toBe(404);
  });

  test(`ids of ${limits.entityIdBytesMax} bytes on both ends are held, one byte more is refused (entityIdBytesMax)`, async () => {
    const below = random(seed);
    const long = (n: number) =>
      Array.from({ length: n }, () => String.fromCharCode(33 + below(14)))
        .join('')
        .replaceAll('/', '-')
        .replaceAll('.', '-');
    const [from, to] = [long(limits.entityIdBytesMax), long(limits.entityIdBytesMax)];
    expect((await relate(`user/${from}`, 'drives', `car/${to}`)).status).toBe(201);
    const list = await backend('GET', `/actors/user/${encodeURIComponent(from)}/relationships`);
    expect(list.body).toEqual([{ relationshipType: 'drives', to: { id: to, type: 'car' } }]);
    expect((await relate(`user/${from}x`, 'drives', 'car/1')).status).toBe(400);
    expect((await relate('user/x', 'drives', `car/${to}x`)).status).toBe(400);
    const wide = 'é'.repeat(limits.entityIdBytesMax / 2);
    expect((await relate('user/x', 'drives', `car/${wide}`)).status).toBe(201);
    expect((await relate('user/x', 'drives', `car/${wide}é`)).body.detail).toContain(
      `at most ${limits.entityIdBytesMax} bytes`,
    );
  });
});

describe('the list of an actor', () => {
  test('ids as providers make them come raw and encoded, and a JSON Content-Type without a body is fine', async () => {
    await relate('user/auth0|5f7c8ec7c33c6c004bbafe82', 'drives', 'car/7');
    const wanted = [{ relationshipType: 'drives', to: { id: '7', type: 'car' } }];
    for (const id of ['auth0|5f7c8ec7c33c6c004bbafe82', 'auth0%7C5f7c8ec7c33c6c004bbafe82']) {
      const headers = { 'content-type': 'application/json' };
      const answer = await backend('GET', `/actors/user/${id}/relationships`, { headers });
      expect([answer.status, answer.body]).toEqual([200, wanted]);
    }
  });

  test('is 404 when there are none, also of an unknown type', async () => {
    for (const path of ['user/nobody', 'robot/1']) {
      const answer = await backend('GET', `/actors/${path}/relationships`);
      expect([answer.status, answer.body.code]).toEqual([404, 'no_relationships']);
    }
    expect((await backend('GET', '/resources/car/nobody/relationships')).body).toEqual([]);
  });

  test('is complete without a limit, and in pages with one', async () => {
    const count = limits.exportPageItemsMax + 3;
    await server.services.database.tenant(cars.tenant, (tx) =>
      tx.run(sql`insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id)
        select ${cars.tenant}, 'user', 'wide', 'drives', 'car', 'w' || n from generate_series(1, ${count}::int) n`),
    );
    const all = await backend('GET', '/actors/user/wide/relationships');
    expect(all.body).toHaveLength(count);
    expect(new Set(all.body.map((entry: { to: { id: string } }) => entry.to.id)).size).toBe(count);
    const seen: string[] = [];
    let path: string | undefined = '/actors/user/wide/relationships?limit=200';
    while (path !== undefined) {
      const page: Awaited<ReturnType<typeof backend>> = await backend('GET', path);
      seen.push(...page.body.map((entry: { to: { id: string } }) => entry.to.id));
      path = /^<\/[^/]+([^>]+)>; rel="next"$/.exec(String(page.headers.link ?? ''))?.[1];
    }
    expect(seen).toHaveLength(count);
    expect(new Set(seen).size).toBe(count);
    const bad = await backend('GET', '/actors/user/wide/relationships?limit=2&cursor=xyz');
    expect([bad.status, bad.body.errors[0].pointer]).toEqual([400, '/query/cursor']);
  });
});

describe('expiry', () => {
  test('holds until the millisecond before, and nowhere from that instant on', async () => {
    await cars.policy(
      'car:expiry',
      'package p\ndefault outcome := "deny"\noutcome := "allow" if {some r in input.graph.subject; r.to.id == "exp"}\nreason := "none" if count(input.graph.resource) == 0',
    );
    const at = clock.now() + 10_000;
    expect((await relate('user/exp', 'drives', 'car/exp', new Date(at).toISOString())).status).toBe(201);
    const decide = () => cars.decide({ type: 'user', id: 'exp' }, 'car:expiry', { type: 'car', id: 'exp' });
    clock.advance(9999);
    expect((await decide()).outcome).toBe('allow');
    expect((await backend('GET', '/actors/user/exp/relationships')).status).toBe(200);
    expect((await backend('GET', '/resources/car/exp/relationships')).body).toHaveLength(1);
    clock.advance(1);
    expect(await decide()).toMatchObject({ outcome: 'deny', reason: 'none' });
    expect((await backend('GET', '/actors/user/exp/relationships')).status).toBe(404);
    expect((await backend('GET', '/resources/car/exp/relationships')).body).toEqual([]);
    expect((await backend('GET', '/relationships/export')).text).not.toContain('"exp"');
    expect((await backend('DELETE', '/actors/user/exp/relationships/drives/car/exp')).status).toBe(404);
    expect((await relate('user/exp', 'drives', 'car/exp')).status).toBe(201);
  });
});

describe('maxPerTarget', () => {
  test('twenty at once for one target make one, and 19 are told', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => relate(`user/o${n}`, 'is_owner_of', 'car/one')),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const refused = answers.filter(({ status }) => status === 409);
    expect(refused.map(({ body }) => body.code)).toEqual(Array(19).fill('relationship_limit_reached'));
    expect(refused[0]?.body.detail).toBe('car one already has the maximum of 1 is_owner_of relationship.');
    expect((await backend('GET', '/resources/car/one/relationships')).body).toHaveLength(1);
  });

  test('the same one again is no second, and an expired one gives its place up', async () => {
    const at = new Date(clock.now() + 1000).toISOString();
    expect((await relate('user/a', 'is_owner_of', 'car/two', at)).status).toBe(201);
    expect((await relate('user/a', 'is_owner_of', 'car/two', at)).status).toBe(200);
    expect((await relate('user/b', 'is_owner_of', 'car/two')).status).toBe(409);
    clock.advance(1000);
    expect((await relate('user/b', 'is_owner_of', 'car/two')).status).toBe(201);
  });
});

describe('deleting', () => {
  test('one: 204, then 404', async () => {
    await relate('user/del', 'drives', 'car/1');
    const path = '/actors/user/del/relationships/drives/car/1';
    expect((await backend('DELETE', path)).status).toBe(204);
    expect((await backend('DELETE', path)).body.code).toBe('relationship_not_found');
  });

  test('by query: those that it names, and never all by accident', async () => {
    await relate('user/q1', 'drives', 'car/q');
    await relate('user/q2', 'drives', 'car/q');
    await relate('user/q1', 'member_of', 'group/q');
    expect((await backend('DELETE', '/relationships')).status).toBe(400);
    expect((await backend('DELETE', '/relationships?fromId=q1')).body.errors[0].pointer).toBe('/query/fromType');
    expect((await backend('DELETE', '/relationships?from=q1')).status).toBe(400);
    expect((await backend('DELETE', '/relationships?toType=car&toId=q')).body).toEqual({ deleted: 2 });
    expect((await backend('GET', '/actors/user/q1/relationships')).body).toHaveLength(1);
  });

  test('more than deletePageItemsMax at once are all deleted', async () => {
    const count = limits.deletePageItemsMax + 1;
    await server.services.database.tenant(cars.tenant, (tx) =>
      tx.run(sql`insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id)
        select ${cars.tenant}, 'user', 'd' || n, 'drives', 'car', 'mass' from generate_series(1, ${count}::int) n`),
    );
    expect((await backend('DELETE', '/relationships?toType=car&toId=mass')).body).toEqual({ deleted: count });
    expect((await backend('GET', '/resources/car/mass/relationships')).body).toEqual([]);
  });

  test('an entity takes its relationships with it, both ways', async () => {
    await relate('group/g', 'owns', 'car/5');
    await relate('user/m', 'member_of', 'group/g');
    expect((await backend('DELETE', '/actors/group/g')).status).toBe(204);
    expect((await backend('GET', '/actors/user/m/relationships')).status).toBe(404);
    expect((await backend('DELETE', '/actors/group/g')).body.code).toBe('entity_not_found');
  });
});

describe('entities', () => {
  test('hold the attributes that their type declares', async () => {
    const body = { color: 'red', since: '2020-01-01T00:00:00Z' };
    expect((await backend('PUT', '/resources/car/9', { body })).body).toEqual({ ...body, id: '9', type: 'car' });
    expect((await backend('GET', '/resources/car/9')).body).toEqual({ ...body, id: '9', type: 'car' });
    expect((await backend('GET', '/actors/car/9')).status).toBe(404);
    expect((await backend('PUT', '/actors/car/9', { body })).body.code).toBe('type_unknown');
    await backend('PUT', '/resources/car/9', { body: { color: 'blue', id: '9', type: 'car' } });
    expect((await backend('GET', '/resources/car/9')).body).toEqual({ color: 'blue', id: '9', type: 'car' });
  });

  test.each([
    ['one that is not declared', { color: 'red', colour: 'red' }, '/colour'],
    ['another type', { color: 1 }, '/color'],
    ['a date that is none', { color: 'red', since: 'yesterday' }, '/since'],
    ['a missing one', {}, '/color'],
    ['another id', { color: 'red', id: '10' }, '/id'],
    ['a prototype', { color: 'red', constructor: 'x' }, '/constructor'],
    ['a value past attributeCharsMax', { color: 'x'.repeat(limits.attributeCharsMax + 1) }, '/color'],
  ])('%s is refused by name', async (_, body, pointer) => {
    const answer = await backend('PUT', '/resources/car/bad', { body });
    expect([answer.status, answer.body.code, answer.body.errors[0].pointer]).toEqual([
      400,
      'attributes_invalid',
      pointer,
    ]);
  });

  test('an attribute of attributeCharsMax characters is held', async () => {
    const color = 'x'.repeat(limits.attributeCharsMax);
    expect((await backend('PUT', '/resources/car/long', { body: { color } })).status).toBe(200);
  });
});

test('each write is audited once, by whom', async () => {
  const other = await sharingTenant(server);
  await other.relate('user/a', 'drives', 'car/1');
  await other.backend('DELETE', '/actors/user/a/relationships/drives/car/1');
  await other.backend('PUT', '/actors/user/a', { body: { level: 2 } });
  const entries = await server.services.database.tenant(other.tenant, (tx) =>
    tx.many(
      Type.Object({
        action: Type.String(),
        object_kind: Type.String(),
        object_name: Type.String(),
        actor: Type.Unknown(),
      }),
      sql`select action, object_kind, object_name, actor from accord.audit_entry where actor = '"client:backend"' order by id`,
    ),
  );
  expect(entries.map(({ action, object_kind, object_name }) => `${action} ${object_kind} ${object_name}`)).toEqual([
    'create relationship user/a drives car/1',
    'delete relationship user/a drives car/1',
    'put actor user/a',
  ]);
});

test("another tenant's relationships are not there", async () => {
  const other = await sharingTenant(server);
  await relate('user/iso', 'drives', 'car/iso');
  expect((await other.backend('GET', '/actors/user/iso/relationships')).status).toBe(404);
  expect((await other.backend('DELETE', '/relationships?fromType=user&fromId=iso')).body).toEqual({ deleted: 0 });
  await other.policy('car:iso', 'package p\noutcome := {"n": count(input.graph.subject)}');
  expect(await other.decide({ type: 'user', id: 'iso' }, 'car:iso', {})).toEqual({ outcome: { n: 0 } });
  expect((await backend('GET', '/actors/user/iso/relationships')).body).toHaveLength(1);
});

test('an erased tenant leaves nothing, and its successor of the same code begins with nothing', async () => {
  const other = await sharingTenant(server);
  await other.relate('user/a', 'drives', 'car/1');
  await other.backend('PUT', '/actors/user/a', { body: { level: 2 } });
  await eraseTenant(server.services.tenants, manifestWriter, other.tenant);
  const tables = ['relationship', 'entity', 'entity_type', 'relationship_type', 'relationship_import'];
  for (const table of tables) {
    const { count } = await server.services.database.system((tx) =>
      tx.one(
        Type.Object({ count: Type.Integer() }),
        sql`select count(*)::int as count from accord.${identifier(table)} where tenant = ${other.tenant}`,
      ),
    );
    expect([table, count]).toEqual([table, 0]);
  }
});
