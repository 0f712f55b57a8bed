/** Owns what is said and done about a sweep that the breaker holds: the observation, the Tenant's condition, the confirmation. */
import { confirmAnnotation, type Held } from './breaker.ts';
import type { Desk } from './desk.ts';
import type { SourceObject } from './source.ts';

/** Whether the tenant's sweep is held now; tells when that changed. */
export function heldSweep(desk: Desk, tenant: string): Held | undefined {
  const held = desk.breaker.holds(tenant, desk.records.totals(tenant), desk.clock.monotonic());
  const before = desk.held.get(tenant);
  if (held === undefined) {
    if (before) for (const key of desk.breaker.goneKeys(tenant)) desk.queue.add(key);
    desk.held.delete(tenant);
    return undefined;
  }
  desk.held.set(tenant, held);
  if (before?.gone !== held.gone) {
    desk.observe({ kind: 'sweep_held', tenant, rows: held.gone, total: held.total });
    desk.queue.add(desk.tenantKey(tenant));
  }
  return held;
}

/** The condition on the Tenant, while its sweep is held. */
export function sweepConditions(desk: Desk, tenant: string) {
  const held = heldSweep(desk, tenant);
  if (held === undefined) return [];
  return [{ type: 'DeletionHeld', status: 'True' as const, reason: 'MassDeletion', message: describeHeld(held) }];
}

export function describeHeld({ gone, total, everywhere }: Held): string {
  const whole = everywhere ? ', and too many of all tenants together' : '';
  return (
    `${gone} of ${total} manifests of this tenant are gone or being deleted${whole}. Nothing of them is deleted: bring ` +
    `them back, or annotate the Tenant with ${confirmAnnotation}: "${gone}" to delete what they own.`
  );
}

/** On one of many whose deletion is held; without the number, which may still grow. */
export function describeHeldChild(tenant: string): string {
  return (
    `Too many manifests of the tenant ${tenant} are being deleted at once, so what this one owns stays and is served. ` +
    `The condition DeletionHeld of the Tenant says how to let them go.`
  );
}

/** Reads the annotation of a Tenant: the number that the condition says lets exactly these manifests go. */
export function confirmSweep(desk: Desk, object: SourceObject): void {
  const text = object.annotations[confirmAnnotation];
  if (object.kind !== 'Tenant' || text === undefined || !/^[1-9]\d{0,8}$/.test(text)) return;
  const keys = desk.breaker.goneKeys(object.name);
  if (desk.breaker.confirm(object.name, Number(text))) for (const key of keys) desk.queue.add(key);
}
