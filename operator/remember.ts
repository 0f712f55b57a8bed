/** Owns what is written down about a manifest before its rows are: generation, owner, and which row it will own. */
import { isSameManifest } from '../server/core/ownership.ts';
import { activeOf } from './conditions.ts';
import type { Desk } from './desk.ts';
import { kindOf } from './kinds/index.ts';
import type { ResourceRecord } from './records.ts';
import type { SourceObject } from './source.ts';

/**
 * The record of a manifest as it is now, stored when it differs. A manifest that once owned a row keeps the name of that
 * row, whatever it says now: it is what its deletion removes, and it may not move.
 */
export async function remember(desk: Desk, object: SourceObject): Promise<ResourceRecord> {
  const known = desk.records.get(object.key);
  const same = known?.uid === object.uid ? known : undefined;
  const counted = same === undefined ? 1 : same.generation + (same.digest === object.digest ? 0 : 1);
  const { key, kind, namespace, name, uid, digest } = object;
  const record: ResourceRecord = {
    ...{ key, kind, namespace, name, uid, digest },
    generation: object.generation ?? counted,
    ...(await rowOf(desk, object, known)),
    status: same?.status ?? {},
  };
  await desk.records.put(record);
  return record;
}

async function rowOf(desk: Desk, object: SourceObject, known: ResourceRecord | undefined) {
  const { claims, checked } = object;
  const tenant = claims?.tenant ?? known?.tenant ?? '';
  const free = { tenant, object: '' };
  if (checked.ok && checked.manifest.spec.managementPolicy !== 'Enforce') return free;
  const wanted = checked.ok && claims ? { tenant: claims.tenant, object: claims.name } : free;
  if (known === undefined || known.object === '') return wanted;
  const kept = { tenant: known.tenant, object: known.object };
  if (!checked.ok || (kept.tenant === wanted.tenant && kept.object === wanted.object)) return kept;
  // What was never accepted may still be put right, unless its row was written just before a crash.
  const accepted = activeOf(known.status) !== undefined || (await ownsRow(desk, known));
  return accepted ? kept : wanted;
}

/** Whether the row that a record names is there and belongs to its manifest. */
export async function ownsRow(desk: Desk, record: ResourceRecord): Promise<boolean> {
  if (record.object === '') return false;
  const found = await kindOf(record.kind).find(desk.rooms, { tenant: record.tenant, name: record.object });
  return found !== undefined && isSameManifest(found.owner, desk.ownerOf(record));
}
