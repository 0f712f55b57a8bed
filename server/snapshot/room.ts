import { problem } from '../core/problems.ts';
import { defineRoom, snapshotPartsOf } from '../room/room.ts';
import type { TenantSnapshot } from '../room/tenant-snapshot.ts';
import { registerServerRoutes } from './routes.ts';
import type { ServedTenant } from './served-tenant.ts';
import { Snapshots } from './snapshots.ts';
import { forgetServed, readServing } from './store.ts';

export const snapshotRoom = defineRoom({
  name: 'snapshot',
  tables: ['server', 'server_revision'],
  create({ config, database, clock, observe, baseUrl, server, rooms }) {
    const maxStalenessMs = config.ACCORD_MAX_STALENESS * 1000;
    const snapshots = new Snapshots({
      ...{ database, parts: snapshotPartsOf(rooms), baseUrl, server, maxStalenessMs, clock, observe },
    });
    /** The tenant for a request, also one that is disabled. @throws Problem stale */
    const tenantOf = (tenant: string): ServedTenant | undefined => snapshots.served(tenant);
    return {
      snapshots,
      tenantOf,
      /** @throws Problem stale, tenant_not_found */
      snapshotOf(tenant: string): TenantSnapshot {
        const served = tenantOf(tenant);
        if (served === undefined) throw problem('tenant_not_found');
        return served.snapshot;
      },
      /** The servers that live, with the revision of the tenant that each serves. */
      serversOf: (tenant: string) => database.system((tx) => readServing(tx, tenant)),
      /** Resolves when this server serves the revision. */
      async waitForRevision(tenant: string, revision: number): Promise<void> {
        if ((snapshots.get(tenant)?.revision ?? 0) < revision) await snapshots.refresh(tenant);
      },
    };
  },
  routes: registerServerRoutes,
  openapiTag: 'Servers',
  metrics({ snapshots }, meters) {
    meters.gauge('tenants', 'Tenants in the snapshot.', () => snapshots.size);
    const fresh = '1 while the state is confirmed with the database.';
    meters.gauge('snapshot_fresh', fresh, () => (snapshots.isFresh() ? 1 : 0));
    meters.gauge('database_read_only', 'Whether Postgres refuses writes as read-only.', () =>
      snapshots.trouble === 'read-only' ? 1 : 0,
    );
    const swaps = meters.counter('snapshot_swaps_total', 'Snapshots replaced.');
    const seconds = meters.histogram('snapshot_read_seconds', 'Time to read a changed snapshot.');
    return {
      snapshot_swapped({ ms }) {
        swaps.inc();
        seconds.add(ms / 1000);
      },
    };
  },
  tenantRows: {
    // Servers withdraw what they said when they notice; a successor of the code may be faster than they.
    removeAfter: forgetServed,
  },
});
