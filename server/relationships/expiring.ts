/** Tells of relationships that have expired. */
import { takeTurn } from '../core/db/due.ts';
import { limits } from '../core/limits.ts';
import { byTime, type Timed } from '../room/timed.ts';
import { type WriteServices, write } from '../writes/index.ts';
import { relationshipExpired } from './events.ts';
import { takeExpired, tenantsWithExpired } from './expiring-store.ts';

export function expiringRelationships(services: WriteServices): Timed {
  return {
    name: 'expired relationships',
    tenantsDue: tenantsWithExpired,
    async tellSome(tenant) {
      const { result } = await write(services, { tenant }, { locks: 'records' }, async (unit) => {
        if (!(await takeTurn(unit.tx, tenant, 'relationships.expired'))) return 0;
        const rows = await takeExpired(unit.tx, tenant, unit.nowText);
        for (const row of rows) {
          unit.emit(relationshipExpired, {
            requestor: byTime,
            from: { type: row.from_type, id: row.from_id },
            relationshipType: row.name,
            to: { type: row.to_type, id: row.to_id },
            expiresAt: row.expires_at as string,
          });
        }
        return rows.length;
      });
      return result === limits.timedEventsMax;
    },
  };
}
