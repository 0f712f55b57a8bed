/** Owns choosing the first request that `accord start` prints: from a policy's own tests, one that is allowed. */
import type { PolicyManifest } from '../crds/index.ts';
import type { Source } from '../operator/index.ts';

export type FirstRequest = { tenant: string; body: Record<string, unknown> };

/** Policies carry it as an annotation where their author chose one. */
const ANNOTATION = 'accord.dev/first-request';

/** The first policy, in the order of keys, whose annotation names one of its tests; undefined when there is none. */
export function findFirstRequest(source: Pick<Source, 'keys' | 'get'>): FirstRequest | undefined {
  for (const key of [...source.keys('Policy')].sort()) {
    const checked = source.get(key)?.checked;
    if (!checked?.ok) continue;
    const { metadata, spec } = checked.manifest as PolicyManifest;
    const test = spec.tests?.find((one) => one.name === metadata.annotations?.[ANNOTATION]);
    if (test === undefined) continue;
    const { subject, resource, context } = test.input as Record<string, unknown>;
    const parts = Object.entries({ subject, action: spec.name, resource, context }).filter(
      ([, part]) => part !== undefined,
    );
    return { tenant: spec.tenantRef.name, body: Object.fromEntries(parts) };
  }
  return undefined;
}
