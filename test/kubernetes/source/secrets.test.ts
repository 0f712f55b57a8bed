import { expect, test } from 'vitest';
import { useCluster } from '../../helpers/cluster.ts';
import { startFaultProxy } from '../../helpers/fault-proxy.ts';
import { until } from '../../helpers/wait.ts';
import { closing, follow, merge, policyPath, put } from './harness.ts';

const cluster = await useCluster();
const secretPollMs = { min: 20, max: 40 };

const base64 = (text: string) => Buffer.from(text).toString('base64');
const pathOf = (namespace: string, name = '') =>
  `/api/v1/namespaces/${namespace}/secrets${name === '' ? '' : `/${name}`}`;

test('a Secret is read by name, and its coming, change and going are told to who asked', async () => {
  const namespace = await cluster.namespace();
  for (const name of ['asks', 'other', 'idle']) await put(cluster, namespace, name);
  const { source, ...one } = await follow(cluster.kubeconfig, { secretPollMs });
  const key = `Policy/${namespace}/asks`;
  const other = `Policy/${namespace}/other`;
  expect(await source.secrets.read(namespace, 's', key)).toBeUndefined();
  expect(await source.secrets.read(namespace, 's', other)).toBeUndefined();
  await cluster.call('POST', pathOf(namespace), { metadata: { name: 's' }, data: { password: base64('ünter') } });
  await until('both to be told', () => one.tellings(key) === 2 && one.tellings(other) === 2);
  expect((await source.secrets.read(namespace, 's', key))?.password?.toString()).toBe('ünter');
  await cluster.call('PATCH', pathOf(namespace, 's'), { data: { password: base64('b') } }, merge);
  await until('the change', () => one.tellings(key) === 3);
  // Another version of the object asks again, if it still wants to know.
  await cluster.call('PATCH', policyPath(namespace, 'other'), { metadata: { labels: { a: 'b' } } }, merge);
  await until('the new version', () => one.tellings(other) === 4);
  await cluster.call('DELETE', pathOf(namespace, 's'));
  await until('the end of the Secret', () => one.tellings(key) === 4);
  expect(one.tellings(other)).toBe(4);
  expect(one.tellings(`Policy/${namespace}/idle`)).toBe(1);
});

test('what may not be read is an error and no absence, and is told when it may', async () => {
  const namespace = await cluster.namespace();
  await put(cluster, namespace, 'asks');
  await cluster.call('POST', pathOf(namespace), { metadata: { name: 's' }, data: {} });
  const reading = { apiGroups: ['accord.dev'], resources: ['*'], verbs: ['get', 'list', 'watch'] };
  const namespaces = { apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] };
  const { source, ...one } = await follow(await cluster.serviceAccountKubeconfig('blind', [reading, namespaces]), {
    secretPollMs,
  });
  const key = `Policy/${namespace}/asks`;
  expect(source.problems()).toEqual([]);
  await expect(source.secrets.read(namespace, 's', key)).rejects.toMatchObject({ status: 403 });
  const subject = (await cluster.call('GET', '/api/v1/namespaces/default/serviceaccounts')).items.find(
    ({ metadata }: { metadata: { name: string } }) => metadata.name.startsWith('blind-'),
  ).metadata.name;
  const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  await cluster.call('POST', `${roles}/roles`, {
    metadata: { name: 'r' },
    rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
  });
  await cluster.call('POST', `${roles}/rolebindings`, {
    metadata: { name: 'r' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
    subjects: [{ kind: 'ServiceAccount', name: subject, namespace: 'default' }],
  });
  await until('the right to read', () => one.tellings(key) === 2);
  expect(await source.secrets.read(namespace, 's', key)).toEqual({});
});

test('an API server that is away tells nobody of a Secret', async () => {
  const namespace = await cluster.namespace();
  await put(cluster, namespace, 'asks');
  await cluster.call('POST', pathOf(namespace), { metadata: { name: 's' }, data: {} });
  const proxy = await startFaultProxy(cluster);
  closing(() => proxy.close());
  const { source, ...one } = await follow(proxy.kubeconfig, { secretPollMs });
  const key = `Policy/${namespace}/asks`;
  await source.secrets.read(namespace, 's', key);
  const asked = () => proxy.asked.filter(({ path }) => path === pathOf(namespace, 's')).length;
  proxy.decide = ({ path }) => (path === pathOf(namespace, 's') ? { kind: 'status', status: 500 } : undefined);
  const before = asked();
  await until('three refusals', () => asked() > before + 3);
  proxy.decide = undefined;
  await until('three answers', () => asked() > before + 6);
  expect(one.tellings(key)).toBe(1);
});

test('a Secret that is made is ours, and only such a one is changed', async () => {
  const namespace = await cluster.namespace();
  await put(cluster, namespace, 'owner');
  const { source } = await follow(cluster.kubeconfig);
  const owner = source.get(`Policy/${namespace}/owner`)!;
  const { secrets } = source;
  expect(await secrets.update(namespace, 's', { a: '1' })).toBe('missing');
  expect(await secrets.create(namespace, 's', { a: 'ä' }, { 'accord.dev/tenant': 'acme' }, owner)).toBe('created');
  expect(await secrets.create(namespace, 's', { a: 'other' }, {})).toBe('exists');
  const made = await cluster.call('GET', pathOf(namespace, 's'));
  expect(made).toMatchObject({
    type: 'Opaque',
    data: { a: base64('ä') },
    metadata: {
      labels: { 'accord.dev/tenant': 'acme', 'app.kubernetes.io/managed-by': 'accord' },
      ownerReferences: [{ apiVersion: 'accord.dev/v1alpha1', kind: 'Policy', name: 'owner', uid: owner.uid }],
    },
  });
  expect(await secrets.update(namespace, 's', { b: '2' })).toBe('updated');
  const changed = await cluster.call('GET', pathOf(namespace, 's'));
  expect(changed.data).toEqual({ b: base64('2') });
  expect(changed.metadata.labels).toEqual(made.metadata.labels);
  await cluster.call('POST', pathOf(namespace), { metadata: { name: 'theirs' }, data: { a: base64('x') } });
  expect(await secrets.update(namespace, 'theirs', { a: 'y' })).toBe('foreign');
  expect((await cluster.call('GET', pathOf(namespace, 'theirs'))).data).toEqual({ a: base64('x') });
  await expect(secrets.create('no-such-namespace', 's', {}, {})).rejects.toMatchObject({ status: 404 });
});
