/** `accord start --source kubernetes`: a developer's whole installation in one process, fed by a cluster. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { freePort, Running } from '../e2e/accord.ts';
import { useCluster } from '../helpers/cluster.ts';

vi.setConfig({ testTimeout: 300_000 });
const cluster = await useCluster();
const directory = await mkdtemp(join(tmpdir(), 'accord-start-'));
let running: Running | undefined;
afterAll(async () => {
  await running?.stop();
  await rm(directory, { recursive: true, force: true });
});

const policy = (tenant: string, outcome: string) => `apiVersion: accord.dev/v1alpha1
kind: Policy
metadata:
  name: read
  namespace: ${tenant}
  annotations:
    accord.dev/first-request: '{"subject": {"id": "alice"}, "action": "read"}'
spec:
  tenantRef: { name: ${tenant} }
  name: read
  rego: |
    package p

    default outcome := "${outcome}"
`;

/** Two types, each inherited through the other. */
const circle = (tenant: string) =>
  ['tows', 'pulls']
    .map((name, i, names) => {
      const other = `car:${names[1 - i]}:car`;
      return `apiVersion: accord.dev/v1alpha1
kind: RelationshipType
metadata: { name: ${name}, namespace: ${tenant} }
spec:
  tenantRef: { name: ${tenant} }
  from: car
  name: ${name}
  to: car
  inheritedThrough: [{ relationship: "${other}", from: "${other}" }]
`;
    })
    .join('---\n');
const car = (tenant: string) => `apiVersion: accord.dev/v1alpha1
kind: ResourceType
metadata: { name: car, namespace: ${tenant} }
spec: { tenantRef: { name: ${tenant} }, name: car }
`;

test('reconciles what the cluster holds, prints a first request, follows a change, and stops in order', async () => {
  const tenant = await cluster.namespace();
  const manifest = `apiVersion: accord.dev/v1alpha1
kind: Tenant
metadata: { name: ${tenant} }
spec: { displayName: Start, audiences: [x] }
`;
  await cluster.kubectl(['apply', '-f', '-'], `${manifest}---\n${policy(tenant, 'allow')}`);
  const [api, admin] = [await freePort(), await freePort()];
  const listeners = ['--listen', `127.0.0.1:${api}`, '--admin-listen', `127.0.0.1:${admin}`];
  const source = ['--source', 'kubernetes', '--kubeconfig', cluster.kubeconfig, '--data', join(directory, 'data')];
  running = new Running(['start', ...source, ...listeners], { ACCORD_LEASE_NAMESPACE: tenant });
  await running.says('Ctrl-C stops everything.');
  expect(running.output).toContain(`manifests of ${cluster.url}`);
  expect(running.output).toMatch(new RegExp(`Policy\\s+${tenant}/read\\s+Ready`));
  expect(running.output).toContain(`/authz/${tenant} `);
  expect(running.output).toContain('{"subject":{"id":"alice"},"action":"read"}');
  const metrics = await (await fetch(`http://127.0.0.1:${admin}/metrics`)).text();
  expect(metrics).toMatch(/^accord_operator_leader 1$/m);
  expect(metrics).toMatch(/^accord_snapshot_fresh 1$/m);
  await cluster.kubectl(['apply', '-f', '-'], policy(tenant, 'deny'));
  await cluster.kubectl([
    'wait',
    '-n',
    tenant,
    'apol/read',
    '--for=jsonpath={.status.activeGeneration}=2',
    '--timeout=60s',
  ]);
  await cluster.kubectl(['apply', '-f', '-'], `${circle(tenant)}---\n${car(tenant)}`);
  const types = ['relationshiptypes.accord.dev/tows', 'relationshiptypes.accord.dev/pulls'];
  await cluster.kubectl(['wait', '-n', tenant, ...types, '--for=condition=Ready', '--timeout=60s']);
  // The type of their ends goes only when nothing names it any more, no retired type either.
  await cluster.kubectl(['delete', '-n', tenant, ...types, 'resourcetypes.accord.dev/car', '--timeout=60s']);
  expect(await running.stop()).toBe(0);
});
