/**
 * What is done about a mass deletion that is held: it is told once for each number of manifests, the Tenant's condition
 * says how to confirm it, and when it ends, whatever was held is looked at again.
 */
import type { Clock } from '../server/core/clock.ts';
import type { Observe } from '../server/core/observe.ts';
import type { ConditionLine } from './conditions.ts';
import { confirmAnnotation, type Held, MassDeletion } from './mass-deletion.ts';
import type { Records } from './records.ts';
import type { Key, SourceObject } from './source.ts';
import { tenantKey } from './tenant-tracker.ts';

type HeldDeletionsOptions = {
  records: Records;
  clock: Clock;
  observe: Observe;
  requeue: (keys: readonly Key[]) => void;
};

export class HeldDeletions {
  readonly #options: HeldDeletionsOptions;
  #guard = new MassDeletion();
  /** What was last told of each tenant's deletion that is held. */
  readonly #reported = new Map<string, Held>();

  constructor(options: HeldDeletionsOptions) {
    this.#options = options;
  }

  /** A manifest is gone or being deleted, and its row is there. @param withTenant its Tenant is being deleted: all goes */
  markDeleted(key: Key, tenant: string, withTenant: boolean): void {
    this.#guard.markDeleted(key, tenant);
    if (!withTenant) return;
    // Whoever deletes a Tenant means all of it, also what was held before.
    const approved = key === tenantKey(tenant) ? this.#guard.goneKeys(tenant) : [key];
    this.#guard.approve(approved);
    this.#options.requeue(approved.filter((one) => one !== key));
  }

  markPresent(key: Key): void {
    this.#guard.markPresent(key);
  }

  rowDeleted(key: Key): void {
    this.#guard.rowDeleted(key, this.#options.clock.monotonic());
  }

  /** Another operator may have deleted rows: what is gone is marked anew. */
  clear(): void {
    this.#guard = new MassDeletion();
    this.#reported.clear();
  }

  /** It goes whatever else goes. */
  approve(key: Key): void {
    this.#guard.approve([key]);
  }

  isApproved(key: Key): boolean {
    return this.#guard.isApproved(key);
  }

  /** Whether something of the tenant was held when it was last asked about. */
  isHeld(tenant: string): boolean {
    return this.#reported.has(tenant);
  }

  /** The tenant's mass deletion, while it is held; tells when that changed. */
  heldOf(tenant: string): Held | undefined {
    const { records, clock, observe, requeue } = this.#options;
    const held = this.#guard.holds(tenant, records.totals(), clock.monotonic());
    const before = this.#reported.get(tenant);
    if (held === undefined) {
      this.#reported.delete(tenant);
      if (before) requeue(this.#guard.goneKeys(tenant));
      return undefined;
    }
    this.#reported.set(tenant, held);
    if (before?.gone !== held.gone) {
      observe({ kind: 'mass_deletion_held', tenant, rows: held.gone, total: held.total });
      requeue([tenantKey(tenant)]);
    }
    return held;
  }

  /** The condition on the Tenant, while its deletions are held. */
  conditionsOf(tenant: string): ConditionLine[] {
    const held = this.heldOf(tenant);
    if (held === undefined) return [];
    return [{ type: 'DeletionHeld', status: 'True', reason: 'MassDeletion', message: describeHeld(held) }];
  }

  /** Reads the annotation of a Tenant: the number that the condition says lets exactly these manifests go. */
  readConfirmation(object: SourceObject): void {
    const text = object.annotations[confirmAnnotation];
    if (object.kind !== 'Tenant' || text === undefined || !/^[1-9]\d{0,8}$/.test(text)) return;
    const keys = this.#guard.goneKeys(object.name);
    if (this.#guard.confirm(object.name, Number(text))) this.#options.requeue(keys);
  }
}

export function describeHeld({ gone, total, everywhere }: Held): string {
  const whole = everywhere ? ', and too many of all tenants together' : '';
  return (
    `${gone} of ${total} manifests of this tenant were deleted or are being deleted${whole}. Their objects are kept. ` +
    `Restore the manifests, or annotate the Tenant with ${confirmAnnotation}: "${gone}" to delete the objects.`
  );
}

/** On one of many whose deletion is held; without the number, which may still grow. */
export function describeHeldChild(tenant: string): string {
  return (
    `Too many manifests of tenant ${tenant} are being deleted at once, so the object of this one is kept and served. ` +
    `The condition DeletionHeld of the Tenant says how to confirm the deletion.`
  );
}
