/**
 * Owns the end of a manifest: its row goes when its absence is certain and the breaker lets it, and the record goes when
 * every live server has noticed.
 */
import { apiOwner, isSameObject } from '../server/core/ownership.ts';
import { Problem } from '../server/core/problems.ts';
import { disableTenant, eraseTenant, readTenant } from '../server/tenants/index.ts';
import { activeOf, conditionOf, statusOf } from './conditions.ts';
import type { Desk } from './desk.ts';
import { kindOf } from './kinds/index.ts';
import { refusalOf, retryOf } from './reasons.ts';
import type { Settled } from './reconcile.ts';
import type { ResourceRecord } from './records.ts';
import { ownsRow } from './remember.ts';
import { describeKey, type Key, type SourceObject } from './source.ts';
import { describeHeld, describeHeldChild, heldSweep } from './sweep.ts';

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
  if (await isUpToBreaker(desk, record, object)) {
    const held = heldSweep(desk, record.tenant);
    if (held && record.kind === 'Tenant') await explain(desk, record, 'DeletionHeld', describeHeld(held), startedAt);
    else if (held && object) await explain(desk, record, 'DeletionHeld', describeHeldChild(record.tenant), startedAt);
    if (held) return 'settled';
  }
  return record.kind === 'Tenant' ? removeTenant(desk, record, startedAt) : removeChild(desk, record, startedAt);
}

async function removeChild(desk: Desk, record: ResourceRecord, startedAt: number): Promise<Settled> {
  try {
    if (!desk.removed.has(record.key)) await removeRow(desk, record);
  } catch (error) {
    // Relationships and things come and go without a word to us: said, and tried again.
    const why = isInUse(error) ? { reason: 'InUse', message: error.message } : retryOf(error);
    if (why !== undefined) await explain(desk, record, why.reason, why.message, startedAt);
    throw error;
  }
  desk.breaker.deleted(record.key, desk.clock.monotonic());
  if (await isServedWithout(desk, record)) {
    await desk.forget(record, 'Removed', startedAt);
    return 'settled';
  }
  return 'waiting';
}

/**
 * Deletes the row of a child, where it is there and the child's.
 * @param letGo gives a type that is in use to the API instead of refusing
 * @returns whether the child owned it
 */
export async function removeRow(desk: Desk, record: ResourceRecord, letGo = false): Promise<boolean> {
  if (!(await ownsRow(desk, record))) return false;
  const kind = kindOf(record.kind);
  const claim = { tenant: record.tenant, name: record.object };
  try {
    const written = await kind.remove?.(desk.services, desk.writerOf(record), claim);
    if (written) desk.removed.set(record.key, written.revision);
    return true;
  } catch (error) {
    if (!refusalOf(error)?.dependsOnOthers) throw error;
    if (isInUse(error) && !letGo && !isTenantGoing(desk, record.tenant)) throw error;
    // The tenant's configuration is the API's now: so is what a manifest leaves behind. And a tenant that goes is not held
    // up by what it holds: its types go with it, or stay with its data.
    const isApis = error instanceof Problem && (error.code === 'config_authority' || isInUse(error));
    if (isApis) await kind.transfer(desk.services, desk.writerOf(record), claim, apiOwner);
    // Else the row turned out not to be ours (any more), or its tenant is gone with it.
    return isApis;
  }
}

/** A type of actors or resources that others name, or that has some. */
function isInUse(error: unknown): error is Problem {
  return error instanceof Problem && error.code === 'type_in_use';
}

function isTenantGoing(desk: Desk, tenant: string): boolean {
  const manifest = desk.source.get(desk.tenantKey(tenant));
  return manifest === undefined ? desk.source.complete('Tenant') : manifest.deleting;
}

/** What owns no row may go, and so may what was confirmed, and what is waited for since its row went. */
async function isUpToBreaker(desk: Desk, record: ResourceRecord, object: SourceObject | undefined): Promise<boolean> {
  const { key, tenant } = record;
  if (record.object === '' || desk.removed.has(key)) return false;
  if (!(await ownsRow(desk, record))) {
    desk.breaker.there(key);
    return false;
  }
  // Nobody could confirm a deletion that was asked for where there is no Tenant to annotate: it must not hang.
  const hasTenant = desk.source.get(desk.tenantKey(tenant)) !== undefined || !desk.source.complete('Tenant');
  if (object && !hasTenant) desk.breaker.release([key]);
  return !desk.breaker.isReleased(key);
}

/** Children first; then the tenant answers nobody any more; then, where it says so, its data goes. */
async function removeTenant(desk: Desk, record: ResourceRecord, startedAt: number): Promise<Settled> {
  const { tenants } = desk.services;
  const children = [...desk.records.keysOf(record.tenant)].filter((key) => key !== record.key && isChild(desk, key));
  if (children.length > 0) {
    const some = children.slice(0, 5).map(describeKey).join(', ');
    const message = `${children.length === 1 ? '1 manifest still belongs' : `${children.length} manifests still belong`} to this tenant (${some}${children.length > 5 ? ', …' : ''}); it goes after them.`;
    await explain(desk, record, 'ChildrenExist', message, startedAt);
    return 'settled';
  }
  const found = await tenants.database.read(record.tenant, (tx) => readTenant(tx, record.tenant));
  if (record.object === '' || !found || !isSameObject(found.owner, desk.ownerOf(record))) {
    await desk.forget(record, 'Removed', startedAt);
    return 'settled';
  }
  if (!desk.removed.has(record.key)) {
    const { revision } = await disableTenant(tenants, desk.writerOf(record), record.tenant);
    desk.forgetTenant(record.tenant);
    desk.removed.set(record.key, revision);
  }
  desk.breaker.deleted(record.key, desk.clock.monotonic());
  if (!(await isServedWithout(desk, record))) return 'waiting';
  if (found.spec.deletionPolicy !== 'Delete') {
    await desk.forget(record, 'Disabled', startedAt);
    return 'settled';
  }
  try {
    await eraseTenant(tenants, desk.writerOf(record), record.tenant);
    desk.forgetTenant(record.tenant);
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

/** Says on a manifest that is gone or being deleted why its rows are still there. */
async function explain(
  desk: Desk,
  record: ResourceRecord,
  reason: string,
  message: string,
  startedAt: number,
): Promise<void> {
  const active = activeOf(record.status);
  const outcome = {
    generation: record.generation,
    accepted: { ok: false, reason, message },
    programmed: { status: 'False' as const, reason, message },
    ...(active ? { active } : {}),
  };
  await desk.settle(record, statusOf(outcome, record.status, desk.nowText()), startedAt);
}

/** What may not name the tenant does not keep it. */
function isChild(desk: Desk, key: Key): boolean {
  const accepted = conditionOf(desk.records.get(key)?.status ?? {}, 'Accepted');
  return accepted?.reason !== 'NamespaceNotAllowed';
}
