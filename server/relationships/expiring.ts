/** Tells of relationships that have expired. */
import type { Transaction } from '../core/db/database.ts';
import { takeTurn, tenantsWith } from '../core/db/due.ts';
import { sql } from '../core/db/sql.ts';
import { limits } from '../core/limits.ts';
import { byTime, type Timed } from '../room/timed.ts';
import { type WriteServices, write } from '../writes/index.ts';
import { relationshipExpired } from './events.ts';
import { RelationshipRow } from './schema.ts';

export function expiringRelationships(services: WriteServices): Timed {
  return {
    name: 'expired relationships',
    tenantsDue: (tx, now) =>
      tenantsWith(
        tx,
        sql`select from accord.relationship r where r.tenant = t.tenant and expires_at <= ${now}
          and told_expiry is distinct from expires_at`,
      ),
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

/** Marks some as told, the first to expire first. One that is being written is left for the next time: nobody waits for it. */
async function takeExpired(tx: Transaction, tenant: string, now: string): Promise<RelationshipRow[]> {
  const rows = await tx.many(
    RelationshipRow,
    sql`with due as materialized (
        select ctid from accord.relationship where tenant = ${tenant} and expires_at <= ${now} and told_expiry is distinct from expires_at
        order by expires_at limit ${limits.timedEventsMax} for update skip locked)
      update accord.relationship r set told_expiry = expires_at from due where r.ctid = due.ctid
      returning from_type, from_id, name, to_type, to_id, expires_at`,
  );
  return rows.sort((a, b) => ((a.expires_at as string) < (b.expires_at as string) ? -1 : 1));
}
