/** Owns what is written down about a manifest before its rows are: generation, owner, and which row it will own. */
import { apiOwner, isSameObject } from '../server/core/ownership.ts';
import { activeOf } from './conditions.ts';
import type { Desk } from './desk.ts';
import { kindOf } from './kinds/index.ts';
import type { ResourceRecord } from './records.ts';
import type { SourceObject } from './source.ts';

/**
 * The record of a manifest as it is now, stored when it differs. A manifest that once owned a row keeps the name of that
 * row, whatever it says now: it is what its deletion removes, and it may not move.
 * @param mayOwn false for one that owns nothing, whatever it says
 */
export async function remember(desk: Desk, object: SourceObject, mayOwn = true): Promise<ResourceRecord> {
  const known = desk.records.get(object.key);
  const same = known?.uid === object.uid ? known : undefined;
  const counted = same === undefined ? 1 : same.generation + (same.digest === object.digest ? 0 : 1);
  const { key, kind, namespace, name, uid, digest } = object;
  const free = { tenant: object.claims?.tenant ?? known?.tenant ?? '', object: '' };
  if (mayOwn && known !== undefined) await handOver(desk, object, known);
  const record: ResourceRecord = {
    ...{ key, kind, namespace, name, uid, digest },
    generation: object.generation ?? counted,
    ...(mayOwn ? await rowOf(desk, object, known, free) : free),
    status: same?.status ?? {},
  };
  await desk.records.put(record);
  return record;
}

type Row = Pick<ResourceRecord, 'tenant' | 'object'>;

async function rowOf(desk: Desk, object: SourceObject, known: ResourceRecord | undefined, free: Row): Promise<Row> {
  const { claims, checked } = object;
  if (isLeftToApi(object)) return free;
  const wanted = checked.ok && claims ? { tenant: claims.tenant, object: claims.name } : free;
  if (known === undefined || known.object === '') return wanted;
  const kept = { tenant: known.tenant, object: known.object };
  if (!checked.ok || (kept.tenant === wanted.tenant && kept.object === wanted.object)) return kept;
  // What was never accepted may still be put right, unless its row was written just before a crash.
  const accepted = activeOf(known.status) !== undefined || (await ownsRow(desk, { ...known, uid: object.uid }));
  return accepted ? kept : wanted;
}

/**
 * The row of a manifest that lets go of it (CreateOnly, Observe) becomes the API's; the row of one that was deleted and
 * made again becomes the new one's, also before that is accepted. Done before the record is written: a row whose owner
 * nobody knows would be nobody's to delete.
 */
async function handOver(desk: Desk, object: SourceObject, known: ResourceRecord): Promise<void> {
  const to = isLeftToApi(object) ? apiOwner : desk.ownerOf(object);
  if (to.uid === known.uid || !(await ownsRow(desk, known))) return;
  await kindOf(known.kind).transfer(
    desk.services,
    desk.writerOf(known),
    { tenant: known.tenant, name: known.object },
    to,
  );
  // Others that want it were refused because it was ours.
  if (to.source === 'api') desk.unblock(known.tenant);
}

function isLeftToApi({ checked }: SourceObject): boolean {
  return checked.ok && checked.manifest.spec.managementPolicy !== 'Enforce';
}

/** Whether the row that a record names is there and belongs to this very manifest. */
export async function ownsRow(desk: Desk, record: ResourceRecord): Promise<boolean> {
  if (record.object === '') return false;
  const found = await kindOf(record.kind).find(desk.services, { tenant: record.tenant, name: record.object });
  return found !== undefined && isSameObject(found.owner, desk.ownerOf(record));
}
