/** Writes down what a manifest is before its row is written: generation, owner, and which row it will own. */
import { apiOwner, isSameObject } from '../server/core/ownership.ts';
import { activeOf } from './conditions.ts';
import { ownerOf, type ReconcileContext, writerOf } from './context.ts';
import type { ResourceRecord } from './records.ts';
import type { SourceObject } from './source.ts';

/** Stores the record of a manifest as it is now, where it differs. */
export async function recordResource(context: ReconcileContext, object: SourceObject): Promise<ResourceRecord> {
  const record = await nextRecord(context, object, { mayOwn: true });
  await context.records.put(record);
  return record;
}

/**
 * The record of a manifest as it is now. A manifest that once owned a row keeps the name of that row, whatever it says
 * now: it is what its deletion removes, and it may not move.
 * @param mayOwn false for one that owns nothing, whatever it says
 */
export async function nextRecord(
  context: ReconcileContext,
  object: SourceObject,
  { mayOwn }: { mayOwn: boolean },
): Promise<ResourceRecord> {
  const known = context.records.get(object.key);
  const same = known?.uid === object.uid ? known : undefined;
  const counted = same === undefined ? 1 : same.generation + (same.digest === object.digest ? 0 : 1);
  const { key, kind, namespace, name, uid, digest } = object;
  const free = { tenant: object.claims?.tenant ?? known?.tenant ?? '', object: '' };
  if (mayOwn && known !== undefined) await handOver(context, object, known);
  return {
    ...{ key, kind, namespace, name, uid, digest },
    generation: object.generation ?? counted,
    ...(mayOwn ? await rowOf(context, object, known, free) : free),
    status: same?.status ?? {},
  };
}

type Row = Pick<ResourceRecord, 'tenant' | 'object'>;

async function rowOf(
  context: ReconcileContext,
  object: SourceObject,
  known: ResourceRecord | undefined,
  free: Row,
): Promise<Row> {
  const { claims, checked } = object;
  if (isLeftToApi(object)) return free;
  const wanted = checked.ok && claims ? { tenant: claims.tenant, object: claims.name } : free;
  if (known === undefined || known.object === '') return wanted;
  const kept = { tenant: known.tenant, object: known.object };
  if (!checked.ok || (kept.tenant === wanted.tenant && kept.object === wanted.object)) return kept;
  // What was never accepted may still be put right, unless its row was written just before a crash.
  const accepted = activeOf(known.status) !== undefined || (await ownsRow(context, { ...known, uid: object.uid }));
  return accepted ? kept : wanted;
}

/**
 * The row of a manifest that lets go of it (CreateOnly, Observe) becomes the API's; the row of one that was deleted and
 * made again becomes the new one's, also before that is accepted. Done before the record is written: a row whose owner
 * nobody knows would be nobody's to delete.
 */
async function handOver(context: ReconcileContext, object: SourceObject, known: ResourceRecord): Promise<void> {
  const to = isLeftToApi(object) ? apiOwner : ownerOf(context, object);
  if (to.uid === known.uid || !(await ownsRow(context, known))) return;
  const claim = { tenant: known.tenant, name: known.object };
  await context.kinds.of(known.kind).transfer(writerOf(context, known), claim, to);
  // Others that want it were refused because it was ours.
  if (to.source === 'api') context.waiting.tenantChanged(known.tenant);
}

function isLeftToApi({ checked }: SourceObject): boolean {
  return checked.ok && checked.manifest.spec.managementPolicy !== 'Enforce';
}

/** Whether the row that a record names is there and belongs to this very manifest. */
export async function ownsRow(context: ReconcileContext, record: ResourceRecord): Promise<boolean> {
  if (record.object === '') return false;
  const claim = { tenant: record.tenant, name: record.object };
  const found = await context.kinds.of(record.kind).find(claim);
  return found !== undefined && isSameObject(found.owner, ownerOf(context, record));
}
