/** A token of a Kubernetes service account, with the TrustedIssuer that docs/tokens.md shows: its holder is a back end. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { freePort, Running, root } from '../e2e/accord.ts';
import { useCluster } from '../helpers/cluster.ts';

vi.setConfig({ testTimeout: 300_000 });
const cluster = await useCluster();
const directory = await mkdtemp(join(tmpdir(), 'accord-service-account-'));
let running: Running | undefined;
afterAll(async () => {
  await running?.stop();
  await rm(directory, { recursive: true, force: true });
});

const audience = 'https://api.clinic.example';

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
  const authority = await cluster.kubectl([
    ...['config', 'view', '--raw', '--minify', '--flatten'],
    ...['-o', 'jsonpath={.clusters[0].cluster.certificate-authority-data}'],
  ]);
  await writeFile(join(directory, 'ca.crt'), Buffer.from(authority, 'base64'));
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
  const [api, admin] = [await freePort(), await freePort()];
  const listeners = ['--listen', `127.0.0.1:${api}`, '--admin-listen', `127.0.0.1:${admin}`];
  const source = ['--source', 'kubernetes', '--kubeconfig', cluster.kubeconfig, '--data', join(directory, 'data')];
  running = new Running(['start', ...source, ...listeners], {
    ...{ ACCORD_LEASE_NAMESPACE: namespace, ACCORD_CA_BUNDLE: join(directory, 'ca.crt') },
    ACCORD_OUTBOUND_ALLOW: '0.0.0.0/0,::/0',
  });
  await running.says('Ctrl-C stops everything.');
  const ask = async (account: string, path = `/authz/${namespace}`) => {
    const made = await cluster.kubectl(['create', 'token', account, '-n', namespace, '--audience', audience]);
    const reply = await fetch(`http://127.0.0.1:${api}${path}`, {
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
