/** An operator whose database or API server is away: it says so, is not ready, and goes on when it is back, without a restart. */
import { readFile, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, expect, inject, test } from 'vitest';
import { migrate, roleOf } from '../../server/core/db/migrate.ts';

import { useCluster } from '../helpers/cluster.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { freePort } from '../helpers/free-port.ts';
import { until } from '../helpers/wait.ts';
import type { AccordProcess } from './accord-process.ts';
import { type Installation, install, killOperators, query, startOperator, termOf } from './operators.ts';

const cluster = await useCluster();
const db = await createTestDatabase();
const empty = await createTestDatabase('template1');

const closers: (() => Promise<unknown> | unknown)[] = [];
afterAll(async () => {
  await killOperators();
  for (const close of closers.splice(0).reverse()) await close();
});

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

async function applyTenant(displayName: string): Promise<string> {
  const name = await cluster.namespace();
  await cluster.call('POST', '/apis/accord.dev/v1alpha1/tenants', {
    ...{ apiVersion: 'accord.dev/v1alpha1', kind: 'Tenant', metadata: { name } },
    spec: { displayName, audiences: ['x'] },
  });
  return name;
}

const rowsOf = (installation: Installation, tenant: string) =>
  query(installation, 'select 1 from accord.tenant where tenant = $1', [tenant]);

test('a schema that is not there yet: it says so and waits; then it works', async () => {
  const installation = await install(cluster, empty);
  const operator = await startOperator(installation);
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
  const operator = await startOperator(installation, { url: db.url.replace(/\/t_\w+\?/, '/nowhere?') });
  await operator.says(/waiting for the database: database "nowhere" does not exist/);
  expect((await operator.probe('/ready')).status).toBe(503);
  expect(await operator.stop()).toBe(0);
});

/** An operator that goes from one test to the next, and the door to its API server. */
type Leader = { installation: Installation; operator: AccordProcess } & Awaited<ReturnType<typeof door>>;
let survivor: Leader | undefined;
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') survivor = undefined;
});

async function leading(): Promise<Leader> {
  if (survivor === undefined) {
    const installation = await install(cluster, db);
    const way = await door();
    await way.open();
    survivor = { installation, operator: await startOperator(installation, way), ...way };
  }
  await survivor.operator.leads();
  return survivor;
}

test('an API server that is away at the start and comes', async () => {
  const installation = await install(cluster, db);
  const way = await door();
  const operator = await startOperator(installation, way);
  await operator.says(/Waiting for the Kubernetes API server\. .*refuses connections/);
  const { status, reasons } = await operator.probe('/ready');
  expect(status).toBe(503);
  expect(reasons).toMatch(/refuses connections/);
  expect((await operator.probe('/live')).status).toBe(200);
  await way.open();
  await operator.leads();
  await operator.becomesReady();
  survivor = { installation, operator, ...way };
});

test('a leader keeps its Lease over a short outage, and its term', async () => {
  const { installation, operator, open, shut } = await leading();
  const before = await termOf(installation);
  await shut();
  await operator.until('is not ready', async () => (await operator.probe('/ready')).status === 503);
  await open();
  await operator.becomesReady();
  expect(await termOf(installation)).toEqual(before);
});

test('a leader whose database goes away is not ready, keeps its term, and works on when it is back', async () => {
  const { installation, operator } = await leading();
  const before = await termOf(installation);
  const name = /\/(t_\w+)\?/.exec(db.url)?.[1];
  const server = new pg.Client({ connectionString: inject('adminUrl') });
  await server.connect();
  closers.push(() => server.end());
  await server.query(`alter database ${name} allow_connections false`);
  await server.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
  const isMissed = async () => /The database does not answer/.test((await operator.probe('/ready')).reasons);
  await operator.until('misses its database', isMissed);
  expect((await operator.probe('/live')).status).toBe(200);
  const tenant = await applyTenant('Meanwhile');
  await server.query(`alter database ${name} allow_connections true`);
  await operator.becomesReady();
  await until('the row of the Tenant', async () => (await rowsOf(installation, tenant)).length === 1);
  expect(await termOf(installation)).toEqual(before);
});

test('a leader whose API server goes away for longer than the renewal deadline ends', async () => {
  const { operator, shut } = await leading();
  survivor = undefined;
  await shut();
  expect(await operator.gone()).toBe(1);
  expect(operator.output).toMatch(/the Lease was not renewed for 10 s/);
});

test('a leader whose term was claimed over its head is refused and ends, before it writes anything', async () => {
  const installation = await install(cluster, db);
  const operator = await startOperator(installation);
  await operator.leads();
  await query(installation, "update accord.operator_term set epoch = epoch + 1, holder = 'usurper'");
  const tenant = await applyTenant('Late');
  expect(await operator.gone()).toBe(1);
  expect(operator.output).toMatch(/the operator's term \d+ over kubernetes is over/);
  expect(await rowsOf(installation, tenant)).toEqual([]);
});

test("another cluster's database is not touched, until the operator is told to adopt it", async () => {
  const installation = await install(cluster, db);
  await query(installation, "update accord.operator_term set cluster = 'another'");
  const before = await termOf(installation);
  const operator = await startOperator(installation);
  await operator.says(/has the objects of another cluster .*uid another/);
  expect((await operator.probe('/ready')).reasons).toMatch(/--adopt-cluster/);
  expect(await termOf(installation)).toEqual(before);
  expect(await operator.stop()).toBe(0);
  const adopting = await startOperator(installation, { args: ['--adopt-cluster'] });
  await adopting.leads();
  expect((await termOf(installation))?.cluster).not.toBe('another');
});
