/** Makes a SourceObject of what the API server sends; nothing of the raw object is kept but what the operator reads. */
import { apiVersion, checkManifest } from '../../crds/index.ts';
import { claimsOf } from '../kinds/claim.ts';
import { kindOf } from '../kinds/index.ts';
import { annotationsOf, digestOf, type Loose } from '../manifest.ts';
import { type KindName, keyOf, type ResourceStatus, type SourceObject } from '../source.ts';
import type { RawObject } from './reflector.ts';

/** Client-side apply keeps the whole manifest in it once more. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

export function convert(kind: KindName, { metadata, spec }: RawObject): SourceObject {
  const { name, uid, generation, creationTimestamp: createdAt, deletionTimestamp } = metadata;
  const namespace = metadata.namespace ?? '';
  const identity = { kind, namespace, name };
  const annotations = annotationsOf({ metadata: { annotations: marksOf(metadata).annotations } });
  const doc = {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace === '' ? {} : { namespace }),
      ...(metadata.labels === undefined ? {} : { labels: metadata.labels }),
      annotations,
      uid,
    },
    spec,
  };
  return {
    ...identity,
    key: keyOf(identity),
    uid,
    ...(generation === undefined ? {} : { generation }),
    ...(createdAt === undefined ? {} : { createdAt }),
    deleting: deletionTimestamp !== undefined,
    annotations,
    digest: digestOf(spec),
    checked: check(doc),
    claims: claimsOf(doc as Loose, kind),
  };
}

function check(doc: unknown): SourceObject['checked'] {
  const checked = checkManifest(doc);
  if (checked.ok) return checked;
  const lines = checked.errors.map(({ pointer, detail }) => `${pointer === '' ? 'The object' : pointer} ${detail}`);
  // It was let in by other rules, or by none: the CRD may be older than this operator, or newer.
  const message = `The object does not match the schema of its kind:\n${lines.join('\n')}`;
  return { ok: false, message };
}

/** What people mark an object with; a change of it is a change, though the generation stays. */
export function marksOf({ labels, annotations }: Pick<RawObject['metadata'], 'labels' | 'annotations'>) {
  const { [LAST_APPLIED]: _, ...others } = annotations ?? {};
  return { labels: labels ?? {}, annotations: others };
}

/** The same for two statuses that say the same. */
export function statusDigest(status: unknown): string {
  if (typeof status !== 'object' || status === null) return '';
  const { observedGeneration, conditions = [] } = status as ResourceStatus;
  return conditions.length === 0 && observedGeneration === undefined ? '' : digestOf({ ...status, conditions });
}

export function pluralOf(kind: KindName): string {
  return kindOf(kind).definition.plural;
}

/** `/apis/accord.dev/v1alpha1/namespaces/a/policies/b` */
export function pathOf({ kind, namespace, name }: { kind: KindName; namespace: string; name: string }): string {
  const scope = namespace === '' ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `/apis/${apiVersion}${scope}/${pluralOf(kind)}/${encodeURIComponent(name)}`;
}

/** Where all objects of a kind are listed and watched, whatever their namespace. */
export function listPathOf(kind: KindName): string {
  return `/apis/${apiVersion}/${pluralOf(kind)}`;
}
