/** What a server cannot read: a write that is committed is answered as such, and a reading that failed is made up for. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect, test } from 'vitest';
import { systemClock } from '../../server/core/clock.ts';
import { Snapshots } from '../../server/snapshot/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { createTestServer } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';

const server = await createTestServer();

test('a committed write is a success although reading it fails, and is served when it can be read', async () => {
  const tenant = await server.tenant();
  const editor = await server.member(tenant, 'config-editor');
  const put = (outcome: string) =>
    server.app.inject({
      method: 'PUT',
      url: `/tenants/${tenant}/policies/own`,
      headers: { authorization: `Bearer ${editor}` },
      payload: { rego: `package p\noutcome := {"is": "${outcome}"}` },
    });
  expect((await put('first')).statusCode).toBe(200);
  const served = () => server.services.snapshots.get(tenant)?.revision;

  // Only snapshots read the changes as accord_system.
  await asAdmin(server.db.adminUrl, 'revoke select on accord.config_change from accord_system');
  const response = await put('second');
  await asAdmin(server.db.adminUrl, 'grant select on accord.config_change to accord_system');
  expect(response.statusCode, response.body).toBe(200);
  const revision = Number((response.headers['accord-revision'] as string).slice(1));
  expect(server.observations).toContainEqual(expect.objectContaining({ kind: 'snapshot_failed', tenant }));
  await until('the next reading', () => served() === revision);
});

/** Another server's snapshots, with a clock that can be put forward. */
async function follower() {
  const { database, snapshots: own, baseUrl } = server.services;
  const maxStalenessMs = 2500;
  let ahead = 0;
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + ahead };
  const snapshots = new Snapshots({
    ...{ database, parts: own.parts, baseUrl, server: randomUUID(), maxStalenessMs, clock, observe: () => {} },
  });
  await snapshots.start();
  closeAtEnd(() => snapshots.close());
  const putForward = () => {
    ahead += maxStalenessMs + 1;
  };
  return { snapshots, putForward };
}

test('a tenant whose reading failed while nothing changed is not stale for ever', async () => {
  const tenant = await server.tenant();
  const { snapshots, putForward } = await follower();
  await asAdmin(server.db.adminUrl, 'revoke select on accord.config_change from accord_system');
  await expect(snapshots.refresh(tenant)).rejects.toThrow();
  await asAdmin(server.db.adminUrl, 'grant select on accord.config_change to accord_system');
  putForward();
  await until('a reading that succeeds', () => snapshots.isFresh(tenant));
});

test('a tenant whose reading takes long becomes stale, and the others do not', async () => {
  const [slow, other] = [await server.tenant(), await server.tenant()];
  const { snapshots, putForward } = await follower();
  const blocker = new pg.Client({ connectionString: server.db.adminUrl });
  await blocker.connect();
  await blocker.query('begin; lock table accord.config_change in access exclusive mode');
  await asAdmin(server.db.adminUrl, 'update accord.tenant set revision = revision + 1 where tenant = $1', [slow]);
  // The first time the change is found, the second time it has not been read for too long.
  for (let times = 0; times < 2; times++) {
    putForward();
    await until('a reading that succeeds', () => snapshots.isFresh(other));
  }
  expect(snapshots.isFresh(slow)).toBe(false);
  await blocker.query('commit');
  await blocker.end();
  await until('a reading that succeeds', () => snapshots.isFresh(slow));
});
