/**
 * `accord start --source kubernetes`: a developer's whole installation in one process, fed by a cluster. A back end asks it with
 * a token of a service account.
 */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { root } from '../e2e/accord.ts';
import { scratchFolder, useCluster } from '../helpers/cluster.ts';
import { freePort } from '../helpers/free-port.ts';
import { AccordProcess } from './accord-process.ts';

const cluster = await useCluster();
let tenant: string;
let url: string;
let running: AccordProcess;

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

beforeAll(async () => {
  tenant = await cluster.namespace();
  const manifest = `apiVersion: accord.dev/v1alpha1
kind: Tenant
metadata: { name: ${tenant} }
spec: { displayName: Start, audiences: [x] }
`;
  await cluster.kubectl(['apply', '-f', '-'], `${manifest}---\n${policy(tenant, 'allow')}`);
  const directory = await scratchFolder();
  const authority = await cluster.kubectl([
    ...['config', 'view', '--raw', '--minify', '--flatten'],
    ...['-o', 'jsonpath={.clusters[0].cluster.certificate-authority-data}'],
  ]);
  await writeFile(join(directory, 'ca.crt'), Buffer.from(authority, 'base64'));
  const api = `127.0.0.1:${await freePort()}`;
  url = `http://${api}`;
  const data = join(directory, 'data');
  const source = ['--source', 'kubernetes', '--kubeconfig', cluster.kubeconfig, '--data', data];
  running = await AccordProcess.run(['start', ...source, '--listen', api], {
    ...{ ACCORD_LEASE_NAMESPACE: tenant, ACCORD_CA_BUNDLE: join(directory, 'ca.crt') },
    ACCORD_OUTBOUND_ALLOW: '0.0.0.0/0,::/0',
  });
  await running.until('has made its database', () => existsSync(join(data, 'master.key')));
  await running.says('Ctrl-C stops everything.');
});

test('reconciles what the cluster holds, prints a first request, and follows a change', async () => {
  expect(running.output).toContain(`manifests of ${cluster.url}`);
  expect(running.output).toMatch(new RegExp(`Policy\\s+${tenant}/read\\s+Ready`));
  expect(running.output).toContain(`/authz/${tenant} `);
  expect(running.output).toContain('{"subject":{"id":"alice"},"action":"read"}');
  expect(await running.metric('operator_leader')).toBe(1);
  expect(await running.metric('snapshot_fresh')).toBe(1);
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
});

const audience = 'https://api.clinic.example';

/** With the TrustedIssuer that docs/tokens.md shows. */
test('a service account asks for decisions, with the scopes that its issuer states', async () => {
  const namespace = await cluster.namespace();
  const page = await readFile(join(root, 'docs/tokens.md'), 'utf8');
  const shown = /^## Kubernetes service accounts$[\s\S]*?^```yaml\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? '';
  const { issuer } = (await cluster.call('GET', '/.well-known/openid-configuration')) as { issuer: string };
  // Where the API server of the test is, and the names of the test, instead of those of the page.
  const manifest = shown
    .replace('https://kubernetes.default.svc.cluster.local', issuer)
    .replace('https://kubernetes.default.svc/', `${cluster.url}/`)
    .replace('serviceaccount:clinic:portal', `serviceaccount:${namespace}:portal`)
    .replaceAll('clinic}', `${namespace}}`);
  const binding = ['create', 'clusterrolebinding', namespace, '--clusterrole=system:service-account-issuer-discovery'];
  await cluster.kubectl([...binding, '--group=system:unauthenticated']);
  await cluster.kubectl(['label', 'clusterrolebinding', namespace, 'made-by=accord-tests']);
  const more = `apiVersion: accord.dev/v1alpha1
kind: Tenant
metadata: { name: ${namespace} }
spec: { displayName: Service accounts, audiences: [${audience}] }
---
apiVersion: accord.dev/v1alpha1
kind: Policy
metadata: { name: read, namespace: ${namespace} }
spec:
  tenantRef: { name: ${namespace} }
  name: read
  rego: |
    package p

    default outcome := "deny"

    outcome := "allow" if input.subject.id == "ann"
`;
  await cluster.kubectl(['apply', '-f', '-'], `${more}---\n${manifest}`);
  const wait = ['wait', '-n', namespace, 'policies.accord.dev,trustedissuers.accord.dev', '--all'];
  await cluster.kubectl([...wait, '--for=condition=Ready', '--timeout=60s']);
  const ask = async (account: string, path = `/authz/${namespace}`) => {
    const made = await cluster.kubectl(['create', 'token', account, '-n', namespace, '--audience', audience]);
    const reply = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${made.trim()}`, 'content-type': 'application/json' },
      body: JSON.stringify({ subject: { type: 'user', id: 'ann' }, action: 'read' }),
    });
    return { status: reply.status, body: (await reply.json()) as { outcome?: string; code?: string } };
  };
  for (const account of ['portal', 'other'])
    await cluster.kubectl(['create', 'serviceaccount', account, '-n', namespace]);
  expect(await ask('portal')).toEqual({ status: 200, body: { outcome: 'allow' } });
  expect(await ask('portal', `/${namespace}/actors/user/ann/erase`)).toMatchObject({
    status: 403,
    body: { code: 'insufficient_scope' },
  });
  expect(await ask('other')).toMatchObject({ status: 403, body: { code: 'forbidden' } });
});

test('stops in order', async () => {
  expect(await running.stop()).toBe(0);
});
