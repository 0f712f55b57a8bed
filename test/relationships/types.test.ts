/** The Config API of types. */
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { sql } from '../../server/core/db/sql.ts';
import { limits } from '../../server/core/limits.ts';
import { deleteRelationshipType, putRelationshipType, relationshipTypeSpec } from '../../server/types/index.ts';
import { withRelationships } from '../../server/types/store.ts';
import { createTestServer, manifestWriter } from '../helpers/server.ts';
import { configClient } from '../policies/config-client.ts';
import { sharingTenant } from './sharing.ts';

const server = await createTestServer();
const cars = await sharingTenant(server);
const { config } = cars;

describe('lists', () => {
  test('are complete, and paged with a limit', async () => {
    expect((await config('GET', '/actor-types')).body).toEqual({
      resources: ['group', 'user'],
      links: { self: `/tenants/${cars.tenant}/actor-types` },
    });
    expect((await config('GET', '/resource-types')).body.resources).toEqual(['car']);
    const all = (await config('GET', '/relationship-types')).body.resources;
    expect(all).toEqual(['group:owns:car', 'user:drives:car', 'user:is_owner_of:car', 'user:member_of:group']);
    const seen: string[] = [];
    let query = '?limit=1';
    for (;;) {
      const { body } = await config('GET', `/relationship-types${query}`);
      seen.push(...body.resources);
      if (body.cursor === undefined) break;
      query = `?limit=1&cursor=${body.cursor}`;
    }
    expect(seen).toEqual(all);
  });
});

describe('actor and resource types', () => {
  test('are read as they were put, with entity tag and owner', async () => {
    const { status, body, headers } = await config('GET', '/resource-types/car');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      name: 'car',
      attributes: { color: { type: 'string', required: true }, since: { type: 'date', required: false } },
      managedBy: 'api',
      updatedBy: expect.stringContaining('member:'),
    });
    expect(headers.etag).toBe(`"${body.revision}"`);
    expect((await config('GET', '/actor-types/car')).body.code).toBe('type_not_found');
  });

  test('If-Match is obeyed, the same again is no revision, dryRun stores nothing', async () => {
    const put = (body: object, headers = {}, query = '') =>
      config('PUT', `/actor-types/robot${query}`, { body, headers });
    expect((await put({}, { 'if-match': '*' })).status).toBe(412);
    expect((await put({}, {}, '?dryRun=true')).body).toEqual({});
    expect((await config('GET', '/actor-types/robot')).status).toBe(404);
    const first = await put({});
    expect((await put({})).headers.etag).toBe(first.headers.etag);
    expect((await put({ attributes: { model: { type: 'string' } } }, { 'if-match': '"1"' })).status).toBe(412);
    const second = await put({ attributes: { model: { type: 'string' } } }, { 'if-match': String(first.headers.etag) });
    expect(second.headers.etag).not.toBe(first.headers.etag);
    expect((await config('DELETE', '/actor-types/robot', { headers: { 'if-match': '"1"' } })).status).toBe(412);
    const gone = await config('DELETE', '/actor-types/robot');
    expect([gone.status, gone.body]).toEqual([200, {}]);
    expect((await config('DELETE', '/actor-types/robot')).body.code).toBe('type_not_found');
  });

  test.each([
    ['a name of both kinds', '/actor-types/car', {}, 409, 'type_name_taken'],
    ['a name with a colon', '/actor-types/a:b', {}, 400, 'type_name_invalid'],
    [
      'a name past typeNameCharsMax',
      `/actor-types/${'a'.repeat(limits.typeNameCharsMax + 1)}`,
      {},
      400,
      'type_name_invalid',
    ],
    ['an attribute called id', '/actor-types/x', { attributes: { id: { type: 'string' } } }, 400, 'invalid_request'],
    [
      'an attribute of an unknown type',
      '/actor-types/x',
      { attributes: { a: { type: 'list' } } },
      400,
      'invalid_request',
    ],
    [
      'an attribute past attributeNameCharsMax',
      '/actor-types/x',
      { attributes: { ['a'.repeat(limits.attributeNameCharsMax + 1)]: { type: 'string' } } },
      400,
      'invalid_request',
    ],
    [
      'an attribute name with a space',
      '/actor-types/x',
      { attributes: { 'a b': { type: 'string' } } },
      400,
      'invalid_request',
    ],
    [
      'more than typeAttributesMax',
      '/actor-types/x',
      {
        attributes: Object.fromEntries(
          Array.from({ length: limits.typeAttributesMax + 1 }, (_, i) => [`a${i}`, { type: 'string' }]),
        ),
      },
      400,
      'invalid_request',
    ],
    ['an unknown field', '/actor-types/x', { name: 'x' }, 400, 'invalid_request'],
    ['a type of ends that are not there', '/relationship-types/user:likes:film', {}, 400, 'type_unknown'],
    ['two names', '/relationship-types/user:likes', {}, 400, 'type_name_invalid'],
    [
      'a way that is not there',
      '/relationship-types/user:sees:car',
      { inheritedThrough: [{ relationship: 'user:flies:group', from: 'group:owns:car' }] },
      400,
      'type_unknown',
    ],
    [
      'a way that leads elsewhere',
      '/relationship-types/user:sees:car',
      { inheritedThrough: [{ relationship: 'user:drives:car', from: 'group:owns:car' }] },
      400,
      'invalid_request',
    ],
    [
      'an invitation of 31 days',
      '/relationship-types/user:sees:car',
      { invitation: { ttl: 'P31D' } },
      400,
      'invalid_request',
    ],
    [
      'a redirect to nowhere',
      '/relationship-types/user:sees:car',
      { invitation: { redirectUris: ['http://evil.example'] } },
      400,
      'invalid_request',
    ],
    ['no more than one per target', '/relationship-types/user:sees:car', { maxPerTarget: 0 }, 400, 'invalid_request'],
  ])('%s is refused', async (_, path, body, status, code) => {
    const answer = await config('PUT', path, { body });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    if (status === 400 && code === 'invalid_request') expect(answer.body.errors[0].pointer).toMatch(/^\//);
  });

  test('names and attributes as long as they may be are taken', async () => {
    const name = 'a'.repeat(limits.typeNameCharsMax);
    const attributes = Object.fromEntries(
      Array.from({ length: limits.typeAttributesMax }, (_, i) => [
        `${'b'.repeat(limits.attributeNameCharsMax - 2)}${10 + i}`,
        { type: 'string' },
      ]),
    );
    expect((await config('PUT', `/actor-types/${name}`, { body: { attributes } })).status).toBe(200);
    expect((await config('PUT', `/relationship-types/${name}:${name}:${name}`, { body: {} })).status).toBe(200);
  });
});

describe('relationship types', () => {
  test('are read with their defaults', async () => {
    await config('PUT', '/relationship-types/user:borrows:car', { body: { inverse: 'lent_to', invitation: {} } });
    expect((await config('GET', '/relationship-types/user:borrows:car')).body).toMatchObject({
      from: 'user',
      name: 'borrows',
      to: 'car',
      inverse: 'lent_to',
      invitation: { enabled: true, ttl: 'P7D', binding: 'none', maxUses: 1 },
    });
  });

  test('may be inherited through themselves', async () => {
    const body = { inheritedThrough: [{ relationship: 'group:part_of:group', from: 'group:part_of:group' }] };
    expect((await config('PUT', '/relationship-types/group:part_of:group', { body })).status).toBe(200);
    expect((await config('DELETE', '/relationship-types/group:part_of:group')).status).toBe(200);
  });
});

describe('types that are inherited through one another', () => {
  const through = (relationship: string, from: string) => ({ body: { inheritedThrough: [{ relationship, from }] } });
  const leads = '/relationship-types/group:leads:group';
  const helps = '/relationship-types/group:helps:group';

  test('are made one by one: the first is put without its ways at first, and taken apart in the same way', async () => {
    const byHelps = through('group:helps:group', 'group:helps:group');
    const byLeads = through('group:leads:group', 'group:leads:group');
    expect((await config('PUT', leads, byHelps)).body.code).toBe('type_unknown');
    for (const [path, request] of [
      [leads, { body: {} }],
      [helps, byLeads],
      [leads, byHelps],
    ] as const)
      expect((await config('PUT', path, request)).status).toBe(200);
    expect((await config('DELETE', leads)).body).toMatchObject({
      code: 'type_in_use',
      detail: expect.stringContaining('group:helps:group, which is inherited through it'),
    });
    await config('PUT', leads, { body: {} });
    for (const path of [helps, leads]) expect((await config('DELETE', path)).status).toBe(200);
  });

  test('that are retired and have nothing left go with the last of them', async () => {
    const tenant = await sharingTenant(server);
    const key = (name: string) => ({ from: 'group', name, to: 'group' });
    const spec = (name: string) => ({
      inheritedThrough: [{ relationship: `group:${name}:group`, from: `group:${name}:group` }],
    });
    const services = server.services.types;
    const writer = manifestWriter;
    const peers = (name: string) => (name === 'group:b:group' ? { writer, spec: spec('a') } : undefined);
    await putRelationshipType(services, writer, tenant.tenant, key('a'), spec('b'), { peers });
    const names = async () => (await tenant.config('GET', '/relationship-types')).body.resources as string[];
    expect(await names()).toEqual(expect.arrayContaining(['group:a:group', 'group:b:group']));
    await tenant.relate('group/x', 'b', 'group/y');
    await deleteRelationshipType(services, writer, tenant.tenant, key('a'));
    await deleteRelationshipType(services, writer, tenant.tenant, key('b'));
    expect(await names()).toEqual(expect.arrayContaining(['group:a:group', 'group:b:group']));
    expect((await tenant.config('DELETE', '/relationship-types/group:a:group')).body.code).toBe('type_in_use');
    await tenant.backend('DELETE', '/actors/group/x/relationships/b/group/y');
    expect((await tenant.config('DELETE', '/relationship-types/group:a:group')).status).toBe(200);
    expect(await names()).not.toContain('group:b:group');
  });
});

describe('types in use', () => {
  test('are not removed while something of them is left', async () => {
    const other = await sharingTenant(server);
    await other.relate('user/a', 'drives', 'car/1');
    await other.backend('PUT', '/actors/user/a', { body: {} });
    const remove = (path: string) => other.config('DELETE', path);
    expect((await remove('/relationship-types/user:drives:car')).body).toMatchObject({
      status: 409,
      code: 'type_in_use',
      detail: expect.stringContaining('relationships of the type'),
    });
    expect((await remove('/relationship-types/group:owns:car')).body.detail).toContain('user:drives:car');
    expect((await remove('/actor-types/user')).body.detail).toContain('user:drives:car');
    await other.backend('DELETE', '/actors/user/a/relationships/drives/car/1');
    for (const name of ['user:drives:car', 'user:is_owner_of:car', 'user:member_of:group'])
      expect((await remove(`/relationship-types/${name}`)).status).toBe(200);
    expect((await remove('/actor-types/user')).body.detail).toContain('actors or resources');
    await other.backend('DELETE', '/actors/user/a');
    expect((await remove('/actor-types/user')).status).toBe(200);
  });

  test('a type and its first relationship at once: either the one or the other', async () => {
    const other = await sharingTenant(server);
    for (let i = 0; i < 10; i++) {
      await other.config('PUT', '/relationship-types/user:races:car', { body: {} });
      const [made, removed] = await Promise.all([
        other.relate('user/r', 'races', 'car/1'),
        other.config('DELETE', '/relationship-types/user:races:car'),
      ]);
      expect([made.status, removed.status]).toSatisfy(([a, b]) => (a === 201 && b === 409) || (a === 400 && b === 200));
      await other.backend('DELETE', '/relationships?relationshipType=races');
    }
  });

  test("a manifest's goes retired: what is there holds, nothing new is made, and it can be put again", async () => {
    const other = await sharingTenant(server);
    const { types } = server.services;
    const key = { from: 'user', name: 'keeps', to: 'car' };
    const put = () =>
      putRelationshipType(types, manifestWriter, other.tenant, key, relationshipTypeSpec(other.tenant, key, {}));
    await put();
    expect((await other.config('PUT', '/relationship-types/user:keeps:car', { body: {} })).body.code).toBe(
      'owned_by_manifest',
    );
    await other.relate('user/k', 'keeps', 'car/1');
    await deleteRelationshipType(types, manifestWriter, other.tenant, key);
    expect((await other.config('GET', '/relationship-types/user:keeps:car')).body).toMatchObject({
      retired: true,
      managedBy: 'api',
    });
    expect((await other.backend('GET', '/actors/user/k/relationships')).status).toBe(200);
    expect((await other.relate('user/l', 'keeps', 'car/1')).body.code).toBe('relationship_type_retired');
    await put();
    expect((await other.relate('user/l', 'keeps', 'car/1')).status).toBe(201);
    await other.backend('DELETE', '/relationships?relationshipType=keeps');
    await deleteRelationshipType(types, manifestWriter, other.tenant, key);
    expect((await other.config('GET', '/relationship-types/user:keeps:car')).status).toBe(404);
  });
});

test('who may: editors write, viewers and support read', async () => {
  for (const [role, writes] of [
    ['security-admin', true],
    ['config-editor', true],
    ['config-viewer', false],
    ['support', false],
  ] as const) {
    const call = await configClient(server, cars.tenant, role);
    expect((await call('GET', '/actor-types/user')).status).toBe(200);
    expect((await call('PUT', `/actor-types/by_${role}`, { body: {} })).status).toBe(writes ? 200 : 403);
    expect((await call('DELETE', `/actor-types/by_${role}`)).status).toBe(writes ? 200 : 403);
  }
});

test('a tenant has typesMax types of each table, and not one more', async () => {
  const other = await sharingTenant(server);
  await server.services.database.tenant(other.tenant, async (tx) => {
    const values = sql`'{}', 1, '{"source":"api"}', 'test'`;
    await tx.run(sql`insert into accord.entity_type (tenant, name, kind, spec, revision, owner, updated_by)
      select ${other.tenant}, 't' || n, 'actor', ${values} from generate_series(1, ${limits.typesMax - 4}::int) n`);
    await tx.run(sql`insert into accord.relationship_type (tenant, from_type, name, to_type, spec, revision, owner, updated_by)
      select ${other.tenant}, 'user', 'r' || n, 'car', ${values} from generate_series(1, ${limits.typesMax - 5}::int) n`);
  });
  for (const [last, past] of [
    ['/actor-types/last', '/resource-types/past'],
    ['/relationship-types/user:last:car', '/relationship-types/user:past:car'],
  ] as const) {
    expect((await other.config('PUT', last, { body: {} })).status).toBe(200);
    expect((await other.config('PUT', past, { body: {} })).body.code).toBe('type_quota_reached');
    expect((await other.config('PUT', last, { body: {} })).status).toBe(200);
  }
});

test('whether types are in use is read from one relationship of each, also where a type has none', async () => {
  const tenant = 'many-relationships';
  const { database } = server.services;
  const rows = 5000;
  await database.system((tx) =>
    tx.run(sql`insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id, expires_at)
      select ${tenant}, 'user', 'u' || n, case when n % 2 = 0 then 'owns' else 'expired' end, 'car', 'c' || n,
        case when n % 2 = 0 then null else timestamptz '2020-01-01' end
      from generate_series(1, ${rows}::int) n`),
  );
  const keys = ['owns', 'expired', 'none'].map((name) => ({ from: 'user', name, to: 'car' }));
  const Read = Type.Object({ read: Type.Integer() });
  await database.system(async (tx) => {
    expect(await withRelationships(tx, tenant, keys, '2026-01-01T00:00:00Z')).toEqual([keys[0]]);
    const { read } = await tx.one(
      Read,
      sql`select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_all_tables
        where relid = 'accord.relationship'::regclass`,
    );
    expect(read).toBeLessThanOrEqual(keys.length);
  });
});
