/** Which cluster this is: the uid of its kube-system namespace, which lives as long as the cluster does. */
import type { KubernetesApi } from './api.ts';

/** @throws ApiError */
export async function readClusterUid(api: Pick<KubernetesApi, 'request'>, signal: AbortSignal): Promise<string> {
  const path = '/api/v1/namespaces/kube-system';
  const { metadata } = await api.request<{ metadata: { uid: string } }>({ method: 'GET', path, signal });
  return metadata.uid;
}
