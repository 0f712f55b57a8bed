/** An operator whose database or API server is away: it says so, is not ready, and goes on when it is back, without a restart. */
import { readFile, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { afterEach, expect, inject, test, vi } from 'vitest';
import { migrate, roleOf } from '../../server/core/db/migrate.ts';
import { freePort } from '../e2e/accord.ts';
import { useCluster } from '../helpers/cluster.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { type Installation, install, OperatorProcess, patient, query, termOf } from './operators.ts';

vi.setConfig({ testTimeout: 300_000 });
const cluster = await useCluster();
const db = await createTestDatabase();
const empty = await createTestDatabase('template1');

const closers: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function start(installation: Installation, options: Parameters<typeof OperatorProcess.start>[1] = {}) {
  const one = await OperatorProcess.start(installation, options);
  closers.push(() => one.stop('SIGKILL'));
  return one;
}

/** The API server behind a door of its own, which can be shut. */
async function door() {
  const port = await freePort();
  const { hostname, port: target } = new URL(cluster.url);
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  const shut = async () => {
    const closing = server;
    server = undefined;
    for (const socket of sockets) socket.destroy();
    if (closing) await new Promise((resolve) => closing.close(resolve));
  };
  const open = async () => {
    server = createServer((inner) => {
      const outer = connect(Number(target), hostname);
      for (const socket of [inner, outer]) {
        sockets.add(socket);
        socket.on('error', () => {}).on('close', () => sockets.delete(socket));
      }
      inner.pipe(outer).pipe(inner);
    }).listen(port, '127.0.0.1');
    await new Promise((resolve) => server?.once('listening', resolve));
  };
  closers.push(shut);
  const kubeconfig = join(dirname(cluster.kubeconfig), `door-${port}.kubeconfig`);
  const text = await readFile(cluster.kubeconfig, 'utf8');
  await writeFile(kubeconfig, text.replace(cluster.url, `https://127.0.0.1:${port}`), { mode: 0o600 });
  return { kubeconfig, open, shut };
}

test('a schema that is not there yet: it says so and waits; then it works', async () => {
  const installation = await install(cluster, empty);
  const operator = await start(installation);
  await operator.says(
    /waiting for the database: the database lacks migration 000001_foundation\.sql: run accord migrate/,
  );
  expect((await operator.probe('/live')).status).toBe(200);
  const { status, reasons } = await operator.probe('/ready');
  expect(status).toBe(503);
  expect(reasons).toMatch(/lacks migration/);
  await migrate(empty.adminUrl, { runtimeRole: roleOf(empty.url) });
  await operator.leads();
  await operator.becomesReady();
  expect(await operator.stop()).toBe(0);
});

test('a database that is not there: it says so, and stops when it is told to', async () => {
  const installation = await install(cluster, db);
  const operator = await start(installation, { url: db.url.replace(/\/t_\w+\?/, '/nowhere?') });
  await operator.says(/waiting for the database: database "nowhere" does not exist/);
  expect((await operator.probe('/ready')).status).toBe(503);
  expect(await operator.stop()).toBe(0);
});

test('an API server that is away at the start and comes', async () => {
  const installation = await install(cluster, db);
  const { kubeconfig, open } = await door();
  const operator = await start(installation, { kubeconfig });
  await operator.says(/Waiting for the Kubernetes API server\. .*refuses connections/);
  const { status, reasons } = await operator.probe('/ready');
  expect(status).toBe(503);
  expect(reasons).toMatch(/refuses connections/);
  expect((await operator.probe('/live')).status).toBe(200);
  await open();
  await operator.leads();
  await operator.becomesReady();
});

test('a leader whose API server goes away for longer than the renewal deadline ends at once', async () => {
  const installation = await install(cluster, db);
  const { kubeconfig, open, shut } = await door();
  await open();
  const operator = await start(installation, { kubeconfig });
  await operator.leads();
  const from = performance.now();
  await shut();
  expect(await operator.gone()).toBe(1);
  process.stdout.write(`API server away to the leader's end: ${((performance.now() - from) / 1000).toFixed(2)} s\n`);
  expect(operator.output).toMatch(/the Lease was not renewed for 10 s/);
});

test('a leader keeps its Lease over a short outage, and its term', async () => {
  const installation = await install(cluster, db);
  const { kubeconfig, open, shut } = await door();
  await open();
  const operator = await start(installation, { kubeconfig });
  await operator.leads();
  const before = await termOf(installation);
  await shut();
  await vi.waitFor(async () => expect((await operator.probe('/ready')).status).toBe(503), patient);
  await open();
  await operator.becomesReady();
  expect(await termOf(installation)).toEqual(before);
});

test('a leader whose database goes away is not ready, keeps its term, and works on when it is back', async () => {
  const installation = await install(cluster, db);
  const operator = await start(installation);
  await operator.leads();
  const before = await termOf(installation);
  const name = /\/(t_\w+)\?/.exec(db.url)?.[1];
  const server = new pg.Client({ connectionString: inject('adminUrl') });
  await server.connect();
  closers.push(() => server.end());
  await server.query(`alter database ${name} allow_connections false`);
  await server.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
  await vi.waitFor(
    async () => expect((await operator.probe('/ready')).reasons).toMatch(/The database does not answer/),
    patient,
  );
  expect((await operator.probe('/live')).status).toBe(200);
  const tenant = await cluster.namespace();
  await cluster.call('POST', '/apis/accord.dev/v1alpha1/tenants', {
    ...{ apiVersion: 'accord.dev/v1alpha1', kind: 'Tenant', metadata: { name: tenant } },
    spec: { displayName: 'Meanwhile', audiences: ['x'] },
  });
  await server.query(`alter database ${name} allow_connections true`);
  await operator.becomesReady();
  const rows = () => query(installation, 'select 1 from accord.tenant where tenant = $1', [tenant]);
  await vi.waitFor(async () => expect(await rows()).toHaveLength(1), patient);
  expect(await termOf(installation)).toEqual(before);
});

test('a leader whose term was claimed over its head is refused and ends, before it writes anything', async () => {
  const installation = await install(cluster, db);
  const operator = await start(installation);
  await operator.leads();
  await query(installation, "update accord.operator_term set epoch = epoch + 1, holder = 'usurper'");
  const tenant = await cluster.namespace();
  await cluster.call('POST', '/apis/accord.dev/v1alpha1/tenants', {
    ...{ apiVersion: 'accord.dev/v1alpha1', kind: 'Tenant', metadata: { name: tenant } },
    spec: { displayName: 'Late', audiences: ['x'] },
  });
  expect(await operator.gone()).toBe(1);
  expect(operator.output).toMatch(/the operator's term \d+ over kubernetes is over/);
  expect(await query(installation, 'select 1 from accord.tenant where tenant = $1', [tenant])).toEqual([]);
});

test("another cluster's database is not touched, until the operator is told to adopt it", async () => {
  const installation = await install(cluster, db);
  await query(installation, "update accord.operator_term set cluster = 'another'");
  const before = await termOf(installation);
  const operator = await start(installation);
  await operator.says(/has the objects of another cluster .*uid another/);
  expect((await operator.probe('/ready')).reasons).toMatch(/--adopt-cluster/);
  expect(await termOf(installation)).toEqual(before);
  expect(await operator.stop()).toBe(0);
  const adopting = await start(installation, { args: ['--adopt-cluster'] });
  await adopting.leads();
  expect((await termOf(installation))?.cluster).not.toBe('another');
});
