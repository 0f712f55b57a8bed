/**
 * The namespace rule among the steps: whether a child may name its tenant from where it is, and what becomes of one that
 * may not. It says the same whether there is such a tenant or not, so that a foreign namespace learns nothing.
 */
import type { TenantSpec } from '../crds/index.ts';
import { activeOf, conditionOf, nothingServed } from './conditions.ts';
import type { ReconcileContext, Reconciled } from './context.ts';
import { type Permission, permissionOf } from './namespaces.ts';
import { removeRow } from './remove.ts';
import { nextRecord, ownsRow } from './resource-record.ts';
import type { FoundTenant } from './services.ts';
import type { Key, SourceObject } from './source.ts';
import type { Allowance } from './tenant-tracker.ts';
import type { TenantVersion } from './waiting.ts';

/**
 * What a child may do, and of which state of its tenant that was read: `found` is its row, `seen` its version and
 * `allowance` what it allowed just before. What is written later is right only if they are still the same.
 */
export type NamespaceCheck = {
  permission: Permission;
  tenant: string;
  found: FoundTenant | undefined;
  seen: TenantVersion;
  allowance: Allowance | undefined;
};

/** Checks a child that the source holds; undefined for a Tenant and for what names no tenant. */
export async function checkNamespace(
  context: ReconcileContext,
  object: SourceObject,
): Promise<NamespaceCheck | undefined> {
  const tenant = object.kind === 'Tenant' ? undefined : await tenantOf(context, object);
  if (tenant === undefined) return undefined;
  const { tenants, waiting } = context;
  const [seen, allowance] = [waiting.changesOf(tenant), tenants.allowanceOf(tenant)];
  const found = await tenants.find(tenant);
  return { permission: permissionIn(context, tenant, found, object.namespace), tenant, found, seen, allowance };
}

/** What owns a row is judged by the tenant whose row it is, whatever it names now. */
async function tenantOf(context: ReconcileContext, { key, claims }: SourceObject): Promise<string | undefined> {
  const known = context.records.get(key);
  if (known === undefined || known.object === '' || known.tenant === claims?.tenant) return claims?.tenant;
  const owns = activeOf(known.status) !== undefined || (await ownsRow(context, known));
  return owns ? known.tenant : claims?.tenant;
}

/** Whether objects of a namespace may name the tenant, as the tenant was last accepted. */
export function permissionIn(
  { source }: Pick<ReconcileContext, 'source'>,
  tenant: string,
  found: FoundTenant | undefined,
  namespace: string,
): Permission {
  if (source.namespaceLabels === undefined) return 'allowed';
  const allowed = found !== undefined && found.revision > 0 ? found.spec.allowedNamespaces : undefined;
  return permissionOf(tenant, allowed, namespace, source.namespaceLabels(namespace));
}

/**
 * A child that may not name its tenant (any more) loses its row, because a permission that was taken back must stop
 * acting. Where only the labels are not known, nothing was taken back: what it owns stays as it is.
 */
export async function evict(
  context: ReconcileContext,
  object: SourceObject,
  { permission, tenant, allowance }: NamespaceCheck,
  startedAt: number,
): Promise<Reconciled> {
  const { key, namespace } = object;
  const { records, pending, rollouts, statuses, waiting, queue } = context;
  const known = records.get(key);
  pending.forgetAccepted(key);
  rollouts.forget(key);
  if (permission === 'unknown' && known !== undefined && (await ownsRow(context, known))) return 'settled';
  const wasChild = known !== undefined && isChild(context, key);
  if (known !== undefined) await removeRow(context, known, true);
  // Stored together with its status: without one it would count as a child.
  const record = await nextRecord(context, object, { mayOwn: false });
  const message =
    `Namespace ${namespace} is not allowed to name tenant ${tenant}: the Tenant must exist, and its ` +
    `spec.allowedNamespaces must allow the namespace.\n${nothingServed}`;
  const outcome = {
    generation: record.generation,
    accepted: { ok: false, reason: 'NamespaceNotAllowed', message },
    programmed: { status: 'False' as const, reason: 'NotAccepted', message: nothingServed },
  };
  await statuses.finish(record, outcome, startedAt);
  // Its name is free now, and a Tenant that is being deleted does not wait for it any more.
  if (wasChild) waiting.tenantChanged(known.tenant);
  // `requeueChildren` and the source bring it back; if its record was not there yet, `requeueChildren` did not know it.
  if (context.tenants.allowanceOf(tenant) !== allowance) queue.add(key);
  return 'settled';
}

/**
 * Whether a key is a child of the tenant that it names: what may not name the tenant does not keep it. One whose record
 * says that it may own a row is allowed by now, also while its status still says otherwise.
 */
export function isChild({ records }: { records: Pick<ReconcileContext['records'], 'get'> }, key: Key): boolean {
  const { status = {}, object = '' } = records.get(key) ?? {};
  return object !== '' || conditionOf(status, 'Accepted')?.reason !== 'NamespaceNotAllowed';
}

/**
 * A Tenant was accepted: where it allows other namespaces than before, another writer, or other audiences, all that names
 * it is looked at again.
 * @param changed whether the database said something else of it before
 */
export function requeueChildren(context: ReconcileContext, object: SourceObject, changed: boolean): void {
  if (!object.checked.ok) return;
  const { tenants, source, records, pending, queue } = context;
  const allowed = tenants.allows(object.name, object.checked.manifest.spec as TenantSpec);
  if (allowed === undefined) return;
  // At the start of a directory what was judged before its Tenant was judged by the same in the database.
  if (allowed.isFirst && !changed && source.namespaceLabels === undefined) return;
  for (const key of records.keysOf(object.name)) {
    if (key === object.key) continue;
    pending.forgetAccepted(key);
    queue.add(key);
  }
}
