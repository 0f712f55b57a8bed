/** limits.maxRelationships of a Tenant: on every way that a relationship is made, exactly, and without counting rows. */
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { sql } from '../../server/core/db/sql.ts';
import { limits } from '../../server/core/limits.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';
import { WallClock } from '../invitations/inviting.ts';
import { sharingTenant, types } from './sharing.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
const shared: typeof types = [
  ...types.slice(0, -1),
  ['/relationship-types/user:drives:car', { invitation: { enabled: true, maxUses: 5 } }],
];
const limited = (maxRelationships: number) => sharingTenant(server, shared, { limits: { maxRelationships } });
const line = (from: string, to = '1') =>
  JSON.stringify({ from: { type: 'user', id: from }, relationshipType: 'drives', to: { type: 'car', id: to } });
const load = (tenant: Awaited<ReturnType<typeof limited>>, lines: string[]) =>
  tenant.backend('POST', '/relationships/import', { raw: lines.join('\n'), type: 'application/x-ndjson' });
const rowsOf = async (tenant: string) => {
  const [row] = await asAdmin<{ rows: number; counted: number }>(
    server.db.adminUrl,
    `select (select count(*)::int from accord.relationship where tenant = $1) as rows,
      (select coalesce(sum(change), 0)::int from accord.relationship_change where tenant = $1) as counted`,
    [tenant],
  );
  return row;
};

describe('a tenant with a quota of relationships', () => {
  test('makes so many and not one more; one that is there is still replaced, and deleting makes room', async () => {
    const tenant = await limited(2);
    expect((await tenant.relate('user/a', 'drives', 'car/1')).status).toBe(201);
    expect((await tenant.relate('user/b', 'drives', 'car/1')).status).toBe(201);
    const past = await tenant.relate('user/c', 'drives', 'car/1');
    expect([past.status, past.body.code]).toEqual([409, 'relationship_quota_reached']);
    const soon = new Date(clock.now() + 60_000).toISOString();
    expect((await tenant.relate('user/a', 'drives', 'car/1', soon)).status).toBe(200);
    clock.advance(61_000);
    // What has expired is a row until it is deleted, and its own place is free to it.
    expect((await tenant.relate('user/c', 'drives', 'car/1')).status).toBe(409);
    expect((await tenant.relate('user/a', 'drives', 'car/1')).status).toBe(201);
    expect((await tenant.backend('DELETE', '/actors/user/a/relationships/drives/car/1')).status).toBe(204);
    expect((await tenant.relate('user/c', 'drives', 'car/1')).status).toBe(201);
    expect(await rowsOf(tenant.tenant)).toEqual({ rows: 2, counted: 2 });
  });

  test('at once from many sides it is exact', async () => {
    const tenant = await limited(7);
    const answers = await Promise.all([
      ...Array.from({ length: 20 }, (_, i) => tenant.relate(`user/u${i}`, 'drives', 'car/1')),
      load(
        tenant,
        ['x', 'y', 'z', 'w'].map((id) => line(id)),
      ),
    ]);
    const made = answers.filter(({ status }) => status === 201).length + (answers.at(-1)?.body.created as number);
    expect([made, await rowsOf(tenant.tenant)]).toEqual([7, { rows: 7, counted: 7 }]);
  });

  test('an import is in as far as there is room; the lines that are not are refused', async () => {
    const tenant = await limited(3);
    await tenant.relate('user/there', 'drives', 'car/1');
    const { body } = await load(
      tenant,
      ['a', 'there', 'b', 'a', 'c', 'd', 'c'].map((id) => line(id)),
    );
    expect(body).toMatchObject({ lines: 7, created: 2, unchanged: 2, refused: 3 });
    expect(body.errors.map((error: { line: number }) => error.line)).toEqual([5, 6, 7]);
    expect(body.errors[0].detail).toContain('limits.maxRelationships');
  });

  test('an invitation is not accepted, and stays open for when there is room', async () => {
    const tenant = await limited(1);
    await tenant.relate('user/a', 'drives', 'car/1');
    const invited = await tenant.backend('POST', '/sharing/invitations', {
      body: {
        relationshipType: 'drives',
        to: { type: 'car', id: '1' },
        invitor: { type: 'user', id: 'a' },
        invitee: { contact: { type: 'email', value: 'b@example.org' } },
      },
    });
    const accept = () =>
      tenant.backend('POST', '/sharing/invitations/accept', {
        body: { acceptor: { type: 'user', id: 'b' }, requestToken: invited.body.requestToken },
      });
    expect((await accept()).body.code).toBe('relationship_quota_reached');
    await tenant.backend('DELETE', '/actors/user/a/relationships/drives/car/1');
    expect((await accept()).status).toBe(200);
  });

  test('nobody waits with more than relationshipQuotaMarginItems left; from there on one after the other', async () => {
    const tenant = await limited(limits.relationshipQuotaMarginItems + 1);
    const held = Promise.withResolvers<void>();
    const free = Promise.withResolvers<void>();
    const holding = server.services.database.tenant(tenant.tenant, async (tx) => {
      const key = `accord.relationships.${tenant.tenant}`;
      await tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`);
      held.resolve();
      await free.promise;
    });
    await held.promise;
    expect((await tenant.relate('user/a', 'drives', 'car/1')).status).toBe(201);
    const second = tenant.relate('user/b', 'drives', 'car/1');
    const waiting = `select from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`;
    await until('the second to wait', async () => (await asAdmin(server.db.adminUrl, waiting)).length > 0);
    free.resolve();
    await holding;
    expect((await second).status).toBe(201);
  });
});

test('every way to make and remove relationships is counted, and folding keeps the sum', async () => {
  const tenant = await sharingTenant(server);
  // Any statement may fold what was counted before (1 in 256): the sum stays.
  const counted = async () => (await rowsOf(tenant.tenant))?.counted;
  await load(
    tenant,
    Array.from({ length: 300 }, (_, i) => line(`u${i % 250}`)),
  );
  expect(await counted()).toBe(250);
  await tenant.relate('user/again', 'drives', 'car/1');
  expect(await counted()).toBe(251);
  await tenant.backend('DELETE', '/relationships?fromType=user&fromId=u3');
  expect(await counted()).toBe(250);
  await tenant.backend('DELETE', '/actors/user/again');
  expect(await counted()).toBe(249);
  const changes = () =>
    server.services.database.tenant(tenant.tenant, (tx) =>
      tx.many(Type.Object({ change: Type.Integer() }), sql`select change from accord.relationship_change order by id`),
    );
  // A statement folds by a chance of 1 in 256; 20,000 that do not would be as likely as nothing.
  await server.services.database.tenant(tenant.tenant, (tx) =>
    tx.run(sql`do $$ begin
      for i in 1 .. 20000 loop
        insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id)
          values (current_setting('accord.tenant'), 'user', 'many', 'drives', 'car', i::text);
      end loop; end $$`),
  );
  expect((await changes()).length).toBeLessThan(20_000);
  expect(await rowsOf(tenant.tenant)).toEqual({ rows: 20_249, counted: 20_249 });
});
