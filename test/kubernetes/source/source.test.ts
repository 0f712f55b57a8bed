import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { kinds } from '../../../crds/index.ts';
import { useCluster } from '../../helpers/cluster.ts';
import { startFaultProxy } from '../../helpers/fault-proxy.ts';
import { until } from '../../helpers/wait.ts';
import { closing, follow, merge, policyPath, put, ready, settled, targetOf } from './harness.ts';

const cluster = await useCluster();
const tenants = '/apis/accord.dev/v1alpha1/tenants';

describe('the source of a cluster', () => {
  test('holds what there is, and hears what comes, changes and goes', async () => {
    const namespace = await cluster.namespace({ team: 'a' });
    await put(cluster, namespace, 'first');
    const one = await follow(cluster.kubeconfig);
    const { source } = one;
    const key = `Policy/${namespace}/first`;
    const object = source.get(key);
    expect(object).toMatchObject({
      kind: 'Policy',
      namespace,
      generation: 1,
      deleting: false,
      checked: { ok: true },
      claims: { tenant: 'acme', name: 'acme:first' },
    });
    expect(object?.createdAt).toMatch(/^\d{4}-/);
    expect([...source.keys('Policy')]).toContain(key);
    expect(source.complete('Policy') && source.complete('Tenant') && source.complete('TrustedIssuer')).toBe(true);
    expect([...new Set(one.synced)]).toEqual(expect.arrayContaining(['Tenant', 'TrustedIssuer', 'Policy']));
    expect(source.problems()).toEqual([]);

    const other = `Policy/${namespace}/second`;
    await put(cluster, namespace, 'second');
    await until(other, () => source.get(other));
    await cluster.call(
      'PATCH',
      policyPath(namespace, 'first'),
      { spec: { rego: 'package p\n\ndefault outcome := "deny"\n' } },
      merge,
    );
    const changed = await until('generation 2', () =>
      source.get(key)?.generation === 2 ? source.get(key) : undefined,
    );
    expect(changed.digest).not.toBe(object?.digest);
    await cluster.call('DELETE', policyPath(namespace, 'second'));
    await until('the end of the second', () => !source.get(other));
    expect(one.told.flat().filter((one) => one === other)).toHaveLength(2);
  });

  test('is told once of a list, however long, though other lists end sooner', async () => {
    const namespace = await cluster.namespace();
    await Promise.all(Array.from({ length: 12 }, (_, i) => put(cluster, namespace, `many-${i}`)));
    const proxy = await startFaultProxy(cluster);
    closing(() => proxy.close());
    proxy.decide = ({ path, query, isWatch }) => {
      if (!path.endsWith('/policies') || isWatch) return undefined;
      query.set('limit', '5');
      return query.has('continue') ? { kind: 'delay', ms: 50 } : undefined;
    };
    const one = await follow(proxy.kubeconfig);
    expect(proxy.asked.filter(({ query }) => query.has('continue')).length).toBeGreaterThan(1);
    const calls = one.told.map((keys) => keys.filter((key) => key.startsWith(`Policy/${namespace}/`)).length);
    expect(calls.filter((count) => count > 0)).toEqual([12]);
  });

  test('an own status comes back and tells nothing; a mark, a deletion and a new spec do', async () => {
    const namespace = await cluster.namespace();
    await put(cluster, namespace, 'p');
    const key = `Policy/${namespace}/p`;
    const one = await follow(cluster.kubeconfig);
    const before = one.source.get(key)!;
    await one.source.addFinalizer(before);
    await one.source.writeStatus(targetOf(before), ready('a'));
    await settled(cluster, one, namespace);
    const stored = await cluster.call('GET', policyPath(namespace, 'p'));
    expect(stored.status).toEqual(ready('a'));
    expect(stored.metadata.finalizers).toEqual(['accord.dev/finalizer']);
    expect(one.tellings(key)).toBe(1);
    expect(one.source.get(key)).toBe(before);

    await cluster.call(
      'PATCH',
      policyPath(namespace, 'p'),
      { metadata: { annotations: { 'accord.dev/x': 'y' } } },
      merge,
    );
    await until('the annotation', () => one.source.get(key)?.annotations['accord.dev/x'] === 'y');
    await cluster.call('PATCH', policyPath(namespace, 'p'), { metadata: { labels: { a: 'b' } } }, merge);
    await until('the label to be told', () => one.tellings(key) === 3);
    await cluster.call('DELETE', policyPath(namespace, 'p'));
    await until('the deletion', () => one.source.get(key)?.deleting);
    await one.source.addFinalizer(one.source.get(key)!);
    await one.source.removeFinalizer(targetOf(before));
    await until('the end of the policy', () => !one.source.get(key));
    await one.source.removeFinalizer(targetOf(before));
    expect(one.tellings(key)).toBe(5);
  });

  test('writes no status and no finalizer that is there already', async () => {
    const namespace = await cluster.namespace();
    await put(cluster, namespace, 'p', {}, { finalizers: ['example.com/theirs'] });
    const one = await follow(cluster.kubeconfig);
    const object = one.source.get(`Policy/${namespace}/p`)!;
    const version = async () => (await cluster.call('GET', policyPath(namespace, 'p'))).metadata.resourceVersion;
    await one.source.addFinalizer(object);
    await one.source.writeStatus(targetOf(object), ready('a'));
    const first = await version();
    await one.source.addFinalizer(object);
    await one.source.writeStatus(targetOf(object), ready('a'));
    expect(await version()).toBe(first);
    const again = await follow(cluster.kubeconfig);
    await again.source.addFinalizer(object);
    await again.source.writeStatus(targetOf(object), ready('a'));
    expect(await version()).toBe(first);
    await again.source.writeStatus(targetOf(object), ready('b'));
    // The other source has not written this, and may not have heard of it yet: what it writes must be there in the end.
    await one.source.writeStatus(targetOf(object), ready('c'));
    await one.source.writeStatus(targetOf(object), ready('a'));
    const { activeGeneration: _, revision: __, ...less } = ready('d');
    await one.source.writeStatus(targetOf(object), less);
    const stored = await cluster.call('GET', policyPath(namespace, 'p'));
    expect(stored.status).toEqual(less);
    expect(stored.metadata.finalizers).toEqual(['example.com/theirs', 'accord.dev/finalizer']);
    await one.source.removeFinalizer(targetOf(object));
    expect((await cluster.call('GET', policyPath(namespace, 'p'))).metadata.finalizers).toEqual(['example.com/theirs']);
    await cluster.call('PATCH', policyPath(namespace, 'p'), { metadata: { finalizers: null } }, merge);
  });

  test('never writes to an object that was made anew under the name', async () => {
    const namespace = await cluster.namespace();
    await put(cluster, namespace, 'p');
    const one = await follow(cluster.kubeconfig);
    const old = one.source.get(`Policy/${namespace}/p`)!;
    const stale = { ...targetOf(old), uid: randomUUID() };
    // As if the store did not know yet: the API server itself refuses.
    const cut = await follow(
      await cluster.serviceAccountKubeconfig('no-list', [
        { apiGroups: ['accord.dev'], resources: ['policies', 'policies/status'], verbs: ['get', 'patch'] },
      ]),
    );
    expect(cut.source.complete('Policy')).toBe(false);
    await cut.source.writeStatus(stale, ready('wrong'));
    await cut.source.removeFinalizer(stale);
    await cut.source.writeStatus({ ...stale, name: 'nothing' }, ready('wrong'));
    const stored = await cluster.call('GET', policyPath(namespace, 'p'));
    expect(stored.status).toBeUndefined();
    await cut.source.writeStatus(targetOf(old), ready('right'));
    expect((await cluster.call('GET', policyPath(namespace, 'p'))).status).toEqual(ready('right'));
  });

  test('a writer in between is a conflict, and is not undone', async () => {
    const namespace = await cluster.namespace();
    await put(cluster, namespace, 'p');
    const one = await follow(cluster.kubeconfig);
    const object = one.source.get(`Policy/${namespace}/p`)!;
    await one.source.close();
    await cluster.call('PATCH', policyPath(namespace, 'p'), { metadata: { finalizers: ['example.com/late'] } }, merge);
    await one.source.addFinalizer(object);
    const stored = await cluster.call('GET', policyPath(namespace, 'p'));
    expect(stored.metadata.finalizers).toEqual(['example.com/late', 'accord.dev/finalizer']);
    await one.source.removeFinalizer(targetOf(object));
    await cluster.call('PATCH', policyPath(namespace, 'p'), { metadata: { finalizers: null } }, merge);
  });

  test('knows the labels of namespaces and tells their objects of a change', async () => {
    const namespace = await cluster.namespace({ team: 'a' });
    await put(cluster, namespace, 'p');
    const one = await follow(cluster.kubeconfig);
    expect(one.source.namespaceLabels(namespace)).toMatchObject({ team: 'a' });
    expect(one.source.namespaceLabels('no-such')).toBeUndefined();
    const before = one.tellings(`Policy/${namespace}/p`);
    await cluster.call('PATCH', `/api/v1/namespaces/${namespace}`, { metadata: { annotations: { a: 'b' } } }, merge);
    await cluster.call('PATCH', `/api/v1/namespaces/${namespace}`, { metadata: { labels: { team: 'b' } } }, merge);
    await until('the label', () => one.source.namespaceLabels(namespace)?.team === 'b');
    expect(one.tellings(`Policy/${namespace}/p`)).toBe(before + 1);
  });

  test('needs no more than the rights that the chart gives', async () => {
    const own = kinds.map(({ plural }) => plural);
    const kubeconfig = await cluster.serviceAccountKubeconfig('least', [
      { apiGroups: ['accord.dev'], resources: own, verbs: ['get', 'list', 'watch', 'patch'] },
      { apiGroups: ['accord.dev'], resources: own.map((plural) => `${plural}/status`), verbs: ['patch'] },
      { apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] },
      { apiGroups: [''], resources: ['events'], verbs: ['create'] },
    ]);
    const namespace = await cluster.namespace();
    await put(cluster, namespace, 'p');
    const one = await follow(kubeconfig);
    expect(one.source.problems()).toEqual([]);
    const object = one.source.get(`Policy/${namespace}/p`)!;
    await one.source.addFinalizer(object);
    await one.source.writeStatus(targetOf(object), ready('a'));
    one.source.event(targetOf(object), 'Normal', 'Programmed', 'm');
    const events = async () => (await cluster.call('GET', `/api/v1/namespaces/${namespace}/events`)).items;
    await until('the event', async () => (await events()).length === 1);
    await one.source.removeFinalizer(targetOf(object));
    const { metadata, status } = await cluster.call('GET', policyPath(namespace, 'p'));
    expect([metadata.finalizers, status]).toEqual([undefined, ready('a')]);
  });

  test('tells of a transition as an event, and of the same one once', async () => {
    const namespace = await cluster.namespace();
    const name = `ev-${namespace}`;
    await put(cluster, namespace, 'p');
    await cluster.call('POST', tenants, {
      apiVersion: 'accord.dev/v1alpha1',
      kind: 'Tenant',
      metadata: { name },
      spec: { displayName: 'x', audiences: ['x'] },
    });
    const one = await follow(cluster.kubeconfig);
    const object = one.source.get(`Policy/${namespace}/p`)!;
    for (let i = 0; i < 3; i++) one.source.event(targetOf(object), 'Warning', 'CompileError', `${'x'.repeat(2000)}`);
    one.source.event(
      targetOf(one.source.get(`Tenant//${name}`)!),
      'Normal',
      'Programmed',
      'Every live server decides with it.',
    );
    const events = async (where: string) => (await cluster.call('GET', `/api/v1/namespaces/${where}/events`)).items;
    const mine = await until('the event of the policy', async () => {
      const found = (await events(namespace)).filter(
        (event: { involvedObject: { name: string } }) => event.involvedObject.name === 'p',
      );
      return found.length > 0 ? found : undefined;
    });
    expect(mine).toHaveLength(1);
    expect(mine[0]).toMatchObject({
      type: 'Warning',
      reason: 'CompileError',
      involvedObject: { kind: 'Policy', uid: object.uid },
    });
    await until('the event of the Tenant', async () =>
      (await events('default')).some(
        (event: { involvedObject: { name: string } }) => event.involvedObject.name === name,
      ),
    );
    for (let i = 0; i < 300; i++) one.source.event(targetOf(object), 'Normal', 'Other', `${i}`);
    await one.source.close();
    expect(one.observations).toContainEqual({ kind: 'kubernetes_events_dropped', count: expect.any(Number) });
    await cluster.call('DELETE', `${tenants}/${name}`);
  });
});
