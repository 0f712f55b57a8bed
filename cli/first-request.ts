/** The first request that `accord start` prints is the one that a policy's author wrote beside it. */
import type { PolicyManifest } from '../crds/index.ts';
import type { Source } from '../operator/index.ts';

export type FirstRequest = { tenant: string; body: Record<string, unknown> };

/** Policies carry it as an annotation where their author chose one. */
const ANNOTATION = 'accord.dev/first-request';

/** That of the first policy, in the order of keys, that has one; undefined when none has. */
export function findFirstRequest(source: Pick<Source, 'keys' | 'get'>): FirstRequest | undefined {
  for (const key of [...source.keys('Policy')].sort()) {
    const checked = source.get(key)?.checked;
    if (!checked?.ok) continue;
    const { metadata, spec } = checked.manifest as PolicyManifest;
    const body = requestOf(metadata.annotations?.[ANNOTATION]);
    if (body !== undefined) return { tenant: spec.tenantRef.name, body };
  }
  return undefined;
}

/** A JSON object; anything else is as if it were not there, because it is only a hint for a reader. */
function requestOf(annotation: string | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(annotation ?? '');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
