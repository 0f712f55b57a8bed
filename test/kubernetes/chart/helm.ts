/** Helm on charts/accord: rendering it into objects, and running commands against a cluster. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { findProgram, program } from '../programs.ts';

export const root = join(import.meta.dirname, '../../..');
export const chart = join(root, 'charts/accord');

// biome-ignore lint/suspicious/noExplicitAny: an object of the API, whose shape the test knows
export type Resource = any;
export type Values = Record<string, unknown>;

/** The three ways to a database; the chart refuses to be without one. */
export const databases = {
  external: { database: { existingSecret: 'our-postgres', sessionUrlKey: 'session-url' } },
  own: { postgresql: { enabled: true } },
  cloudNativePg: { cloudnativePg: { enabled: true } },
} as const satisfies Record<string, Values>;

/** All that is off by default, on. */
export const everything: Values = {
  ...databases.own,
  config: {
    trustProxy: ['10.244.0.0/16'],
    httpsProxy: 'http://proxy.example:3128',
    noProxy: ['.internal', '10.0.0.0/8'],
  },
  mail: { existingSecret: 'our-mail', from: 'Accord <no-reply@example.com>' },
  caBundle: { configMap: 'our-authorities' },
  commonLabels: { 'example.com/cost': 'c7', 'app.kubernetes.io/name': 'not-ours' },
  commonAnnotations: { 'example.com/owner': 'platform' },
  imagePullSecrets: [{ name: 'registry' }],
  tenantNamespaces: ['carshare', 'y'],
  server: {
    autoscaling: { enabled: true, behavior: { scaleDown: { stabilizationWindowSeconds: 600 } } },
    podAnnotations: { 'example.com/a': 'b' },
    podLabels: { 'example.com/team': 'n' },
    serviceAccount: { annotations: { 'example.com/role': 'reader' } },
    extraEnv: [{ name: 'TZ', value: 'UTC' }],
    extraVolumes: [{ name: 'extra', emptyDir: {} }],
    extraVolumeMounts: [{ name: 'extra', mountPath: '/extra' }],
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    tolerations: [{ key: 'dedicated', operator: 'Exists', effect: 'NoSchedule' }],
    affinity: { podAntiAffinity: {} },
    priorityClassName: 'important',
  },
  operator: { extraArgs: ['--adopt-cluster'], priorityClassName: 'important', topologySpreadConstraints: [spread()] },
  ingress: { enabled: true, className: 'nginx', hosts: ['accord.example'], tls: [{ secretName: 'accord-tls' }] },
  gateway: { enabled: true, parentRefs: [{ name: 'public' }], hostnames: ['accord.example'] },
  networkPolicy: { enabled: true, metricsFrom: [{ podSelector: {} }], egress: [{ ports: [{ port: 5432 }] }] },
  monitoring: { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true }, dashboard: { enabled: true } },
  tests: { tenant: 'carshare' },
};

function spread() {
  return { maxSkew: 2, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' };
}

/** To build it: bash test/kubernetes/build.sh helm. Without it the tests of the chart are skipped. */
export const hasHelm = findProgram('helm') !== undefined;

/** Runs helm, which keeps its own files outside the home of who runs the tests. @throws with its errors when it fails */
export async function helm(args: readonly string[], { kubeconfig = '', input = '' } = {}): Promise<string> {
  const home = join(inject('scratch') as string, 'helm');
  const own = { HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home, KUBECONFIG: kubeconfig };
  const env = { ...process.env, ...own };
  const running = promisify(execFile)(program('helm'), args, { env, maxBuffer: 64 << 20 });
  running.child.stdin?.end(input);
  return (await running).stdout;
}

/** What an install with these values would make, hooks included. @throws with helm's message */
export async function render(values: Values, release = 'accord', namespace = 'accord-system'): Promise<Resource[]> {
  const args = ['template', release, chart, '-n', namespace, '--kube-version', '1.36.3', '-f', '-'];
  const text = await helm(args, { input: JSON.stringify(values) });
  // YAML 1.1, as Kubernetes reads it: a bare y or off is a boolean there.
  return parseAllDocuments(text, { version: '1.1' }).flatMap((document) => document.toJS() ?? []);
}

/** The only object of the kind, and with the name if one is given. */
export function find(resources: readonly Resource[], kind: string, name?: string): Resource {
  const found = resources.filter((one) => one.kind === kind && (name === undefined || one.metadata.name === name));
  if (found.length !== 1) throw new Error(`${found.length} of kind ${kind} ${name ?? ''}`);
  return found[0];
}

/** Every Pod that the objects would make: its owner's kind and name, its labels and spec. */
export function pods(resources: readonly Resource[]): { of: string; labels: Record<string, string>; spec: Resource }[] {
  return resources.flatMap(({ kind, metadata, spec }) => {
    const of = `${kind} ${metadata.name}`;
    if (kind === 'Pod') return [{ of, labels: metadata.labels, spec }];
    if (!spec?.template?.spec?.containers) return [];
    return [{ of, labels: spec.template.metadata.labels, spec: spec.template.spec }];
  });
}
