/**
 * The guard against mass deletion, pure: a directory that was moved away, a wrong mount or a wrong kubectl context looks
 * like the deletion of everything, and in Kubernetes it is one, with a deletionTimestamp on each. Manifests that are gone
 * or being deleted, and those deleted in the last minute, count together, for each tenant and over all tenants. Past the
 * limits all deletions of the tenants concerned are held: nothing more of them is deleted until their manifests are back,
 * somebody confirms the number, or the Tenant itself is deleted. What is held counts for its own tenant only, so that a
 * tenant's mass deletion does not hold what few manifests others delete.
 */
import { limits } from '../server/core/limits.ts';
import type { Key } from './source.ts';

/** On the Tenant; its value is the number of manifests that may go, as the condition says it. */
export const confirmAnnotation = 'accord.dev/confirm-deletion';

/** `everywhere`: those of all tenants together are too many, rather than this one's. */
export type Held = { gone: number; total: number; everywhere: boolean };

/** How many manifests own rows. */
export type Totals = { ofTenant: (tenant: string) => number; ofAll: number };

export class MassDeletion {
  /** Manifests that are gone or being deleted and whose rows are still there, by tenant. */
  readonly #gone = new Map<string, Set<Key>>();
  readonly #tenantOf = new Map<Key, string>();
  /** Confirmed: these go, whatever the limits say. */
  readonly #approved = new Set<Key>();
  /** How many of `#approved` each tenant has: it is asked at each key of a mass deletion. */
  readonly #approvedOf = new Map<string, number>();
  /** Rows deleted lately whose manifests have not come back. */
  readonly #deleted = new Map<Key, { tenant: string; at: number }>();
  /** Once held, a tenant is held until its manifests are back or the number is confirmed. */
  readonly #held = new Map<string, { everywhere: boolean }>();

  /** A manifest is gone or being deleted, and its row is there. */
  markDeleted(key: Key, tenant: string): void {
    if (this.#tenantOf.has(key)) return;
    this.#gone.set(tenant, (this.#gone.get(tenant) ?? new Set()).add(key));
    this.#tenantOf.set(key, tenant);
  }

  /** A manifest is there, perhaps again. */
  markPresent(key: Key): void {
    const tenant = this.#tenantOf.get(key);
    if (tenant !== undefined) this.#forget(key, tenant);
    this.#deleted.delete(key);
  }

  /** The row of a manifest that is gone is gone as well. @param now monotonic ms */
  rowDeleted(key: Key, now: number): void {
    const tenant = this.#tenantOf.get(key);
    if (tenant === undefined) return;
    if (!this.#approved.has(key)) this.#deleted.set(key, { tenant, at: now });
    this.#forget(key, tenant);
  }

  /** Manifests of a tenant that are gone and whose rows are there. */
  goneKeys(tenant: string): Key[] {
    return [...(this.#gone.get(tenant) ?? [])];
  }

  /** Confirms that exactly this many manifests of the tenant may go. @returns whether that is how many are gone */
  confirm(tenant: string, count: number): boolean {
    if (count === 0 || this.#unconfirmed(tenant) !== count) return false;
    this.approve(this.goneKeys(tenant));
    this.#held.delete(tenant);
    return true;
  }

  /** These manifests that are gone or being deleted may go, and count no more. */
  approve(keys: Iterable<Key>): void {
    for (const key of keys) {
      const tenant = this.#tenantOf.get(key);
      if (tenant === undefined || this.#approved.has(key)) continue;
      this.#approved.add(key);
      this.#approvedOf.set(tenant, (this.#approvedOf.get(tenant) ?? 0) + 1);
    }
  }

  /** Confirmed, so that its row goes whatever the limits say. */
  isApproved(key: Key): boolean {
    return this.#approved.has(key);
  }

  /** Whether the rows of a tenant's manifests that are gone must stay for now, and why. @param now monotonic ms */
  holds(tenant: string, totals: Totals, now: number): Held | undefined {
    const gone = this.#unconfirmed(tenant);
    if (gone === 0) return undefined;
    if (!this.#held.has(tenant)) this.#holdWhereTooMany(tenant, totals, now);
    const held = this.#held.get(tenant);
    return held && { gone, total: totals.ofTenant(tenant), everywhere: held.everywhere };
  }

  #holdWhereTooMany(tenant: string, totals: Totals, now: number): void {
    const recent = this.#recent(now);
    const holdIfTooMuch = (one: string) => {
      const isHeld = isTooMuch(this.#unconfirmed(one), recent.get(one) ?? 0, totals.ofTenant(one));
      if (isHeld) this.#held.set(one, { everywhere: false });
      return isHeld;
    };
    const recentOfAll = [...recent.values()].reduce((sum, count) => sum + count, 0);
    const isEverywhere = () => isTooMuch(this.#notHeld(), recentOfAll, totals.ofAll);
    if (holdIfTooMuch(tenant) || !isEverywhere()) return;
    const others = [...this.#gone.keys()].filter((one) => !this.#held.has(one));
    for (const one of others) holdIfTooMuch(one);
    if (!isEverywhere()) return;
    // All whose manifests are gone now are part of it, and none that comes later by itself.
    for (const one of others) {
      if (!this.#held.has(one) && this.#unconfirmed(one) > 0) this.#held.set(one, { everywhere: true });
    }
  }

  /** How many are gone and unconfirmed of tenants that are not held. */
  #notHeld(): number {
    let count = this.#tenantOf.size - this.#approved.size;
    for (const tenant of this.#held.keys()) count -= this.#unconfirmed(tenant);
    return count;
  }

  /** How many rows of each tenant were deleted lately. */
  #recent(now: number): Map<string, number> {
    const counts = new Map<string, number>();
    for (const [key, { tenant, at }] of this.#deleted) {
      if (at <= now - limits.massDeletionWindowMs) this.#deleted.delete(key);
      else counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
    }
    return counts;
  }

  #unconfirmed(tenant: string): number {
    return (this.#gone.get(tenant)?.size ?? 0) - (this.#approvedOf.get(tenant) ?? 0);
  }

  #forget(key: Key, tenant: string): void {
    const keys = this.#gone.get(tenant);
    keys?.delete(key);
    this.#tenantOf.delete(key);
    if (this.#approved.delete(key)) this.#approvedOf.set(tenant, (this.#approvedOf.get(tenant) ?? 0) - 1);
    if (keys?.size !== 0) return;
    this.#gone.delete(tenant);
    this.#approvedOf.delete(tenant);
    this.#held.delete(tenant);
  }
}

function isTooMuch(gone: number, recent: number, total: number): boolean {
  const rows = gone + recent;
  return rows > limits.massDeletionRowsMax && rows > (limits.massDeletionPercentMax / 100) * (total + recent);
}
