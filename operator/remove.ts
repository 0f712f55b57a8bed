/**
 * Owns the end of a manifest: its row goes when its absence is certain and the breaker lets it, and the record goes when
 * every live server has noticed.
 */
import { isSameManifest, type Writer } from '../server/core/ownership.ts';
import { Problem } from '../server/core/problems.ts';
import { statusOf } from './conditions.ts';
import type { Desk } from './desk.ts';
import { kindOf } from './kinds/index.ts';
import { refusalOf } from './reasons.ts';
import type { Settled } from './reconcile.ts';
import type { ResourceRecord } from './records.ts';
import { ownsRow } from './remember.ts';
import { describeKey, type Key, type SourceObject } from './source.ts';
import { describeHeld, heldSweep } from './sweep.ts';

/** @param object the manifest that asks for its own deletion (Kubernetes), or nothing */
export async function remove(
  desk: Desk,
  key: Key,
  object: SourceObject | undefined,
  startedAt: number,
): Promise<Settled> {
  desk.accepted.delete(key);
  const record = desk.records.get(key);
  if (record === undefined) {
    if (object) await desk.source.release({ ...object, generation: object.generation ?? 1 });
    return 'settled';
  }
  // An answer that could not be had is not an empty one. `synced` brings the key back.
  if (object === undefined && !desk.source.complete(record.kind)) return 'settled';
  if (object === undefined && record.object !== '' && !desk.breaker.isReleased(key)) {
    const held = heldSweep(desk, record.tenant);
    if (held) {
      if (record.kind === 'Tenant') await explain(desk, record, 'DeletionHeld', describeHeld(held), startedAt);
      return 'settled';
    }
  }
  return record.kind === 'Tenant' ? removeTenant(desk, record, startedAt) : removeChild(desk, record, startedAt);
}

async function removeChild(desk: Desk, record: ResourceRecord, startedAt: number): Promise<Settled> {
  const claim = { tenant: record.tenant, name: record.object };
  if (!desk.removed.has(record.key) && (await ownsRow(desk, record))) {
    const written = await unlessLost(kindOf(record.kind).remove?.(desk.rooms, writerOf(desk, record), claim));
    if (written) desk.removed.set(record.key, written.revision);
  }
  desk.breaker.deleted(record.key, desk.clock.monotonic());
  if (await isServedWithout(desk, record)) {
    await desk.forget(record, 'Removed', startedAt);
    return 'settled';
  }
  return 'waiting';
}

/** Children first; then the tenant answers nobody any more; then, where it says so, its data goes. */
async function removeTenant(desk: Desk, record: ResourceRecord, startedAt: number): Promise<Settled> {
  const children = [...desk.records.keysOf(record.tenant)].filter((key) => key !== record.key);
  if (children.length > 0) {
    const some = children.slice(0, 5).map(describeKey).join(', ');
    const message = `${children.length} manifests still belong to this tenant (${some}${children.length > 5 ? ', …' : ''}); it goes after them.`;
    await explain(desk, record, 'ChildrenExist', message, startedAt);
    return 'settled';
  }
  const found = await desk.rooms.findTenant(record.tenant);
  if (record.object === '' || !found || !isSameManifest(found.owner, desk.ownerOf(record))) {
    await desk.forget(record, 'Removed', startedAt);
    return 'settled';
  }
  if (!desk.removed.has(record.key)) {
    const { revision } = await desk.rooms.disableTenant(writerOf(desk, record), record.tenant);
    desk.removed.set(record.key, revision);
  }
  desk.breaker.deleted(record.key, desk.clock.monotonic());
  if (!(await isServedWithout(desk, record))) return 'waiting';
  if (found.spec.deletionPolicy !== 'Delete') {
    await desk.forget(record, 'Disabled', startedAt);
    return 'settled';
  }
  try {
    await desk.rooms.eraseTenant(writerOf(desk, record), record.tenant);
  } catch (error) {
    if (!(error instanceof Problem && error.code === 'tenant_has_children')) throw error;
    await explain(desk, record, 'ChildrenExist', error.message, startedAt);
    return 'settled';
  }
  await desk.forget(record, 'Erased', startedAt);
  return 'settled';
}

/** Whether every live server has the revision without the row; where none lives, nobody decides with the old one. */
async function isServedWithout(desk: Desk, record: ResourceRecord): Promise<boolean> {
  const revision = desk.removed.get(record.key);
  if (revision === undefined) return true;
  const { live, behind } = await desk.programmed.serving(record.tenant, revision);
  if (behind > 0) {
    desk.programmed.wait(record.key, record.tenant, revision, live);
    return false;
  }
  desk.programmed.forget(record.key);
  return true;
}

/** Says on the record of a manifest that is gone why its rows are still there. */
async function explain(
  desk: Desk,
  record: ResourceRecord,
  reason: string,
  message: string,
  startedAt: number,
): Promise<void> {
  const outcome = {
    generation: record.generation,
    accepted: { ok: false, reason, message },
    programmed: { status: 'False' as const, reason, message },
  };
  await desk.settle(record, statusOf(outcome, record.status, desk.nowText()), startedAt);
}

/** Undefined when the row turned out not to be ours (any more), or its tenant is gone with it. */
async function unlessLost<T>(action: Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await action;
  } catch (error) {
    if (refusalOf(error)?.dependsOnOthers) return undefined;
    throw error;
  }
}

function writerOf(desk: Desk, record: ResourceRecord): Writer {
  const namespace = record.namespace === '' ? '' : `/${record.namespace}`;
  return { owner: desk.ownerOf(record), actor: `operator:${desk.source.name}${namespace}/${record.name}` };
}
