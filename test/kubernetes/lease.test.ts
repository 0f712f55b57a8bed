/** Leading by a Lease, with real processes on a real API server: who leads, how it is handed over, and what a frozen leader does. */
import { afterEach, expect, test, vi } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { useCluster } from '../helpers/cluster.ts';
import { createTestDatabase } from '../helpers/database.ts';
import {
  deleteLease,
  type Installation,
  install,
  leaseOf,
  OperatorProcess,
  patient,
  query,
  termOf,
} from './operators.ts';

vi.setConfig({ testTimeout: 300_000 });
const cluster = await useCluster();
const db = await createTestDatabase();

const started: OperatorProcess[] = [];
afterEach(async () => {
  for (const one of started.splice(0)) {
    one.child.kill('SIGCONT');
    await one.stop('SIGKILL');
  }
});

async function start(installation: Installation, options: Parameters<typeof OperatorProcess.start>[1] = {}) {
  const one = await OperatorProcess.start(installation, options);
  started.push(one);
  return one;
}

/** A leader and one that waits, both ready. */
async function pair(installation: Installation) {
  const leader = await start(installation);
  await leader.leads();
  const standby = await start(installation);
  await standby.says(/Another operator is the leader/);
  await Promise.all([leader.becomesReady(), standby.becomesReady()]);
  return { leader, standby };
}

const group = '/apis/accord.dev/v1alpha1';

async function applyTenant(): Promise<string> {
  const tenant = await cluster.namespace();
  const spec = { displayName: 'Lease', audiences: ['x'] };
  await cluster.call('POST', `${group}/tenants`, { ...type('Tenant'), metadata: { name: tenant }, spec });
  return tenant;
}

function applyPolicy(tenant: string, name: string) {
  const rego = `package p\n\ndefault outcome := "allow"\n# ${name}\n`;
  const spec = { tenantRef: { name: tenant }, name, rego };
  const body = { ...type('Policy'), metadata: { name, namespace: tenant }, spec };
  return cluster.call('POST', `${group}/namespaces/${tenant}/policies`, body);
}

const type = (kind: string) => ({ apiVersion: 'accord.dev/v1alpha1', kind });

const policiesOf = async (installation: Installation, tenant: string) =>
  (await query<{ name: string }>(installation, 'select name from accord.policy where tenant = $1', [tenant])).length;

/** Manifests of a tenant that were not told yet that no server lives. */
const withoutStatus = (installation: Installation, tenant: string) =>
  query(
    installation,
    `select kind, name from accord.resource
     where tenant = $1 and not status @> '{"conditions": [{"type": "Programmed", "reason": "NoLiveServer"}]}'`,
    [tenant],
  );

/** Every version of every row that the operator writes. */
const rowVersions = (installation: Installation) =>
  query(
    installation,
    `select 'resource' as of, kind || '/' || namespace || '/' || name as row, xmin::text, ctid::text from accord.resource
     union all select 'policy', tenant || '/' || name, xmin::text, ctid::text from accord.policy
     union all select 'tenant', tenant, xmin::text, ctid::text from accord.tenant
     union all select 'artifact', tenant || '/' || digest, xmin::text, ctid::text from accord.policy_artifact
     union all select 'term', holder, xmin::text, ctid::text from accord.operator_term order by 1, 2`,
  );

test('one leads and writes; the Lease and the term in Postgres agree; the other waits, and both are ready', async () => {
  const installation = await install(cluster, db);
  const { leader, standby } = await pair(installation);
  const [lease, term] = [await leaseOf(installation), await termOf(installation)];
  expect(lease).toMatchObject({ holderIdentity: term?.holder, leaseDurationSeconds: limits.leaseDurationMs / 1000 });
  expect(lease.leaseTransitions).toBe(Number(term?.epoch));
  expect(lease.renewTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  expect(await standby.metric('operator_leader')).toBe(0);
  const tenant = await applyTenant();
  await applyPolicy(tenant, 'first');
  await vi.waitFor(async () => expect(await policiesOf(installation, tenant)).toBe(1), patient);
  expect(await leader.metric('operator_resources{kind="Policy",ready="false"}')).toBeGreaterThan(0);
  expect(await leader.stop()).toBe(0);
});

test('a leader that stops in order hands over at once', async () => {
  const installation = await install(cluster, db);
  const { leader, standby } = await pair(installation);
  const before = await termOf(installation);
  const from = performance.now();
  leader.child.kill('SIGTERM');
  await standby.leads();
  const seconds = (performance.now() - from) / 1000;
  process.stdout.write(`SIGTERM to the next leader: ${seconds.toFixed(2)} s\n`);
  expect(await leader.gone()).toBe(0);
  expect(seconds).toBeLessThan(3);
  expect(Number((await termOf(installation))?.epoch)).toBe(Number(before?.epoch) + 1);
});

test('a leader that is killed is followed within 20 s', async () => {
  const installation = await install(cluster, db);
  const { leader, standby } = await pair(installation);
  const from = performance.now();
  await leader.stop('SIGKILL');
  await standby.leads();
  const seconds = (performance.now() - from) / 1000;
  process.stdout.write(`SIGKILL to the next leader: ${seconds.toFixed(2)} s\n`);
  expect(seconds).toBeLessThan(20);
});

test('a leader that is frozen in the middle of its work writes nothing after the next one leads, and ends when it wakes up', async () => {
  const installation = await install(cluster, db);
  const { leader, standby } = await pair(installation);
  const tenant = await applyTenant();
  const names = Array.from({ length: 12 }, (_, i) => `p${i}`);
  await Promise.all(names.map((name) => applyPolicy(tenant, name)));
  await vi.waitFor(async () => expect(await policiesOf(installation, tenant)).toBeGreaterThan(0), patient);
  leader.child.kill('SIGSTOP');
  const doneByFirst = await policiesOf(installation, tenant);
  const frozenAt = performance.now();
  await standby.leads();
  process.stdout.write(`frozen after ${doneByFirst} of 12; SIGSTOP to the next leader: ${seconds(frozenAt)} s\n`);
  await vi.waitFor(async () => expect(await policiesOf(installation, tenant)).toBe(12), patient);
  // What the frozen one would have to write, if it could.
  await applyPolicy(tenant, 'late');
  await vi.waitFor(async () => expect(await policiesOf(installation, tenant)).toBe(13), patient);
  // A key whose status is still to be written waits for servers, and not in the queue.
  await vi.waitFor(async () => expect(await withoutStatus(installation, tenant)).toEqual([]), patient);
  await vi.waitFor(async () => expect(await standby.metric('operator_queue_depth')).toBe(0), patient);
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, 25_000 - (performance.now() - frozenAt))));
  const before = await rowVersions(installation);
  leader.child.kill('SIGCONT');
  expect(await leader.gone()).toBe(1);
  expect(leader.output).toMatch(/no longer the leader/);
  expect(await rowVersions(installation)).toEqual(before);
  expect((await termOf(installation))?.holder).toBe((await leaseOf(installation)).holderIdentity);
});

test('a Lease that is deleted ends its holder, and the next term is higher although the Lease counts from nothing', async () => {
  const installation = await install(cluster, db);
  const { leader, standby } = await pair(installation);
  const before = await termOf(installation);
  await deleteLease(installation);
  expect(await leader.gone()).toBe(1);
  // The leader learns of it from whoever tells it first: a renewal, which finds no Lease or the next leader's, or Postgres,
  // which refuses what it writes once the next leader has acquired its term.
  expect(leader.output).toMatch(/the Lease was deleted|took the Lease|the operator's term \d+ over kubernetes is over/);
  await standby.leads();
  expect(Number((await termOf(installation))?.epoch)).toBeGreaterThan(Number(before?.epoch));
  expect((await leaseOf(installation)).leaseTransitions).toBe(Number((await termOf(installation))?.epoch));
});

const seconds = (from: number) => ((performance.now() - from) / 1000).toFixed(2);
