/** Retention: events that are older than their tenant wants are removed, and days that hold nothing are dropped. */
import type { Database } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import type { Observe } from '../core/observe.ts';
import type { Task } from '../room/tasks.ts';
import { readTenants } from '../tenants/index.ts';
import { dropEmptyDays, markRemoved, removeEvents, removeOldCounts, tenantsWithEvents } from './store.ts';

type RetentionServices = { database: Database; observe: Observe };

const HOUR_MS = 60 * 60 * 1000;
/** Where the Tenant says nothing. */
const RETENTION_DAYS = 14;

/** Removes what is no longer kept. A tenant whose removal fails keeps its events for the next time, and the others go on. */
export async function removeOld({ database, observe }: RetentionServices, signal?: AbortSignal): Promise<void> {
  const [tenants, rows] = await database.system(async (tx) => [await tenantsWithEvents(tx), await readTenants(tx)]);
  const daysOf = new Map(rows.map(({ tenant, spec }) => [tenant, spec.events?.retentionDays]));
  for (const tenant of tenants) {
    const days = daysOf.get(tenant) ?? RETENTION_DAYS;
    try {
      // First: readers must not take what is removed for a gap.
      await database.system((tx) => markRemoved(tx, tenant, days));
      let removed: number = limits.eventsRemovedMax;
      while (removed === limits.eventsRemovedMax && !signal?.aborted)
        removed = await database.system((tx) => removeEvents(tx, tenant, days));
    } catch (error) {
      observe({ kind: 'background_failed', task: `removing old events of ${tenant}`, error });
    }
    if (signal?.aborted) return;
  }
  await database.system(removeOldCounts);
  await database.system(dropEmptyDays);
}

export function retention(services: RetentionServices): Task {
  return {
    name: 'removing old events',
    everyMs: HOUR_MS,
    firstMs: 60_000,
    async run(signal) {
      await removeOld(services, signal);
      return undefined;
    },
  };
}
