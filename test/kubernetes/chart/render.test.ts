/** What the chart makes of its values, object by object; that the API server takes it is held by install.test.ts. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseCommandLine } from '../../../cli/arguments.ts';
import { createOperatorMetrics } from '../../../operator/index.ts';
import { ConfigSchema, readConfig } from '../../../server/core/config.ts';
import { createMetrics } from '../../../server/core/metrics.ts';
import type { Room } from '../../../server/room/room.ts';
import { rooms } from '../../../server/rooms.ts';
import {
  chart,
  databases,
  everything,
  find,
  hasHelm,
  helm,
  pods,
  type Resource,
  render,
  root,
  type Values,
} from './helm.ts';

const definitions = readdirSync(join(root, 'crds')).filter((name) => name.endsWith('.yaml'));
const variants: Record<string, Values> = { ...databases, everything };
let rendered: Record<keyof typeof databases | 'everything', Resource[]>;
const ours = (resources: Resource[]) => pods(resources).filter(({ of }) => !of.startsWith('StatefulSet'));
const variables = ({ spec }: { spec: Resource }): Record<string, string> =>
  Object.fromEntries(spec.containers[0].env?.map(({ name, value }: Resource) => [name, value]) ?? []);

describe.skipIf(!hasHelm)('the chart', () => {
  beforeAll(async () => {
    const all = Object.entries(variants).map(async ([name, values]) => [name, await render(values)] as const);
    rendered = Object.fromEntries(await Promise.all(all)) as typeof rendered;
  });
  test('helm lint finds nothing', async () => {
    expect(await helm(['lint', '--strict', chart])).toMatch(/1 chart\(s\) linted, 0 chart\(s\) failed/);
  });

  describe.each(Object.keys(variants) as (keyof typeof rendered)[])('with the values %s', (name) => {
    let resources: Resource[];
    beforeAll(() => {
      resources = rendered[name];
    });

    test('every object has a namespace of its own or is of the cluster, and our labels', () => {
      const cluster = /^(ClusterRole|ClusterRoleBinding|CustomResourceDefinition)$/;
      for (const { kind, metadata } of resources) {
        if (!cluster.test(kind)) expect(metadata.namespace, metadata.name).toMatch(/^(accord-system|carshare|y)$/);
        if (kind !== 'CustomResourceDefinition') expect(metadata.labels).toHaveProperty('app.kubernetes.io/instance');
      }
    });

    test('no label, annotation or variable is anything but text in YAML 1.1', () => {
      const texts = resources.flatMap(({ metadata }) => Object.values({ ...metadata.labels, ...metadata.annotations }));
      const values = pods(resources).flatMap((pod) => Object.values(variables(pod)).filter((one) => one !== undefined));
      expect([...texts, ...values].filter((one) => typeof one !== 'string')).toEqual([]);
    });

    test('every container states what it needs and how much memory it may have', () => {
      for (const { of, spec } of pods(resources)) {
        const { requests, limits } = spec.containers[0].resources;
        expect({ ...requests, limit: limits.memory }, of).toEqual({
          cpu: expect.any(String),
          memory: expect.any(String),
          limit: expect.any(String),
        });
      }
    });

    test('only the operators and what releases their resources have a token of the API server', () => {
      const withToken = pods(resources).filter(({ spec }) => spec.automountServiceAccountToken !== false);
      expect(withToken.map(({ of }) => of).sort()).toEqual(['Deployment accord-operator', 'Job accord-release']);
      for (const { spec } of withToken) expect(spec.serviceAccountName).toBe('accord-operator');
    });

    test('every process takes its environment, and the one that owns the schema is not a server', () => {
      for (const pod of ours(resources)) {
        const set = variables(pod);
        const secret = { ACCORD_DATABASE_URL: 'postgresql://a@b/c', ACCORD_MASTER_KEY: 'A'.repeat(43) };
        const accord = Object.entries({ ...set, ...secret }).filter(([name]) => name.startsWith('ACCORD_'));
        readConfig({ ...Object.fromEntries(accord), ACCORD_MIGRATION_URL: undefined });
        expect('ACCORD_MIGRATION_URL' in set, pod.of).toBe(/^Job accord-migrate-/.test(pod.of));
      }
    });

    test('a Service leads to Pods that have its port, and to no others', () => {
      for (const { metadata, spec } of resources.filter(({ kind }) => kind === 'Service')) {
        const chosen = pods(resources).filter(({ labels }) =>
          Object.entries(spec.selector).every(([name, value]) => labels[name] === value),
        );
        expect(chosen, metadata.name).toHaveLength(1);
        const ports = chosen[0]?.spec.containers[0].ports.map(({ name }: Resource) => name);
        for (const { targetPort } of spec.ports) expect(ports).toContain(targetPort);
      }
    });
  });

  describe('servers and operators', () => {
    test('two of each, replaced one by one without one missing, spread, and never all disrupted', () => {
      for (const name of ['accord-server', 'accord-operator']) {
        const { replicas, strategy, template } = find(rendered.own, 'Deployment', name).spec;
        expect([replicas, strategy.rollingUpdate]).toEqual([2, { maxUnavailable: 0, maxSurge: 1 }]);
        expect(template.spec.topologySpreadConstraints.map(({ topologyKey }: Resource) => topologyKey)).toEqual([
          'topology.kubernetes.io/zone',
          'kubernetes.io/hostname',
        ]);
        expect(find(rendered.own, 'PodDisruptionBudget', name).spec.maxUnavailable).toBe(1);
        const probes = template.spec.containers[0];
        expect([probes.livenessProbe, probes.readinessProbe].map((probe) => probe.httpGet.path)).toEqual([
          '/live',
          '/ready',
        ]);
      }
    });

    test('a server may take as long to end as it drains, and as long to begin as it waits', () => {
      const { spec } = find(rendered.own, 'Deployment', 'accord-server').spec.template;
      const { ACCORD_DRAIN: drain } = variables({ spec });
      expect(spec.terminationGracePeriodSeconds).toBe(Number(drain) + 30);
      const { startupProbe, args } = spec.containers[0];
      expect(startupProbe.periodSeconds * startupProbe.failureThreshold).toBeGreaterThan(60 + Number(args.at(-1)));
    });

    test('with autoscaling, the Deployment leaves their number alone', () => {
      expect(find(rendered.everything, 'Deployment', 'accord-server').spec).not.toHaveProperty('replicas');
      expect(find(rendered.everything, 'HorizontalPodAutoscaler').spec.scaleTargetRef.name).toBe('accord-server');
    });

    test('every variable that there is can be set', () => {
      const set = Object.assign({}, ...[...ours(rendered.own), ...ours(rendered.external)].map(variables));
      expect(Object.keys(ConfigSchema.properties).filter((name) => !(name in set))).toEqual([]);
    });

    test('the commands take their options', () => {
      for (const { of, spec } of ours(rendered.own).filter(({ of }) => !of.startsWith('Pod '))) {
        expect(typeof parseCommandLine(spec.containers[0].args), of).toBe('object');
      }
    });

    test('callers reach them by the first name that is given', async () => {
      const base = async (values: Values) =>
        variables({
          spec: find(await render({ ...databases.own, ...values }), 'Deployment', 'accord-server').spec.template.spec,
        }).ACCORD_BASE_URL;
      expect(await base({})).toBe('http://accord.accord-system.svc');
      expect(await base({ service: { port: 8080 } })).toBe('http://accord.accord-system.svc:8080');
      const behind = { config: { trustProxy: ['10.244.0.0/16'] } };
      expect(await base({ ...behind, ingress: { enabled: true, hosts: ['a.example'] } })).toBe('http://a.example');
      expect(await base({ ...behind, ingress: everything.ingress })).toBe('https://accord.example');
      expect(await base({ ...behind, gateway: everything.gateway })).toBe('https://accord.example');
      expect(await base({ ...behind, ingress: everything.ingress, baseUrl: 'https://b.example/x' })).toBe(
        'https://b.example/x',
      );
    });
  });

  describe('rights', () => {
    const rules = (resources: Resource[], kind: string, name: string) => find(resources, kind, name).rules;
    const operator = () => rules(rendered.everything, 'ClusterRole', 'accord-system-accord-operator');

    test('nothing is a wildcard, and Secrets are never listed', () => {
      for (const { rules: all = [], metadata } of rendered.everything.filter(({ kind }) => /Role$/.test(kind))) {
        for (const rule of all) {
          expect(JSON.stringify(rule), metadata.name).not.toContain('*');
          if (rule.resources.includes('secrets')) expect(rule.verbs).toEqual(['get', 'create', 'patch']);
        }
      }
      expect(operator().flatMap((rule: Resource) => rule.resources)).not.toContain('secrets');
    });

    test('Secrets in the namespaces that the values name', () => {
      const roles = rendered.everything.filter(({ rules: all }) => all?.[0]?.resources?.[0] === 'secrets');
      expect(roles.map(({ kind, metadata }) => [kind, metadata.namespace])).toEqual([
        ['Role', 'carshare'],
        ['Role', 'y'],
      ]);
      expect(rendered.own.filter(({ rules: all }) => JSON.stringify(all ?? '').includes('secrets'))).toEqual([]);
    });

    test('every kind that exists, and its status', () => {
      const plurals = definitions.map((name) => name.replace(/^.*_(.*)\.yaml$/, '$1'));
      const [objects, statuses] = operator();
      expect(objects.resources.toSorted()).toEqual(plurals.toSorted());
      expect(statuses.resources.toSorted()).toEqual(plurals.map((one) => `${one}/status`).toSorted());
      expect([objects.verbs, statuses.verbs]).toEqual([['get', 'list', 'watch', 'patch'], ['patch']]);
    });

    test('who may trust an issuer or write a Tenant was given just that, and no default role has it', () => {
      const people = rendered.own.filter(
        ({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === 'people',
      );
      const writable = Object.fromEntries(
        people.map(({ metadata, rules: all }) => [
          metadata.name,
          all[0].verbs.includes('create') ? all[0].resources : [],
        ]),
      );
      expect(writable['accord-viewer']).toEqual([]);
      expect(writable['accord-tenant-editor']).toEqual(['tenants']);
      expect(writable['accord-issuer-editor']).toEqual(expect.arrayContaining(['trustedissuers']));
      expect(writable['accord-editor']).toEqual(expect.arrayContaining(['policies']));
      expect(writable['accord-editor']).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/^(tenants|trustedissuers|oauthclients)$/)]),
      );
      const aggregated = people.filter(({ metadata }) => JSON.stringify(metadata.labels).includes('aggregate-to'));
      expect(aggregated.map(({ metadata }) => metadata.name).sort()).toEqual(['accord-editor', 'accord-viewer']);
    });
  });

  describe('definitions', () => {
    test('are those of crds/, kept at uninstall', () => {
      const made = rendered.own.filter(({ kind }) => kind === 'CustomResourceDefinition');
      expect(made).toHaveLength(definitions.length);
      for (const file of definitions) {
        const { metadata, ...expected } = parse(readFileSync(join(root, 'crds', file), 'utf8'));
        const copy = find(made, 'CustomResourceDefinition', metadata.name);
        expect(copy).toMatchObject(expected);
        expect(copy.metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
      }
    });

    test('Artifact Hub is told of each', () => {
      const { annotations } = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8'));
      const told = parse(annotations['artifacthub.io/crds']).map(({ name }: Resource) => name);
      const made = rendered.own.filter(({ kind }) => kind === 'CustomResourceDefinition');
      expect(told.toSorted()).toEqual(made.map(({ metadata }) => metadata.name).toSorted());
    });

    test('can be left out', async () => {
      const kinds = (await render({ ...databases.own, crds: { enabled: false } })).map(({ kind }) => kind);
      expect(kinds).not.toContain('CustomResourceDefinition');
    });
  });

  describe('monitoring', () => {
    const seen = { snapshots: { size: 0, isFresh: () => true }, engine: { size: 0 } };
    const server = createMetrics(rooms.map((room: Room) => (meters) => room.metrics?.(seen, meters)));
    const exposed = [server, createOperatorMetrics()].flatMap(({ registry }) =>
      registry.getMetricsAsArray().map(({ name }) => name),
    );
    const metricsIn = (text: string) => [
      ...new Set(
        text.match(/\b(accord|process|nodejs)_[a-z0-9_]+/g)?.map((name) => name.replace(/_(bucket|count|sum)$/, '')),
      ),
    ];

    test.each(['PrometheusRule', 'ConfigMap'])('the %s asks for metrics that exist', (kind) => {
      const asked = metricsIn(JSON.stringify(find(rendered.everything, kind)));
      expect(asked.length).toBeGreaterThan(4);
      expect(asked.filter((name) => !exposed.includes(name))).toEqual([]);
    });

    test('the templates of alerts reach Prometheus, and nothing else of them stays', () => {
      const text = JSON.stringify(find(rendered.everything, 'PrometheusRule').spec);
      expect(text).toContain('{{ $labels.reason }}');
      expect(text).not.toMatch(/RELEASE_NAMESPACE|SERVER_ADMIN_SERVICE/);
    });

    test('the ServiceMonitor chooses the admin Services', () => {
      const { matchLabels } = find(rendered.everything, 'ServiceMonitor').spec.selector;
      const chosen = rendered.everything.filter(
        ({ kind, metadata }) =>
          kind === 'Service' && Object.entries(matchLabels).every(([name, value]) => metadata.labels[name] === value),
      );
      expect(chosen.map(({ metadata }) => metadata.name)).toEqual(['accord-server-admin', 'accord-operator-admin']);
    });

    test('nothing of it is there unless asked for', () => {
      const kinds = rendered.own.map(({ kind }) => kind);
      expect(kinds.filter((kind) => /Monitor|PrometheusRule|ConfigMap|Ingress|HTTPRoute/.test(kind))).toEqual([]);
    });
  });

  describe('network policies', () => {
    const policy = async (name: string, values: Values = {}) =>
      find(await render({ ...databases.own, ...values }), 'NetworkPolicy', name).spec;
    const monitoring = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } };
    const helmTest = expect.objectContaining({ podSelector: expect.anything() });

    test('by default everybody reaches the APIs, and monitoring alone the admin ports', async () => {
      const [api, admin, ...rest] = (await policy('accord-server')).ingress;
      expect([api, admin.ports, admin.from, rest]).toEqual([
        { ports: [{ port: 'http' }] },
        [{ port: 'admin' }],
        [monitoring, helmTest],
        [],
      ]);
      expect((await policy('accord-operator')).ingress).toEqual([{ ports: [{ port: 'admin' }], from: [monitoring] }]);
    });

    test('without peers for metrics there is no rule, because an empty one would allow everybody', async () => {
      const none = { networkPolicy: { metricsFrom: [] } };
      expect((await policy('accord-operator', none)).ingress).toEqual([]);
      expect((await policy('accord-server', none)).ingress[1].from).toEqual([helmTest]);
    });

    test('callers may be named, and connections to the outside restricted', async () => {
      const peers = { networkPolicy: { apiFrom: [{ podSelector: {} }], egress: [{ ports: [{ port: 5432 }] }] } };
      const spec = await policy('accord-server', peers);
      expect([spec.ingress[0].from, spec.policyTypes]).toEqual([[{ podSelector: {} }], ['Ingress', 'Egress']]);
    });
  });

  describe('what an installation adds', () => {
    test('common labels and annotations are on every object and Pod, and replace none that selectors use', () => {
      for (const { kind, metadata } of rendered.everything.filter((one) => one.kind !== 'CustomResourceDefinition')) {
        expect(metadata.labels, `${kind} ${metadata.name}`).toMatchObject({ 'example.com/cost': 'c7' });
        expect(metadata.annotations, `${kind} ${metadata.name}`).toMatchObject({ 'example.com/owner': 'platform' });
        expect(metadata.labels['app.kubernetes.io/name']).toBe('accord');
      }
      for (const { of, labels } of pods(rendered.everything)) {
        expect(labels, of).toMatchObject({ 'example.com/cost': 'c7', 'app.kubernetes.io/name': 'accord' });
      }
    });

    test('environment, arguments and volumes', () => {
      const pod = (name: string) => find(rendered.everything, 'Deployment', name).spec.template.spec;
      const server = pod('accord-server');
      expect(server.containers[0].env.at(-1)).toEqual({ name: 'TZ', value: 'UTC' });
      expect(server.volumes.at(-1)).toEqual({ name: 'extra', emptyDir: {} });
      expect(server.containers[0].volumeMounts.at(-1)).toEqual({ name: 'extra', mountPath: '/extra' });
      expect(variables({ spec: server })).toMatchObject({
        ACCORD_HTTPS_PROXY: 'http://proxy.example:3128',
        ACCORD_NO_PROXY: '.internal,10.0.0.0/8',
        ACCORD_CA_BUNDLE: '/etc/accord/ca-bundle/ca.crt',
        ACCORD_MAIL_FROM: 'Accord <no-reply@example.com>',
      });
      const smtp = { name: 'ACCORD_SMTP_URL', valueFrom: { secretKeyRef: { name: 'our-mail', key: 'smtp-url' } } };
      expect(server.containers[0].env).toContainEqual(smtp);
      const authorities = { name: 'our-authorities', items: [{ key: 'ca.crt', path: 'ca.crt' }] };
      expect(server.volumes).toContainEqual({ name: 'ca-bundle', configMap: authorities });
      const { args } = pod('accord-operator').containers[0];
      expect(args.at(-1)).toBe('--adopt-cluster');
      expect(typeof parseCommandLine(args)).toBe('object');
    });

    test('a ServiceAccount of its own is used wherever the chart would use the one it makes', async () => {
      const own = (name: string) => ({ serviceAccount: { create: false, name } });
      const resources = await render({ ...databases.own, server: own('ours'), operator: own('theirs') });
      expect(resources.filter(({ kind }) => kind === 'ServiceAccount')).toEqual([]);
      const used = pods(resources).map(({ of, spec }) => [of.replace(/-[0-9a-f]{8}$/, ''), spec.serviceAccountName]);
      expect(Object.fromEntries(used)).toMatchObject({
        'Deployment accord-server': 'ours',
        'Job accord-migrate': 'ours',
        'Deployment accord-operator': 'theirs',
        'Job accord-release': 'theirs',
      });
      const bound = resources.flatMap(({ subjects }) => subjects ?? []).map(({ name }) => name);
      expect(new Set(bound)).toEqual(new Set(['theirs']));
    });
  });

  test('a migration that runs the same keeps its name, and another has another', async () => {
    const name = async (values: Values) =>
      (await render({ ...databases.external, ...values })).find(({ metadata }) => /-migrate-/.test(metadata.name))
        ?.metadata.name;
    expect(await name({ server: { replicas: 5 } })).toBe(await name({}));
    expect(await name({ image: { tag: '9.9.9' } })).not.toBe(await name({}));
    expect(await name({ migrate: { enabled: false } })).toBeUndefined();
  });
});
