/**
 * The end of a manifest: its row goes when its absence is certain and no mass deletion is held, and the record goes when
 * every live server has noticed.
 */
import { apiOwner, isSameObject } from '../server/core/ownership.ts';
import { Problem } from '../server/core/problems.ts';
import { disableTenant, eraseTenant, readTenant } from '../server/tenants/index.ts';
import { activeOf } from './conditions.ts';
import { ownerOf, type ReconcileContext, type Reconciled, writerOf } from './context.ts';
import { describeHeld, describeHeldChild } from './held-deletions.ts';
import { isChild } from './namespace-check.ts';
import { refusalOf, retryOf } from './reasons.ts';
import type { ResourceRecord } from './records.ts';
import { ownsRow } from './resource-record.ts';
import { describeKey, type Key, type SourceObject } from './source.ts';
import { isActive, tenantKey } from './tenant-tracker.ts';

/** @param object the manifest that asks for its own deletion (Kubernetes), or nothing */
export async function remove(
  context: ReconcileContext,
  key: Key,
  object: SourceObject | undefined,
  startedAt: number,
): Promise<Reconciled> {
  const { source, pending, rollouts, waiting } = context;
  pending.forgetAccepted(key);
  // What it waited for as long as it was there would go on waking it.
  if (pending.revisionWithout(key) === undefined) rollouts.forget(key);
  if (key.startsWith('Tenant/')) notifyTenantLeaving(context, key);
  const record = await recordOf(context, key, object);
  if (record === undefined) {
    if (object) await source.removeFinalizer({ ...object, generation: object.generation ?? 1 });
    return 'settled';
  }
  // An answer that could not be had is not an empty one.
  if (object === undefined && !source.complete(record.kind)) {
    waiting.waitForOwner(key, { for: `a complete list of kind ${record.kind}` });
    return 'settled';
  }
  if (await mustWaitForConfirmation(context, record, object, startedAt)) return 'settled';
  return record.kind === 'Tenant' ? removeTenant(context, record, startedAt) : removeChild(context, record, startedAt);
}

/** What waits for the Tenant's manifest to be accepted or refused waits in vain. */
function notifyTenantLeaving({ tenants, waiting }: ReconcileContext, key: Key): void {
  const tenant = key.slice(tenantKey('').length);
  if (tenants.leaves(tenant)) waiting.tenantChanged(tenant);
}

/**
 * What is recorded of the manifest. Where the object was made again and its predecessor is recorded still, the row may have
 * been handed over already: then the record is the new object's.
 */
async function recordOf(
  context: ReconcileContext,
  key: Key,
  object: SourceObject | undefined,
): Promise<ResourceRecord | undefined> {
  const known = context.records.get(key);
  if (known === undefined || object === undefined || known.uid === object.uid) return known;
  const record = { ...known, uid: object.uid };
  if (!(await ownsRow(context, record))) return known;
  await context.records.put(record);
  return record;
}

/** Whether the deletion is part of a mass deletion that is held; says so where it is. */
async function mustWaitForConfirmation(
  context: ReconcileContext,
  record: ResourceRecord,
  object: SourceObject | undefined,
  startedAt: number,
): Promise<boolean> {
  if (!(await isGuarded(context, record, object))) return false;
  const held = context.deletions.heldOf(record.tenant);
  if (held === undefined) return false;
  if (record.kind === 'Tenant') await reportBlocked(context, record, 'DeletionHeld', describeHeld(held), startedAt);
  else if (object) await reportBlocked(context, record, 'DeletionHeld', describeHeldChild(record.tenant), startedAt);
  // A file that is gone has a status as long as its row is there, also where the directory of statuses is new.
  else await context.source.writeStatus(record, record.status);
  context.waiting.waitForOwner(record.key, { for: `a confirmation of the mass deletion in tenant ${record.tenant}` });
  return true;
}

/** What owns no row may go, and so may what was confirmed, and what is waited for since its row went. */
async function isGuarded(
  context: ReconcileContext,
  record: ResourceRecord,
  object: SourceObject | undefined,
): Promise<boolean> {
  const { key, tenant } = record;
  const { deletions, pending, source, tenants } = context;
  if (record.object === '' || pending.revisionWithout(key) !== undefined) return false;
  if (!(await ownsRow(context, record))) {
    deletions.markPresent(key);
    return false;
  }
  // Nobody could confirm a deletion that was asked for where there is no Tenant to annotate: it must not hang.
  const hasTenant = tenants.manifestOf(tenant) !== undefined || !source.complete('Tenant');
  if (object && !hasTenant) deletions.approve(key);
  return !deletions.isApproved(key);
}

async function removeChild(context: ReconcileContext, record: ResourceRecord, startedAt: number): Promise<Reconciled> {
  try {
    if (context.pending.revisionWithout(record.key) === undefined) await removeRow(context, record);
  } catch (error) {
    // Relationships and entities come and go without a word to us: said, and tried again.
    const why = isInUse(error) ? { reason: 'InUse', message: error.message } : retryOf(error);
    if (why !== undefined) await reportBlocked(context, record, why.reason, why.message, startedAt);
    throw error;
  }
  context.deletions.rowDeleted(record.key);
  if (!(await isServedWithout(context, record))) return 'waiting';
  await forgetResource(context, record, 'Removed', startedAt);
  return 'settled';
}

/**
 * Deletes the row of a child, where it is there and the child's.
 * @param transferInUse gives what is in use to the API instead of refusing
 * @returns whether the child owned it
 */
export async function removeRow(
  context: ReconcileContext,
  record: ResourceRecord,
  transferInUse = false,
): Promise<boolean> {
  if (!(await ownsRow(context, record))) return false;
  const kind = context.kinds.of(record.kind);
  const claim = { tenant: record.tenant, name: record.object };
  try {
    const written = await kind.remove(writerOf(context, record), claim);
    if (written) context.pending.rowRemoved(record.key, written.revision);
    return true;
  } catch (error) {
    if (!refusalOf(error)?.dependsOnOthers) throw error;
    if (isInUse(error) && !transferInUse && !context.tenants.isLeaving(record.tenant)) throw error;
    // The tenant's configuration is the API's now: so is what a manifest leaves behind. And a tenant that goes is not held
    // up by what it holds: its types go with it, or stay with its data.
    const isApis = error instanceof Problem && (error.code === 'config_authority' || isInUse(error));
    if (isApis) await kind.transfer(writerOf(context, record), claim, apiOwner);
    // Else the row turned out not to be ours (any more), or its tenant is gone with it.
    return isApis;
  }
}

/** Others name it, such as relationships of a type. */
function isInUse(error: unknown): error is Problem {
  return error instanceof Problem && error.refusal?.reason === 'InUse';
}

/** Children first; then the tenant answers nobody any more; then, where it says so, its data goes. */
async function removeTenant(context: ReconcileContext, record: ResourceRecord, startedAt: number): Promise<Reconciled> {
  const { tenant, key } = record;
  const { waiting, rollouts, pending } = context;
  const { tenants } = context.services;
  const seen = waiting.changesOf(tenant);
  const found = await tenants.database.read(tenant, (tx) => readTenant(tx, tenant));
  const known = childrenOf(context, record);
  // What has no row in a tenant that is disabled or missing waits for a Tenant itself.
  const children = isActive(found) ? known : await keysWithRows(context, known);
  if (children.length > 0) {
    await reportBlocked(context, record, 'ChildrenExist', describeChildren(children), startedAt);
    rollouts.forget(key);
    waiting.waitForTenant(key, { tenant, seen }, { for: `the manifests of tenant ${tenant} to be deleted` });
    return 'settled';
  }
  if (record.object === '' || !found || !isSameObject(found.owner, ownerOf(context, record))) {
    await forgetResource(context, record, 'Removed', startedAt);
    return 'settled';
  }
  if (pending.revisionWithout(key) === undefined) {
    // In one step with seeing that no child has a record: one that writes its record now looks up the row after that.
    const disable = () => disableTenant(tenants, writerOf(context, record), tenant);
    const { revision } = await context.tenants.changeRow(tenant, disable);
    pending.rowRemoved(key, revision);
  }
  context.deletions.rowDeleted(record.key);
  if (!(await isServedWithout(context, record))) return 'waiting';
  if (found.spec.deletionPolicy !== 'Delete') {
    await forgetResource(context, record, 'Disabled', startedAt);
    return 'settled';
  }
  return erase(context, record, startedAt);
}

function childrenOf(context: ReconcileContext, { tenant, key }: ResourceRecord): Key[] {
  return [...context.records.keysOf(tenant)].filter((one) => one !== key && isChild(context, one));
}

async function keysWithRows(context: ReconcileContext, keys: readonly Key[]): Promise<Key[]> {
  const owning: Key[] = [];
  for (const key of keys) {
    const record = context.records.get(key);
    if (record !== undefined && (await ownsRow(context, record))) owning.push(key);
  }
  return owning;
}

function describeChildren(children: readonly Key[]): string {
  const some = children.slice(0, 5).map(describeKey).join(', ');
  const count = children.length === 1 ? '1 manifest' : `${children.length} manifests`;
  return `Waiting for ${count} of this tenant to be deleted: ${some}${children.length > 5 ? ', …' : ''}.`;
}

async function erase(context: ReconcileContext, record: ResourceRecord, startedAt: number): Promise<Reconciled> {
  const { tenant, key } = record;
  try {
    await eraseTenant(context.services.tenants, writerOf(context, record), tenant);
    context.tenants.rowChanged(tenant);
  } catch (error) {
    if (!(error instanceof Problem && error.code === 'tenant_has_children')) throw error;
    await reportBlocked(context, record, 'ChildrenExist', error.message, startedAt);
    context.waiting.waitForOwner(key, {
      for: `the objects that other manifests own in tenant ${tenant} to be deleted`,
      external: true,
    });
    return 'settled';
  }
  await forgetResource(context, record, 'Erased', startedAt);
  return 'settled';
}

/** Whether every live server has the revision without the row; where none lives, nobody decides with the old one. */
async function isServedWithout({ pending, rollouts }: ReconcileContext, { key, tenant }: ResourceRecord) {
  const revision = pending.revisionWithout(key);
  if (revision === undefined) return true;
  const { live, behind } = await rollouts.serving(tenant, revision);
  if (behind > 0) {
    rollouts.track(key, { tenant, revision, live });
    return false;
  }
  rollouts.forget(key);
  return true;
}

/** Nothing is left of the manifest. */
async function forgetResource(
  context: ReconcileContext,
  record: ResourceRecord,
  reason: string,
  startedAt: number,
): Promise<void> {
  const { source, records, deletions, pending, tenants, initialAdmins, statuses, waiting, queue } = context;
  const { key, tenant } = record;
  const wasChild = isChild(context, key);
  await source.removeFinalizer(record);
  await records.remove(key);
  deletions.rowDeleted(key);
  pending.forgetRemoved(key);
  if (record.kind === 'Tenant') {
    tenants.forget(tenant);
    initialAdmins.forget(tenant);
  }
  statuses.gone(record, reason, startedAt);
  // What was never let in freed nothing: who makes and deletes such manifests must not keep the tenant's own busy.
  if (wasChild) waiting.tenantChanged(tenant);
  if (records.get(tenantKey(tenant)) && deletions.isHeld(tenant)) queue.add(tenantKey(tenant));
  // One that was made again, and perhaps deleted again, before this one was released: it has not been looked at.
  const now = source.get(key);
  if (now !== undefined && now.uid !== record.uid) queue.add(key);
}

/** Says on a manifest that is gone or being deleted why its rows are still there. */
function reportBlocked(
  { statuses }: ReconcileContext,
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
  return statuses.finish(record, outcome, startedAt);
}
