/** A source on a real API server, and what it told, for its tests. */
import { randomUUID } from 'node:crypto';
import { afterEach } from 'vitest';
import { KubernetesApi } from '../../../operator/kubernetes/api.ts';
import { KubernetesSource, type KubernetesSourceOptions } from '../../../operator/kubernetes/source.ts';
import type { KindName, SourceObject, SourceProblem, StatusTarget } from '../../../operator/source.ts';
import { systemClock } from '../../../server/core/clock.ts';
import type { Observation } from '../../../server/core/observe.ts';
import type { Cluster } from '../../helpers/cluster.ts';
import { type FaultProxy, startFaultProxy } from '../../helpers/fault-proxy.ts';
import { until } from '../../helpers/wait.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Closes it after the test. */
export function closing(close: () => Promise<unknown>): void {
  closers.push(close);
}

export async function open(kubeconfig: string, observations: Observation[] = []): Promise<KubernetesApi> {
  const observe = (one: Observation) => void observations.push(one);
  const api = await KubernetesApi.load({ kubeconfig, clock: systemClock, observe });
  closing(() => api.close());
  return api;
}

export type Following = Awaited<ReturnType<typeof follow>>;

/** Starts a source. */
export async function follow(kubeconfig: string, options: Partial<KubernetesSourceOptions> = {}) {
  const observations: Observation[] = [];
  const api = options.api ?? (await open(kubeconfig, observations));
  const observe = (one: Observation) => void observations.push(one);
  const source = new KubernetesSource({ api, clock: systemClock, observe, ...options });
  /** Each call of `changed`. */
  const told: (readonly string[])[] = [];
  const synced: KindName[] = [];
  const problems: (readonly SourceProblem[])[] = [];
  await source.start({
    changed: (keys) => void told.push(keys),
    synced: (kind) => void synced.push(kind),
    problems: (now) => void problems.push(now),
  });
  closing(() => source.close());
  return {
    source,
    api,
    told,
    synced,
    problems,
    observations,
    tellings: (key: string) => told.flat().filter((one) => one === key).length,
  };
}

/** Starts a source that asks through a proxy. */
export async function proxied(
  cluster: Cluster,
  options: Parameters<typeof follow>[1] = {},
  prepare: (proxy: FaultProxy) => void = () => {},
) {
  const proxy = await startFaultProxy(cluster);
  closing(() => proxy.close());
  prepare(proxy);
  return { proxy, ...(await follow(proxy.kubeconfig, options)) };
}

export function targetOf(object: SourceObject): StatusTarget {
  const { key, kind, namespace, name, uid, generation = 1 } = object;
  return { key, kind, namespace, name, uid, generation };
}

const base = '/apis/accord.dev/v1alpha1';

export function policyPath(namespace: string, name = ''): string {
  return `${base}/namespaces/${namespace}/policies${name === '' ? '' : `/${name}`}`;
}

function policy(name: string, more: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}) {
  return {
    apiVersion: 'accord.dev/v1alpha1',
    kind: 'Policy',
    metadata: { name, ...metadata },
    spec: {
      tenantRef: { name: 'acme' },
      name: `acme:${name}`,
      rego: 'package p\n\ndefault outcome := "allow"\n',
      ...more,
    },
  };
}

export function put(
  cluster: Cluster,
  namespace: string,
  name: string,
  more?: Record<string, unknown>,
  metadata?: Record<string, unknown>,
) {
  return cluster.call('POST', policyPath(namespace), policy(name, more, metadata));
}

export const merge = 'application/merge-patch+json';

/** What was written before comes back as an event before this does. */
export async function settled(cluster: Cluster, following: Following, namespace: string): Promise<void> {
  const name = `mark-${randomUUID()}`;
  await put(cluster, namespace, name);
  await until('the mark', () => following.source.get(`Policy/${namespace}/${name}`));
}

export const ready = (message: string, generation = 1) => ({
  observedGeneration: generation,
  activeGeneration: generation,
  revision: '7',
  conditions: [
    {
      type: 'Ready',
      status: 'True' as const,
      reason: 'Programmed',
      message,
      observedGeneration: generation,
      lastTransitionTime: '2026-01-02T03:04:05.678Z',
    },
  ],
});
