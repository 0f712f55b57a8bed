/** Leading by a Lease, with real processes on a real API server: who leads, how it is handed over, and what a frozen leader does. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { useCluster } from '../helpers/cluster.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { until, untilPasses } from '../helpers/wait.ts';
import type { AccordProcess } from './accord-process.ts';
import {
  deleteLease,
  type Installation,
  install,
  killOperators,
  leaseOf,
  query,
  shortenLease,
  startOperator,
  termOf,
} from './operators.ts';

const cluster = await useCluster();
const db = await createTestDatabase();
let installation: Installation;
beforeAll(async () => {
  installation = await install(cluster, db);
});

/** Who led at the end of the test before, and is the leader that the next one begins with. */
let survivor: AccordProcess | undefined;
afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return;
  survivor = undefined;
  await killOperators();
});
afterAll(killOperators);

/** A leader and one that waits, both ready. The test is to end with the second one as the leader. */
async function pair() {
  const leader = survivor ?? (await startOperator(installation));
  await leader.leads();
  const standby = await startOperator(installation);
  await standby.says(/Another operator is the leader/);
  await Promise.all([leader.becomesReady(), standby.becomesReady()]);
  survivor = standby;
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

const policiesOf = async (tenant: string) =>
  (await query<{ name: string }>(installation, 'select name from accord.policy where tenant = $1', [tenant])).length;
const untilPolicies = (count: number, tenant: string) =>
  until(`the policy ${count} of ${tenant}`, async () => (await policiesOf(tenant)) === count);

/** Manifests of a tenant that were not told yet that no server lives. */
const withoutStatus = (tenant: string) =>
  query(
    installation,
    `select kind, name from accord.resource
     where tenant = $1 and not status @> '{"conditions": [{"type": "Programmed", "reason": "NoLiveServer"}]}'`,
    [tenant],
  );

/** Every version of every row that the operator writes. */
const rowVersions = () =>
  query(
    installation,
    `select 'resource' as of, kind || '/' || namespace || '/' || name as row, xmin::text, ctid::text from accord.resource
     union all select 'policy', tenant || '/' || name, xmin::text, ctid::text from accord.policy
     union all select 'tenant', tenant, xmin::text, ctid::text from accord.tenant
     union all select 'artifact', tenant || '/' || digest, xmin::text, ctid::text from accord.policy_artifact
     union all select 'term', holder, xmin::text, ctid::text from accord.operator_term order by 1, 2`,
  );

test('one leads and writes; the Lease and the term in Postgres agree; the other waits, and both are ready', async () => {
  const { leader, standby } = await pair();
  const [lease, term] = [await leaseOf(installation), await termOf(installation)];
  expect(lease).toMatchObject({ holderIdentity: term?.holder, leaseDurationSeconds: limits.leaseDurationMs / 1000 });
  expect(lease.leaseTransitions).toBe(Number(term?.epoch));
  expect(lease.renewTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  expect(await standby.metric('operator_leader')).toBe(0);
  const tenant = await applyTenant();
  await applyPolicy(tenant, 'first');
  await untilPolicies(1, tenant);
  expect(await leader.metric('operator_resources{kind="Policy",ready="false"}')).toBeGreaterThan(0);
  expect(await leader.stop()).toBe(0);
  await standby.leads();
});

test('a leader that stops in order hands over', async () => {
  const { leader, standby } = await pair();
  const before = await termOf(installation);
  leader.send('SIGTERM');
  await standby.leads();
  expect(await leader.gone()).toBe(0);
  expect(Number((await termOf(installation))?.epoch)).toBe(Number(before?.epoch) + 1);
});

test('a leader that is killed is followed when its Lease was not renewed for as long as it lasts', async () => {
  const { leader, standby } = await pair();
  const before = await termOf(installation);
  await leader.stop('SIGKILL');
  await standby.leads();
  expect(Number((await termOf(installation))?.epoch)).toBe(Number(before?.epoch) + 1);
  expect((await leaseOf(installation)).leaseDurationSeconds).toBe(limits.leaseDurationMs / 1000);
});

test('a leader that is frozen in the middle of its work writes nothing after the next one leads, and ends when it wakes up', async () => {
  const { leader, standby } = await pair();
  const tenant = await applyTenant();
  const names = Array.from({ length: 12 }, (_, i) => `p${i}`);
  await Promise.all(names.map((name) => applyPolicy(tenant, name)));
  await until('the first policy', async () => (await policiesOf(tenant)) > 0);
  leader.send('SIGSTOP');
  const frozenAt = performance.now();
  await shortenLease(installation);
  await standby.leads();
  await untilPolicies(12, tenant);
  // What the frozen one would have to write, if it could.
  await applyPolicy(tenant, 'late');
  await untilPolicies(13, tenant);
  // A key whose status is still to be written waits for servers, and not in the queue.
  await untilPasses('each status', async () => expect(await withoutStatus(tenant)).toEqual([]));
  await until('an empty queue', async () => (await standby.metric('operator_queue_depth')) === 0);
  // The clock of a process that is frozen goes on, and no other one tells it that it is late.
  await until('the end of what it led by', () => performance.now() - frozenAt > limits.leaseRenewDeadlineMs);
  const before = await rowVersions();
  leader.send('SIGCONT');
  expect(await leader.gone()).toBe(1);
  expect(leader.output).toMatch(/no longer the leader/);
  expect(await rowVersions()).toEqual(before);
  expect((await termOf(installation))?.holder).toBe((await leaseOf(installation)).holderIdentity);
});

test('a Lease that is deleted ends its holder, and the next term is higher although the Lease counts from nothing', async () => {
  const { leader, standby } = await pair();
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
