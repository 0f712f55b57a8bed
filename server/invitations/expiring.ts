/** Tells of invitations that have expired. */
import { takeTurn } from '../core/db/due.ts';
import { limits } from '../core/limits.ts';
import { byTime, type Timed } from '../room/timed.ts';
import { type WriteServices, write } from '../writes/index.ts';
import { invitationExpired } from './events.ts';
import { takeExpired, tenantsWithExpired } from './expiring-store.ts';

export function expiringInvitations(services: WriteServices): Timed {
  return {
    name: 'expired invitations',
    tenantsDue: tenantsWithExpired,
    async tellSome(tenant) {
      const { result } = await write(services, { tenant }, { locks: 'records' }, async (unit) => {
        if (!(await takeTurn(unit.tx, tenant, 'invitations.expired'))) return 0;
        const rows = await takeExpired(unit.tx, tenant, unit.nowText);
        for (const row of rows) {
          const target = { type: row.target_type, id: row.target_id };
          unit.emit(invitationExpired, {
            ...{ requestor: byTime, invitationId: row.id, target, expiresAt: row.expires_at },
          });
        }
        return rows.length;
      });
      return result === limits.timedEventsMax;
    },
  };
}
