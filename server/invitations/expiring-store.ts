/** The SQL of invitations that have expired and are to be told. `now` is RFC 3339. */
import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { tenantsWith } from '../core/db/due.ts';
import { Instant } from '../core/db/rows.ts';
import { literal, sql } from '../core/db/sql.ts';
import { limits } from '../core/limits.ts';

const untold = sql`status = 'pending' and not told_expired`;

export function tenantsWithExpired(tx: Transaction, now: string): Promise<string[]> {
  return tenantsWith(tx, {
    ...{ table: 'invitation', instant: 'expires_at', untold },
    isDue: sql`expires_at <= ${now}`,
  });
}

const ExpiredRow = Type.Object({
  id: Type.String(),
  target_type: Type.String(),
  target_id: Type.String(),
  expires_at: Instant,
});

/** Marks some as told, the first to expire first. One that is being written is left for the next time: nobody waits for it. */
export async function takeExpired(tx: Transaction, tenant: string, now: string): Promise<Static<typeof ExpiredRow>[]> {
  const rows = await tx.many(
    ExpiredRow,
    sql`update accord.invitation set told_expired = true where ctid = any(array(
        select ctid from accord.invitation where tenant = ${tenant} and ${untold} and expires_at <= ${now}
        order by expires_at limit ${literal(limits.timedEventsMax)} for update skip locked))
      returning id, target_type, target_id, expires_at`,
  );
  return rows.sort((a, b) => (a.expires_at < b.expires_at ? -1 : 1));
}
