/**
 * Which manifests may be written together with one of their kind that names them. Two that name one another, as
 * RelationshipTypes that are inherited through one another, would wait for each other for ever: whoever comes last writes both.
 */
import type { Manifest } from '../crds/index.ts';
import type { PutOptions, ResourceClaim } from '../server/room/resource-kind.ts';
import { writerFor } from './accept.ts';
import { conditionOf } from './conditions.ts';
import type { ReconcileContext } from './context.ts';
import type { KindName, SourceObject } from './source.ts';

export function peersOf(
  context: ReconcileContext,
  kind: KindName,
  { tenant }: ResourceClaim,
): PutOptions<Manifest>['peers'] {
  return (name) => {
    for (const object of context.claims.claimantsOf(kind, { tenant, name })) {
      if (!lacksReference(context, object) || !object.checked.ok) continue;
      const { manifest } = object.checked;
      return { writer: writerFor(context, object, manifest), manifest };
    }
    return undefined;
  };
}

/** Whether it was tried as it is now and lacked what it names only: then it may own a row, and its record is there before that. */
function lacksReference({ records }: ReconcileContext, object: SourceObject): boolean {
  const record = records.get(object.key);
  if (record === undefined || object.deleting || object.problem !== undefined) return false;
  const accepted = conditionOf(record.status, 'Accepted');
  const isCurrent = record.uid === object.uid && record.digest === object.digest;
  return isCurrent && accepted?.reason === 'RefNotFound' && accepted.observedGeneration === record.generation;
}
