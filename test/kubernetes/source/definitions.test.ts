/** CustomResourceDefinitions that are not there, come, change and go, on an API server of the test's own. */
import { afterAll, expect, test } from 'vitest';
import { startCluster } from '../../helpers/cluster.ts';
import { until } from '../../helpers/wait.ts';
import { expectInstalls } from '../installing.ts';
import { clusterForTests } from '../programs.ts';
import { follow, merge, policyPath, put, ready, targetOf } from './harness.ts';

const started = clusterForTests() === 'built' ? await startCluster() : undefined;
afterAll(() => started?.stop());
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const definition = `${definitions}/policies.accord.dev`;

test.skipIf(!started)(
  'an absent kind is a problem and no empty list; it recovers by itself when the kind appears',
  async () => {
    const { cluster } = started!;
    const one = await follow(cluster.kubeconfig);
    const { source } = one;
    expect(source.complete('Policy')).toBe(false);
    expect(source.problems().map(({ place }) => place)).toContain('policies.accord.dev');
    expect(source.problems()[0]?.message).toMatch(/does not know GET \/apis\/accord.dev\/v1alpha1\/\w+ \(404\)/);
    expect(one.synced).toContain('Policy');
    await expectInstalls(cluster, 'server'); // kubectl apply, twice
    await cluster.installDefinitions();
    await until(
      'all kinds',
      () => source.complete('Policy') && source.complete('Tenant') && source.problems().length === 0,
    );
    expect(one.synced.filter((kind) => kind === 'Policy').length).toBeGreaterThan(1);

    const namespace = await cluster.namespace();
    await put(cluster, namespace, 'p');
    const key = `Policy/${namespace}/p`;
    await until('the policy', () => source.get(key));
    // It may be said that its objects go, but not that they were never there.
    await source.addFinalizer(source.get(key)!);
    await cluster.call('DELETE', definition);
    await until('the deletion', () => source.get(key)?.deleting);
    await source.removeFinalizer(targetOf(source.get(key)!));
    await until('the kind to be gone', () => !source.complete('Policy'));
    expect(source.problems().map(({ place }) => place)).toEqual(['policies.accord.dev']);
    await cluster.installDefinitions();
    await put(cluster, namespace, 'p');
    await until(
      'the kind to be back',
      () => source.get(key) && !source.get(key)?.deleting && source.complete('Policy'),
    );
  },
);

test.skipIf(!started)(
  'an object from before the rules changed says so, and takes status and finalizer all the same',
  async () => {
    const { cluster } = started!;
    await cluster.installDefinitions();
    const { spec } = await cluster.call('GET', definition);
    const loose = structuredClone(spec);
    loose.versions[0].selectableFields = null; // of a field that has no schema now
    loose.versions[0].schema.openAPIV3Schema.properties.spec = {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
    };
    await cluster.call('PATCH', definition, { spec: loose }, merge);
    const namespace = await cluster.namespace();
    const bad = (name: string, more: object) => ({
      apiVersion: 'accord.dev/v1alpha1',
      kind: 'Policy',
      metadata: { name },
      spec: { tenantRef: { name: 'acme' }, name: `acme:${name}`, ...more },
    });
    const stricter = bad('stricter', { rego: '', adoptionPolicy: 'Sometimes' });
    const wrong = bad('wrong', { rego: 5 });
    for (const one of [stricter, wrong])
      await until(
        'the loose schema',
        async () => (await cluster.request('POST', policyPath(namespace), one)).status === 201,
      );
    await cluster.installDefinitions();
    await until(
      'the strict schema',
      async () => (await cluster.request('POST', policyPath(namespace), bad('new', { rego: 5 }))).status === 422,
    );
    const { source, observations } = await follow(cluster.kubeconfig);
    const objects = ['stricter', 'wrong'].map((name) => source.get(`Policy/${namespace}/${name}`)!);
    for (const object of objects) {
      expect(object.claims).toEqual({ tenant: 'acme', name: `acme:${object.name}` });
      expect(object.checked).toMatchObject({
        ok: false,
        message: expect.stringMatching(/^The object does not match the schema of its kind:\n\/spec/),
      });
      await source.addFinalizer(object);
      await source.writeStatus(targetOf(object), ready('Not valid.'));
      const { metadata, status } = await cluster.call('GET', policyPath(namespace, object.name));
      // The API server takes no change of an object in which a type is wrong.
      const isWrong = object.name === 'wrong';
      expect(status).toEqual(isWrong ? undefined : ready('Not valid.'));
      expect(metadata.finalizers).toEqual(isWrong ? undefined : ['accord.dev/finalizer']);
    }
    expect(observations.flatMap((one) => (one.kind === 'status_failed' ? [one.resource] : []))).toEqual([
      objects[1]?.key,
      objects[1]?.key,
    ]);
    for (const object of objects) {
      await cluster.call('DELETE', policyPath(namespace, object.name));
      await until('the deletion', () => source.get(object.key)?.deleting !== false);
      await source.removeFinalizer(targetOf(object));
      await until('the end of the object', () => !source.get(object.key));
    }
  },
);
