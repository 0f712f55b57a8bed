/** Snapshots that follow the database: hints arrive, hints are lost, tenants come, go and come again. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../server/core/clock.ts';
import { Database } from '../../server/core/db/database.ts';
import type { Observation } from '../../server/core/observe.ts';
import { putPolicy } from '../../server/policies/index.ts';
import { Snapshots } from '../../server/snapshot/index.ts';
import { disableTenant, eraseTenant, putTenant } from '../../server/tenants/index.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { createTestServer, manifestWriter, tenantSpec } from '../helpers/server.ts';
import { turns, untilPasses } from '../helpers/wait.ts';

const server = await createTestServer();
const { services } = server;
const admin = new pg.Client({ connectionString: server.db.adminUrl });
await admin.connect();
afterAll(() => admin.end());

/** Another server's snapshots on the same database, under connections of its own name. */
async function follower({ maxStalenessMs = 600_000 } = {}) {
  const observations: Observation[] = [];
  const name = `follower-${randomUUID().slice(0, 8)}`;
  const observe = (one: Observation) => observations.push(one);
  const database = new Database({ url: server.db.url, poolMax: 2, applicationName: name, observe });
  const id = randomUUID();
  const baseUrl = services.baseUrl;
  const snapshots = new Snapshots({
    ...{ database, parts: services.snapshots.parts, baseUrl, server: id, maxStalenessMs },
    ...{ clock: systemClock, observe },
  });
  await snapshots.start();
  closeAtEnd(async () => {
    await snapshots.close();
    await database.close();
  });
  await untilPasses('it to listen', async () => expect(await backends(`${name}-listen`)).toHaveLength(1));
  return { snapshots, observations, name, id };
}

async function backends(application: string): Promise<number[]> {
  const { rows } = await admin.query('select pid from pg_stat_activity where application_name = $1', [application]);
  return rows.map((row) => row.pid);
}

const write = (tenant: string, name: string) =>
  putPolicy(services.policies, manifestWriter, tenant, name, { rego: `package p\noutcome := {"is": "${name}"}` });
const until = (check: () => unknown) => untilPasses('what the followers serve', check);

describe('a change', async () => {
  const [a, b] = [await follower(), await follower()];

  test('reaches every server by its notification alone, policy by policy', async () => {
    const tenant = await server.tenant();
    await until(() => expect([a, b].every(({ snapshots }) => snapshots.get(tenant)?.active)).toBe(true));
    const { revision } = await write(tenant, 'one');
    await until(() => {
      for (const { snapshots } of [a, b]) expect(snapshots.get(tenant)?.revision).toBe(revision);
    });
    expect([...(a.snapshots.get(tenant)?.policies.keys() ?? [])]).toEqual(['one']);
    const swaps = a.observations.filter((one) => one.kind === 'snapshot_swapped' && one.tenant === tenant);
    expect(swaps.at(-1)).toMatchObject({ full: false, revision });
  });

  test('is acknowledged by each of them', async () => {
    const tenant = await server.tenant();
    const { revision } = await write(tenant, 'one');
    await until(async () => {
      const { rows } = await admin.query(
        'select server, revision::int from accord.server_revision where tenant = $1 and server = any($2)',
        [tenant, [a.id, b.id]],
      );
      expect(rows.map((row) => row.revision)).toEqual([revision, revision]);
    });
  });

  test('that came while the listening connection was dead is caught up with when it is back', async () => {
    const tenant = await server.tenant();
    const { snapshots, name, observations } = await follower();
    const [pid] = await backends(`${name}-listen`);
    await admin.query('select pg_terminate_backend($1)', [pid]);
    const { revision } = await write(tenant, 'meanwhile');
    await until(() => expect(snapshots.get(tenant)?.revision).toBe(revision));
    await until(async () => {
      const [again] = await backends(`${name}-listen`);
      expect(again).toBeGreaterThan(0);
      expect(again).not.toBe(pid);
    });
    expect(observations.some((one) => one.kind === 'database_lost')).toBe(true);
    const later = await write(tenant, 'later');
    await until(() => expect(snapshots.get(tenant)?.revision).toBe(later.revision));
  });

  test('is found by the poll alone when no notification ever comes', async () => {
    const tenant = await server.tenant();
    const { snapshots, name } = await follower({ maxStalenessMs: 2500 });
    await until(() => expect(snapshots.get(tenant)).toBeDefined());
    // The row changes behind every trigger of a notification, as if the message had been lost.
    await admin.query(`update accord.tenant set revision = revision + 1, state = 'disabled' where tenant = $1`, [
      tenant,
    ]);
    await until(() => expect(snapshots.get(tenant)?.active).toBe(false));
    expect(await backends(`${name}-listen`)).toHaveLength(1);
  });
});

test('a tenant that is read again and again keeps nobody waiting', async () => {
  const tenant = await server.tenant();
  const { snapshots } = await follower();
  let done = false;
  const constantly = (async () => {
    for (; !done; await new Promise(setImmediate)) snapshots.refresh(tenant).catch(() => {});
  })();
  await Promise.all([snapshots.refresh(tenant), snapshots.refresh(tenant)]);
  expect(snapshots.get(tenant)?.active).toBe(true);
  done = true;
  await constantly;
});

describe('a tenant', async () => {
  const { snapshots, id } = await follower({ maxStalenessMs: 2500 });

  test('that is disabled answers 404 from the moment the snapshot knows, and is back with its data', async () => {
    const tenant = await server.tenant();
    await write(tenant, 'kept');
    await services.snapshots.refresh(tenant);
    const token = await server.client(tenant, 'authz:evaluate');
    const ask = () =>
      server.app.inject({
        method: 'POST',
        url: `/authz/${tenant}`,
        headers: { authorization: `Bearer ${token}` },
        payload: { action: 'kept' },
      });
    expect((await ask()).json()).toEqual({ outcome: { is: 'kept' } });
    await disableTenant(services.tenants, manifestWriter, tenant);
    await services.snapshots.refresh(tenant);
    const refused = await ask();
    expect([refused.statusCode, refused.json().code]).toEqual([404, 'tenant_not_found']);
    await until(() => expect(snapshots.get(tenant)?.active).toBe(false));
    await putTenant(services.tenants, manifestWriter, tenant, tenantSpec());
    await services.snapshots.refresh(tenant);
    expect((await ask()).json()).toEqual({ outcome: { is: 'kept' } });
  });

  test('that is erased is gone, with its acknowledgements, and a new one of its code has nothing of the old', async () => {
    const tenant = await server.tenant();
    for (const name of ['a', 'b', 'c'])
      await putPolicy(services.policies, { owner: { source: 'api' }, actor: 'test' }, tenant, name, {
        rego: 'package p\noutcome := "allow"',
      });
    await until(() => expect(snapshots.get(tenant)?.policies.size).toBe(3));
    const old = snapshots.get(tenant);
    await eraseTenant(services.tenants, manifestWriter, tenant);
    await until(() => expect(snapshots.get(tenant)).toBeUndefined());
    await until(async () => {
      const { rows } = await admin.query('select from accord.server_revision where tenant = $1 and server = $2', [
        ...[tenant, id],
      ]);
      expect(rows).toEqual([]);
    });
    await putTenant(services.tenants, manifestWriter, tenant, tenantSpec({ displayName: 'Successor' }));
    await until(() => expect(snapshots.get(tenant)?.spec.displayName).toBe('Successor'));
    expect(snapshots.get(tenant)?.policies.size).toBe(0);
    expect(snapshots.get(tenant)?.tenantCreatedAt).not.toBe(old?.tenantCreatedAt);
  });

  test('that was erased and made again between two looks, at the very same revision, is the new one', async () => {
    const tenant = await server.tenant();
    const { snapshots: late } = await follower({ maxStalenessMs: 2500 });
    await until(() => expect(late.get(tenant)).toBeDefined());
    // In one transaction and without a notification, as a server sees it that was cut off meanwhile.
    await admin.query('begin');
    const { rows } = await admin.query('delete from accord.tenant where tenant = $1 returning revision, owner', [
      tenant,
    ]);
    await admin.query(
      `insert into accord.tenant (tenant, spec, revision, owner, updated_by, created_at) values ($1, $2, $3, $4, 'test', now() + interval '1 s')`,
      [tenant, tenantSpec({ displayName: 'Twin' }), rows[0].revision, rows[0].owner],
    );
    await admin.query('commit');
    await until(() => expect(late.get(tenant)?.spec.displayName).toBe('Twin'));
  });
});

test('a server that the others forgot registers again, and says again what it serves', async () => {
  const tenant = await server.tenant();
  const { id, snapshots } = await follower({ maxStalenessMs: 2500 });
  await until(() => expect(snapshots.get(tenant)).toBeDefined());
  await admin.query('delete from accord.server where id = $1', [id]);
  await until(async () => {
    const { rows } = await admin.query(
      'select revision::int from accord.server_revision where server = $1 and tenant = $2',
      [id, tenant],
    );
    expect(rows).toEqual([{ revision: snapshots.get(tenant)?.revision }]);
  });
});

test('a server that closes is no longer counted', async () => {
  const database = new Database({ url: server.db.url, poolMax: 1, applicationName: 'closing', observe: () => {} });
  const id = randomUUID();
  const snapshots = new Snapshots({
    ...{ database, parts: [], baseUrl: services.baseUrl, server: id, maxStalenessMs: 15_000, clock: systemClock },
    observe: () => {},
  });
  await snapshots.start();
  await turns();
  const known = async () => (await admin.query('select 1 from accord.server where id = $1', [id])).rowCount;
  expect(await known()).toBe(1);
  await snapshots.close();
  await database.close();
  expect(await known()).toBe(0);
});
