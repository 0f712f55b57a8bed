/**
 * The chart on a real API server: it takes every object as it is (unknown fields refused, Pods under the restricted standard),
 * and install, upgrade and uninstall keep what must be kept. No Pod runs here; node.test.ts is where they do.
 *
 * There is no chart before this one yet. From the first release on, its package belongs here, to be installed before the
 * upgrades.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../../helpers/cluster.ts';
import { chart, databases, everything, find, hasHelm, helm, pods, type Resource, render, type Values } from './helm.ts';

describe.skipIf(!hasHelm)('the chart', () => {
  let cluster: Cluster;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    ({ cluster, stop } = await startCluster());
  });
  afterAll(() => stop?.());

  const restricted = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  /** Kinds of other operators, which this cluster does not have. */
  const foreign = /^(monitoring\.coreos\.com|postgresql\.cnpg\.io|gateway\.networking\.k8s\.io)\//;

  describe.each<[string, Values]>([...Object.entries(databases), ['everything', everything]])('%s', (_, values) => {
    let namespace: string;
    let resources: Resource[];
    beforeAll(async () => {
      namespace = await cluster.namespace(restricted);
      const tenantNamespaces = values.tenantNamespaces ? [await cluster.namespace()] : [];
      resources = await render({ ...values, tenantNamespaces }, 'accord', namespace);
    });

    test('the API server takes every object', async () => {
      const known = resources.filter(({ apiVersion }) => !foreign.test(apiVersion));
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: known });
      const apply = ['apply', '--server-side', '--dry-run=server', '--validate=strict', '-f', '-'];
      const said = await cluster.kubectl(apply, list);
      expect(said.trim().split('\n')).toHaveLength(known.length);
    });

    test('every Pod is let into a restricted namespace', async () => {
      for (const { of, spec } of pods(resources)) {
        // A StatefulSet's controller adds the volumes of its claims.
        const mounted: string[] = spec.containers[0].volumeMounts.map(({ name }: Resource) => name);
        const missing = mounted.filter((name) => !spec.volumes.some((volume: Resource) => volume.name === name));
        const volumes = [
          ...spec.volumes,
          ...missing.map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
        ];
        const { priorityClassName: _, ...rest } = spec; // one that the cluster does not have
        const pod = { metadata: { name: 'tried' }, spec: { restartPolicy: 'Always', ...rest, volumes } };
        const { status, body } = await cluster.request('POST', `/api/v1/namespaces/${namespace}/pods?dryRun=All`, pod);
        expect(status, `${of}: ${body.message}`).toBe(201);
      }
    });
  });

  test('a Pod that breaks the standard would not be', async () => {
    const namespace = await cluster.namespace(restricted);
    const [{ spec }] = pods(await render(databases.own)).filter(({ of }) => of === 'Deployment accord-server') as [
      Resource,
    ];
    const pod = { metadata: { name: 'tried' }, spec: { ...spec, securityContext: {} } };
    const { status, body } = await cluster.request('POST', `/api/v1/namespaces/${namespace}/pods?dryRun=All`, pod);
    expect([status, body.message]).toEqual([403, expect.stringContaining('runAsNonRoot')]);
  });

  describe('a release', () => {
    let namespace: string;
    let tenant: string;
    const release = (command: string[], values: Values = {}) => {
      const args = [...command, '-n', namespace, ...(command[0] === 'uninstall' ? [] : ['-f', '-'])];
      const all = { ...databases.own, tenantNamespaces: [tenant], ...values };
      return helm(args, { kubeconfig: cluster.kubeconfig, input: JSON.stringify(all) });
    };
    const secrets = async () => {
      const { items } = await cluster.call('GET', `/api/v1/namespaces/${namespace}/secrets`);
      const own = items.filter(({ type }: Resource) => !/^helm\.sh/.test(type));
      return Object.fromEntries(own.map(({ metadata, data }: Resource) => [metadata.name, data]));
    };
    const may = async (verb: string, what: string, where: string): Promise<boolean> => {
      const [resource = '', name] = what.split('/');
      const [plural, group = ''] = resource.split(/\.(.*)/);
      const spec = {
        user: `system:serviceaccount:${namespace}:accord-operator`,
        resourceAttributes: { verb, group, resource: plural, namespace: where, ...(name && { name }) },
      };
      const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
      return (await cluster.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', review)).status.allowed;
    };
    let made: Record<string, unknown>;
    beforeAll(async () => {
      [namespace, tenant] = await Promise.all([cluster.namespace(restricted), cluster.namespace()]);
    });

    test('is installed, and says what to do first', async () => {
      const said = await release(['install', 'accord', chart, '--take-ownership']);
      expect(said).toMatch(/accord token --tenant try-me --client first-request/);
      expect(said).toContain(`http://accord.${namespace}.svc`);
      made = await secrets();
      expect(Object.keys(made).sort()).toEqual(['accord-master-key', 'accord-postgresql']);
      // The examples of the notes are what they seem: the definitions are there, and take them.
      const [, indented = ''] = /<<'END'\n([\s\S]*?)\n {4}END/.exec(said) ?? [];
      const text = indented.replaceAll(/^ {4}/gm, '').replaceAll('try-me', await cluster.namespace());
      const apply = () => cluster.kubectl(['apply', '--dry-run=server', '-f', '-'], text);
      await expect.poll(apply).toMatch(/policy\.accord\.dev\/car-read created/);
    });

    test.each([
      ['list', 'policies.accord.dev', 'any', true],
      ['patch', 'tenants.accord.dev', '', true],
      ['delete', 'policies.accord.dev', 'any', false],
      ['create', 'policies.accord.dev', 'any', false],
      ['get', 'secrets/smtp', 'tenant', true],
      ['list', 'secrets', 'tenant', false],
      ['get', 'secrets/accord-master-key', 'own', false],
      ['get', 'secrets/any', 'any', false],
      ['update', 'leases.coordination.k8s.io/accord-operator', 'own', true],
      ['update', 'leases.coordination.k8s.io/another', 'own', false],
      ['get', 'leases.coordination.k8s.io/accord-operator', 'any', false],
      ['create', 'events', 'any', true],
      ['list', 'pods', 'own', false],
    ])('its operators may %s %s in the namespace "%s": %s', async (verb, what, where, allowed) => {
      const places: Record<string, string> = { tenant, own: namespace, any: 'default', '': '' };
      expect(await may(verb, what, places[where] as string)).toBe(allowed);
    });

    test('keeps its secrets and its migration through an upgrade of other values', async () => {
      const jobs = async () =>
        (await cluster.call('GET', `/apis/batch/v1/namespaces/${namespace}/jobs`)).items.map(
          ({ metadata }: Resource) => metadata.uid,
        );
      const before = await jobs();
      await release(['upgrade', 'accord', chart], { server: { replicas: 3 } });
      expect(await secrets()).toEqual(made);
      expect(await jobs()).toEqual(before);
      expect(
        (await cluster.call('GET', `/apis/apps/v1/namespaces/${namespace}/deployments/accord-server`)).spec.replicas,
      ).toBe(3);
    });

    test('replaces its migration when the image is another', async () => {
      await release(['upgrade', 'accord', chart], { image: { tag: '9.9.9' } });
      const { items } = await cluster.call('GET', `/apis/batch/v1/namespaces/${namespace}/jobs`);
      const alive = items.filter(({ metadata }: Resource) => metadata.deletionTimestamp === undefined);
      expect(alive.map(({ spec }: Resource) => spec.template.spec.containers[0].image)).toEqual([
        'ghcr.io/accord-dev/accord:9.9.9',
      ]);
    });

    test('what is rendered without a look at the cluster cannot put another key in the place of the first', async () => {
      const key = find(await render({ ...databases.own }, 'accord', namespace), 'Secret', 'accord-master-key');
      const path = `/api/v1/namespaces/${namespace}/secrets/accord-master-key`;
      const { status, body } = await cluster.request('PATCH', path, { data: key.data }, 'application/merge-patch+json');
      expect([status, body.message]).toEqual([422, expect.stringContaining('field is immutable')]);
    });

    test('leaves the definitions, the resources and the secrets when it goes, and takes them up when it returns', async () => {
      // --no-hooks: `accord finalizers remove` runs in a Pod.
      await release(['uninstall', 'accord', '--no-hooks']);
      expect(await secrets()).toEqual(made);
      expect(await cluster.kubectl(['get', 'crds', '-o', 'name'])).toMatch(/policies\.accord\.dev/);
      const roles = await cluster.kubectl(['get', 'clusterroles,clusterrolebindings', '-o', 'name']);
      expect(roles).not.toContain(namespace);
      await release(['install', 'accord', chart]);
      expect(await secrets()).toEqual(made);
      await release(['uninstall', 'accord', '--no-hooks']);
    });
  });
});
