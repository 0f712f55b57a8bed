/** What is looked at, and when: after hints of the source, at the start, after a list, at each resync. */
import type { ResourceClaim } from '../server/room/resource-kind.ts';
import { conditionOf } from './conditions.ts';
import type { ReconcileContext } from './context.ts';
import type { Key, KindName } from './source.ts';
import { tenantKey } from './tenant-tracker.ts';

/**
 * Brings in line what is known in memory of a manifest: whether it is gone and what it claims. Called for each hint, so it
 * does not wait for anything.
 * @returns whom it may have been in the way of: they may have looked again when its record went, and have seen it still
 */
export function updateIndexes(context: ReconcileContext, key: Key): Key[] {
  const { source, claims, deletions, records } = context;
  const object = source.get(key);
  const freed = claims.update(key, object);
  if (object !== undefined && !object.deleting) deletions.markPresent(key);
  else markDeleted(context, key);
  // Who has what it claims gains nothing: who makes and deletes manifests must not keep it busy.
  return freed.filter((one) => conditionOf(records.get(one)?.status ?? {}, 'Accepted')?.reason !== 'Valid');
}

function markDeleted({ records, pending, deletions, source }: ReconcileContext, key: Key): void {
  const record = records.get(key);
  // A row that is gone already was counted when it went.
  if (record === undefined || record.object === '' || pending.revisionWithout(key) !== undefined) return;
  deletions.markDeleted(key, record.tenant, source.get(tenantKey(record.tenant))?.deleting === true);
}

/** A hint of the source. All of it is taken in before anything is begun, because a mass deletion is seen by its number. */
export function manifestsChanged(context: ReconcileContext, keys: readonly Key[]): void {
  const { pending, records, deletions, queue } = context;
  const freed = keys.flatMap((key) => updateIndexes(context, key));
  for (const key of keys) {
    // A Secret that it refers to may be what changed, while the object is the same.
    pending.forgetAccepted(key);
    queue.add(key);
    const tenant = records.get(key)?.tenant;
    if (tenant !== undefined && deletions.isHeld(tenant)) queue.add(tenantKey(tenant));
  }
  for (const key of freed) queue.add(key);
}

/** Reads the records again and looks at everything: at the start, and after another operator may have been at work. */
export async function begin(context: ReconcileContext): Promise<Key[]> {
  await context.records.load();
  for (const state of [context.waiting, context.pending, context.tenants, context.deletions, context.initialAdmins]) {
    state.clear();
  }
  const keys = allKeys(context);
  for (const key of keys) updateIndexes(context, key);
  for (const key of keys) context.queue.add(key);
  return keys;
}

/** A list became complete: what is gone may be looked at now. */
export function listCompleted({ records, source, queue }: ReconcileContext): void {
  for (const record of records.all()) if (!source.get(record.key)) queue.add(record.key);
}

/** Compares everything with the database again, after what somebody just changed. */
export function resync(context: ReconcileContext): void {
  context.pending.forgetAllAccepted();
  context.tenants.forgetRows();
  for (const key of allKeys(context)) context.queue.add(key, 'low');
}

/** Others have changed what the conditions of an object say. */
export function conditionsChanged(
  { records, source, queue }: ReconcileContext,
  kind: KindName,
  { tenant, name }: ResourceClaim,
): void {
  for (const key of records.keysOf(tenant)) {
    const object = source.get(key);
    if (object?.kind === kind && object.claims?.name === name) queue.add(key, 'normal');
  }
}

/** Every key that there is a manifest or a record of, in the order of kinds. */
function allKeys({ records, source, kinds }: ReconcileContext): Key[] {
  const known = [...records.all()].map((record) => record.key);
  return [...new Set([...kinds.names.flatMap((kind) => [...source.keys(kind)]), ...known])];
}
