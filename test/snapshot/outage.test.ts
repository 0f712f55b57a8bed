/**
 * Postgres stopped and started under load, a cluster of its own: decisions go on from memory for as long as the state
 * counts as fresh, writes say that the database is away, and all is as before when it is back, nothing accepted lost.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { createApp } from '../../server/app.ts';
import { systemClock } from '../../server/core/clock.ts';
import { readConfig } from '../../server/core/config.ts';
import { migrate } from '../../server/core/db/migrate.ts';
import { type EmbeddedPostgres, startPostgres } from '../../server/embedded/postgres.ts';
import { mintClientToken } from '../../server/keys/index.ts';
import { ensureLocalMember, mintPortalToken } from '../../server/members/index.ts';
import { createServices } from '../../server/services.ts';
import { putTenant } from '../../server/tenants/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { manifestWriter, masterKey, tenantSpec } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';

/** Longer than this machine takes for anything, and put forward where it is to be over. */
const STALENESS_S = 300;
let aheadMs = 0;
const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs };
const directory = await mkdtemp(join(tmpdir(), 'accord-outage-'));
let postgres: EmbeddedPostgres = await startPostgres(directory);
await asAdmin(postgres.adminUrl('postgres'), 'create database accord');
await migrate(postgres.adminUrl('accord'), { runtimeRole: postgres.role });
const config = readConfig({
  ACCORD_DATABASE_URL: postgres.url('accord'),
  ACCORD_MASTER_KEY: masterKey,
  ACCORD_BASE_URL: 'http://accord.test',
  ACCORD_LOG_LEVEL: 'silent',
  ACCORD_RATE_LIMIT: '0',
  ACCORD_MAX_STALENESS: String(STALENESS_S),
});
const services = await createServices(config, { applicationName: 'serve', observe: () => {}, clock });
await services.snapshots.start();
const app = await createApp(config, services, { eventLoopDelayMsMax: 0 });
afterAll(async () => {
  await app.close();
  await services.snapshots.close();
  await services.close();
  await postgres.stop();
  await rm(directory, { recursive: true, force: true });
});

const tenant = 'outage';
await putTenant(services.tenants, manifestWriter, tenant, tenantSpec({ decisionLog: { mode: 'all' } }));
await services.snapshots.refresh(tenant);
const member = await ensureLocalMember(services.members, tenant, 'config-editor');
const editor = (await mintPortalToken(services.members, tenant, member, 'test')).token;
const { token: backend } = await mintClientToken(services.keys, tenant, { clientId: 'b', scopes: ['authz:evaluate'] });

const put = (name: string, value: number) =>
  app.inject({
    method: 'PUT',
    url: `/tenants/${tenant}/policies/${name}`,
    headers: { authorization: `Bearer ${editor}` },
    payload: { rego: `package p\noutcome := {"value": ${value}}` },
  });
const ask = (action: string) =>
  app.inject({
    method: 'POST',
    url: `/authz/${tenant}`,
    headers: { authorization: `Bearer ${backend}` },
    payload: { action },
  });
const said = (response: { statusCode: number; json(): { code?: string } }) =>
  `${response.statusCode} ${response.json().code ?? ''}`.trim();

/** Writes and asks without pause until stopped; what was accepted, and every kind of answer there was. */
function load() {
  const accepted = new Map<string, number>();
  const [writes, decisions] = [new Set<string>(), new Set<string>()];
  let stopped = false;
  const writer = async (worker: number) => {
    for (let n = 0; !stopped; n++) {
      const name = `w${worker}`;
      const response = await put(name, n);
      writes.add(said(response));
      if (response.statusCode === 200) accepted.set(name, n);
      await sleep(5); // not all of the CPU, which Postgres needs
    }
  };
  const asker = async () => {
    while (!stopped) {
      decisions.add(said(await ask('steady')));
      await sleep(2); // the same
    }
  };
  const running = Promise.all([writer(0), writer(1), writer(2), asker(), asker()]);
  return {
    accepted,
    writes,
    decisions,
    async stop() {
      stopped = true;
      await running;
    },
  };
}

test('Postgres goes and comes back under load', async () => {
  expect((await put('steady', 7)).statusCode).toBe(200);
  expect((await ask('steady')).json()).toEqual({ outcome: { value: 7 } });
  const working = load();
  await until('a write of each', () => working.accepted.size === 3);

  await postgres.stop();
  // A reading that fails although nothing was written: afterwards the revision is the one that is served already.
  await expect(services.snapshots.refresh(tenant)).rejects.toThrow();
  working.writes.clear();
  working.decisions.clear();
  await until('a write that is refused', () => working.writes.has('503 not_ready'));
  // From memory, and with the token that was verified before; nothing but that or "stale" is ever said meanwhile.
  expect((await ask('steady')).json()).toEqual({ outcome: { value: 7 } });
  const away = await put('w0', -1);
  expect([away.statusCode, away.headers['retry-after'], away.json().detail]).toEqual([
    ...[503, '1', 'The database does not answer.'],
  ]);

  // Past the bound nobody is told anything that may be old.
  aheadMs += STALENESS_S * 1000 + 1;
  expect(said(await ask('steady'))).toBe('503 stale');
  expect(said(await put('w0', -1))).toBe('503 stale');
  expect(services.snapshots.isFresh()).toBe(false);
  await until('a decision that is refused', () => working.decisions.has('503 stale'));
  expect([...working.decisions].sort()).toEqual(['200', '503 stale']);
  expect([...working.writes].every((one) => one.startsWith('503 '))).toBe(true);

  postgres = await startPostgres(directory);
  await until('decisions', async () => said(await ask('steady')) === '200');
  working.writes.clear();
  working.decisions.clear();
  await until('writes', () => working.writes.has('200'));
  await working.stop();
  for (const [name, value] of working.accepted) {
    // The last that was accepted, or one that was committed although its answer was lost on the way.
    const outcome = (await ask(name)).json().outcome as { value: number };
    expect(outcome.value).toBeGreaterThanOrEqual(value);
  }
  expect((await ask('steady')).json()).toEqual({ outcome: { value: 7 } });
});

test('every accepted write has its revision, without gaps, also over the outage', async () => {
  for (const name of ['w0', 'w1', 'w2']) {
    const response = await app.inject({
      method: 'GET',
      url: `/tenants/${tenant}/policies/${name}/revisions?limit=200`,
      headers: { authorization: `Bearer ${editor}` },
    });
    const numbers = response.json().revisions.map((one: { revision: number }) => one.revision) as number[];
    expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] as number) - index));
  }
});

test('killed and not stopped: the same', async () => {
  // Every connection at once, as a failover does it.
  await asAdmin(
    postgres.adminUrl('accord'),
    'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = $1',
    ['client backend'],
  );
  expect(said(await ask('steady'))).toBe('200');
  await until('a write', async () => said(await put('after', 1)) === '200');
  expect((await ask('after')).json()).toEqual({ outcome: { value: 1 } });
});
