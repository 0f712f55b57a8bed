/** `accord finalizers remove`: no manifest waits for an operator that is gone, and none comes back meanwhile. */
import { expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { accord } from '../e2e/accord.ts';
import { useCluster } from '../helpers/cluster.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { type Installation, install, killOperatorsAfterEach, leaseOf, startOperator } from './operators.ts';

const cluster = await useCluster();
const db = await createTestDatabase();
const FINALIZER = 'accord.dev/finalizer';
const group = '/apis/accord.dev/v1alpha1';

killOperatorsAfterEach();

const release = async ({ namespace }: Installation) => {
  const args = ['finalizers', 'remove', '--source', 'kubernetes', '--kubeconfig', cluster.kubeconfig];
  return (await accord(args, { ACCORD_LEASE_NAMESPACE: namespace })).stdout;
};

/** A tenant with policies, each with the finalizer, and one finalizer of somebody else's. */
async function applyObjects(policies: number): Promise<string> {
  const tenant = await cluster.namespace();
  const type = (kind: string) => ({ apiVersion: 'accord.dev/v1alpha1', kind });
  const finalizers = [FINALIZER];
  const spec = { displayName: 'Release', audiences: ['x'] };
  await cluster.call('POST', `${group}/tenants`, { ...type('Tenant'), metadata: { name: tenant, finalizers }, spec });
  const apply = (_: unknown, i: number) => {
    const name = `p${i}`;
    const rego = 'package p\n\ndefault outcome := "allow"\n';
    const own = i === 0 ? ['example.com/other', FINALIZER] : finalizers;
    return cluster.call('POST', `${group}/namespaces/${tenant}/policies`, {
      ...type('Policy'),
      metadata: { name, namespace: tenant, finalizers: own },
      spec: { tenantRef: { name: tenant }, name, rego },
    });
  };
  await Promise.all(Array.from({ length: policies }, apply));
  return tenant;
}

const finalizersOf = async (path: string): Promise<string[]> =>
  (await cluster.call('GET', `${group}${path}`)).metadata.finalizers ?? [];

test('without an operator: at once, more than a page, and again without effect', async () => {
  const installation = await install(cluster, db);
  const tenant = await applyObjects(510);
  expect(await release(installation)).toMatch(/Removed the finalizer from 5\d\d manifests\./);
  expect(await finalizersOf(`/tenants/${tenant}`)).toEqual([]);
  expect(await finalizersOf(`/namespaces/${tenant}/policies/p0`)).toEqual(['example.com/other']);
  expect(await finalizersOf(`/namespaces/${tenant}/policies/p509`)).toEqual([]);
  expect(await release(installation)).toMatch(/No manifest has the finalizer\./);
  await cluster.removeManifests();
});

test('the operator that leads ends, another one waits, and nothing gets its finalizer back', async () => {
  const installation = await install(cluster, db);
  const tenant = await applyObjects(1);
  const operator = await startOperator(installation);
  await operator.leads();
  const [printed, code] = await Promise.all([release(installation), operator.gone()]);
  expect(code).toBe(1);
  expect(operator.output).toMatch(/accord-finalizers_\S+ took the Lease/);
  expect(printed).toMatch(/Waiting 15 s until the operator that led has ended/);
  expect(await leaseOf(installation)).toMatchObject({ leaseDurationSeconds: limits.finalizerRemovalLeaseMs / 1000 });
  const next = await startOperator(installation);
  await next.says(/accord finalizers remove holds the Lease/);
  await next.becomesReady();
  expect(await finalizersOf(`/tenants/${tenant}`)).toEqual([]);
});
