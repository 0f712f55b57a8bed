/**
 * Owns the namespace rule among the steps: whether a child may name its tenant from where it is, and what becomes of one
 * that may not. It says the same whether there is such a tenant or not, so that a foreign namespace learns nothing.
 */
import type { TenantSpec } from '../crds/index.ts';
import { activeOf, statusOf } from './conditions.ts';
import type { Desk } from './desk.ts';
import { type Permission, permissionOf } from './namespaces.ts';
import type { Settled } from './reconcile.ts';
import { ownsRow, remember } from './remember.ts';
import { removeRow } from './remove.ts';
import type { FoundTenant } from './services.ts';
import type { SourceObject } from './source.ts';

/**
 * `found` is what the tenant was when it was asked, for the steps that come after; `seen` is changesOf it and `allowance`
 * what it allowed just before.
 */
export type Permit = {
  permission: Permission;
  tenant: string;
  found: FoundTenant | undefined;
  seen: number;
  allowance: string | undefined;
};

/** Asks for a child that the source holds; undefined for a Tenant and for what names no tenant. */
export async function permit(desk: Desk, object: SourceObject): Promise<Permit | undefined> {
  const tenant = object.kind === 'Tenant' ? undefined : await tenantOf(desk, object);
  if (tenant === undefined) return undefined;
  const [seen, allowance] = [desk.changesOf(tenant), desk.allowances.get(tenant)];
  const found = await desk.findTenant(tenant);
  return { permission: permissionIn(desk, tenant, found, object.namespace), tenant, found, seen, allowance };
}

/** What owns a row is judged by the tenant whose row it is, whatever it names now. */
async function tenantOf(desk: Desk, { key, claims }: SourceObject): Promise<string | undefined> {
  const known = desk.records.get(key);
  if (known === undefined || known.object === '' || known.tenant === claims?.tenant) return claims?.tenant;
  const owns = activeOf(known.status) !== undefined || (await ownsRow(desk, known));
  return owns ? known.tenant : claims?.tenant;
}

/** Whether objects of a namespace may name the tenant, as the tenant was last accepted. */
export function permissionIn(
  desk: Desk,
  tenant: string,
  found: FoundTenant | undefined,
  namespace: string,
): Permission {
  if (desk.source.namespaceLabels === undefined) return 'allowed';
  const allowed = found !== undefined && found.revision > 0 ? found.spec.allowedNamespaces : undefined;
  return permissionOf(tenant, allowed, namespace, desk.source.namespaceLabels(namespace));
}

/**
 * A child that may not name its tenant (any more) loses its row, because a permission that was taken back must stop
 * acting. Where only the labels are not known, nothing was taken back: what it owns stays as it is.
 */
export async function keepOut(
  desk: Desk,
  object: SourceObject,
  { permission, tenant, allowance }: Permit,
  startedAt: number,
): Promise<Settled> {
  const { key, namespace } = object;
  const known = desk.records.get(key);
  desk.accepted.delete(key);
  desk.programmed.forget(key);
  if (permission === 'unknown' && known !== undefined && (await ownsRow(desk, known))) return 'settled';
  const lost = known !== undefined && (await removeRow(desk, known, true));
  const record = await remember(desk, object, false);
  const state = 'Nothing of it is served.';
  const message =
    `The namespace ${namespace} may not name the tenant ${tenant}: there must be such a Tenant, and its ` +
    `spec.allowedNamespaces must allow the namespace.\n${state}`;
  const outcome = {
    generation: record.generation,
    accepted: { ok: false, reason: 'NamespaceNotAllowed', message },
    programmed: { status: 'False' as const, reason: 'NotAccepted', message: state },
  };
  await desk.settle(record, statusOf(outcome, record.status, desk.nowText()), startedAt);
  // Its name is free now.
  if (lost) desk.unblock(tenant);
  // `recall` and the source bring it back; what was recalled before the record was written is not among them.
  if (desk.allowances.get(tenant) !== allowance) desk.queue.add(key);
  return 'settled';
}

/**
 * A Tenant was accepted: where it allows other namespaces than before, another writer, or other audiences, all that names
 * it is looked at again.
 * @param changed whether the database said something else of it before
 */
export function recall(desk: Desk, object: SourceObject, changed: boolean): void {
  if (!object.checked.ok) return;
  const { allowedNamespaces, configAuthority, audiences } = object.checked.manifest.spec as TenantSpec;
  const allowance = JSON.stringify([allowedNamespaces ?? null, configAuthority, audiences]);
  const before = desk.allowances.get(object.name);
  if (before === allowance) return;
  desk.allowances.set(object.name, allowance);
  // At the start of a directory what was judged before its Tenant was judged by the same in the database.
  if (before === undefined && !changed && desk.source.namespaceLabels === undefined) return;
  for (const key of desk.records.keysOf(object.name)) {
    if (key === object.key) continue;
    desk.accepted.delete(key);
    desk.queue.add(key);
  }
}
