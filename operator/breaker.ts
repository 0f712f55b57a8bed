/**
 * Owns the mass-delete breaker, pure: a directory that was moved away, a wrong mount or a wrong kubectl context looks like
 * the deletion of everything, and in Kubernetes it is one, with a deletionTimestamp on each. Manifests that are gone or
 * being deleted, and those deleted in the last minute, count together, for each tenant and over all tenants. Past the
 * limits nothing more is deleted until the manifests are back, somebody confirms the number, or the Tenant itself is deleted.
 */
import { limits } from '../server/core/limits.ts';
import type { Key } from './source.ts';

/** On the Tenant; its value is the number of manifests that may go, as the condition says it. */
export const confirmAnnotation = 'accord.dev/confirm-deletion';

export type Held = { gone: number; total: number; everywhere: boolean };

const ALL = '*';

export class Breaker {
  /** Manifests that are gone or being deleted and whose rows are still there, by tenant. */
  readonly #gone = new Map<string, Set<Key>>();
  readonly #tenantOf = new Map<Key, string>();
  /** Confirmed: these go, whatever the limits say. */
  readonly #released = new Set<Key>();
  /** Rows deleted lately whose manifests have not come back. */
  readonly #deleted = new Map<Key, { tenant: string; at: number }>();
  /** Once held, held until the manifests are back or the number is confirmed. */
  readonly #held = new Set<string>();

  /** A manifest is gone or being deleted, and its row is there. */
  gone(key: Key, tenant: string): void {
    if (this.#tenantOf.has(key)) return;
    this.#gone.set(tenant, (this.#gone.get(tenant) ?? new Set()).add(key));
    this.#tenantOf.set(key, tenant);
  }

  /** A manifest is there, perhaps again. */
  there(key: Key): void {
    const tenant = this.#tenantOf.get(key);
    if (tenant !== undefined) this.#forget(key, tenant);
    this.#deleted.delete(key);
  }

  /** The row of a manifest that is gone is gone as well. @param now monotonic ms */
  deleted(key: Key, now: number): void {
    const tenant = this.#tenantOf.get(key);
    if (tenant === undefined) return;
    if (!this.#released.has(key)) this.#deleted.set(key, { tenant, at: now });
    this.#forget(key, tenant);
  }

  /** Manifests of a tenant that are gone. */
  goneKeys(tenant: string): Key[] {
    return [...(this.#gone.get(tenant) ?? [])];
  }

  /** Confirms that exactly this many manifests of the tenant may go. @returns whether that is how many are gone */
  confirm(tenant: string, count: number): boolean {
    const keys = this.#unconfirmed(tenant);
    if (keys.length === 0 || keys.length !== count) return false;
    for (const key of keys) this.#released.add(key);
    this.#held.delete(tenant);
    return true;
  }

  /** These manifests that are gone or being deleted may go, and count no more. */
  release(keys: Iterable<Key>): void {
    for (const key of keys) if (this.#tenantOf.has(key)) this.#released.add(key);
  }

  /** Confirmed, so that its row goes whatever the limits say. */
  isReleased(key: Key): boolean {
    return this.#released.has(key);
  }

  /** Whether the rows of a tenant's manifests that are gone must stay for now, and why. */
  holds(tenant: string, totals: { ofTenant: number; ofAll: number }, now: number): Held | undefined {
    const gone = this.#unconfirmed(tenant).length;
    if (gone === 0) return undefined;
    if (this.#trips(tenant, gone, totals.ofTenant, now)) return { gone, total: totals.ofTenant, everywhere: false };
    const everywhere = this.#tenantOf.size - this.#released.size;
    if (this.#trips(ALL, everywhere, totals.ofAll, now)) return { gone, total: totals.ofTenant, everywhere: true };
    return undefined;
  }

  #trips(scope: string, gone: number, total: number, now: number): boolean {
    const recent = this.#recent(scope, now);
    const rows = gone + recent;
    if (rows > limits.sweepRowsMax && rows > (limits.sweepPercentMax / 100) * (total + recent)) this.#held.add(scope);
    return this.#held.has(scope);
  }

  #recent(scope: string, now: number): number {
    let count = 0;
    for (const [key, { tenant, at }] of this.#deleted) {
      if (at <= now - limits.sweepWindowMs) this.#deleted.delete(key);
      else if (scope === ALL || scope === tenant) count++;
    }
    return count;
  }

  #unconfirmed(tenant: string): Key[] {
    return this.goneKeys(tenant).filter((key) => !this.#released.has(key));
  }

  #forget(key: Key, tenant: string): void {
    const keys = this.#gone.get(tenant);
    keys?.delete(key);
    this.#tenantOf.delete(key);
    this.#released.delete(key);
    if (keys?.size === 0) {
      this.#gone.delete(tenant);
      this.#held.delete(tenant);
    }
    if (this.#tenantOf.size === 0) this.#held.delete(ALL);
  }
}
