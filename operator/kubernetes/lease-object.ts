/** Reads and writes one coordination.k8s.io/v1 Lease. Every write names the version it replaces, so of two that come at once one is refused. */
import type { KubernetesApi } from './api.ts';
import { ApiError } from './errors.ts';

export type LeaseSpec = {
  /** Empty: the last holder let go. */
  holderIdentity?: string | null;
  leaseDurationSeconds?: number | null;
  acquireTime?: string | null;
  renewTime?: string | null;
  leaseTransitions?: number | null;
};
export type Lease = {
  apiVersion: 'coordination.k8s.io/v1';
  kind: 'Lease';
  metadata: { name: string; namespace: string; resourceVersion?: string; managedFields?: unknown };
  spec: LeaseSpec;
};
export type LeasePlace = { api: Pick<KubernetesApi, 'request'>; namespace: string; name: string };

/** The Lease that all operators of a release share. */
export const LEASE_NAME = 'accord-operator';

/** How the identities of those begin that hold the Lease so that nobody leads (`accord finalizers remove`). */
export const FINALIZER_REMOVER = 'accord-finalizers_';

type Asking = { timeoutMs?: number; signal?: AbortSignal };

/** undefined when there is none. @throws ApiError */
export async function readLease({ api, namespace, name }: LeasePlace, asking: Asking): Promise<Lease | undefined> {
  const path = `${pathOf(namespace)}/${name}`;
  try {
    return await api.request<Lease>({ method: 'GET', path, ...asking });
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/**
 * Replaces the Lease as it was read, or makes the first one.
 * @throws ApiError 409 when it is not as it was read, 404 when it is gone
 */
export function writeLease(
  { api, namespace, name }: LeasePlace,
  before: Lease | undefined,
  spec: LeaseSpec,
  asking: Asking,
): Promise<Lease> {
  const { managedFields: _, ...metadata } = before?.metadata ?? { name, namespace };
  const body: Lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
  if (before === undefined) return api.request<Lease>({ method: 'POST', path: pathOf(namespace), body, ...asking });
  return api.request<Lease>({ method: 'PUT', path: `${pathOf(namespace)}/${name}`, body, ...asking });
}

function pathOf(namespace: string): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
}

/** A MicroTime: RFC 3339 with six digits after the point. For people only: clocks of machines are never compared. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}

/** Whether a write lost against another one: somebody else's came between. */
export function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.status === 409;
}

export function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}
