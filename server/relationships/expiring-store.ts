/** The SQL of relationships that have expired and are to be told. `now` is RFC 3339. */
import type { Transaction } from '../core/db/database.ts';
import { tenantsWith } from '../core/db/due.ts';
import { literal, sql } from '../core/db/sql.ts';
import { limits } from '../core/limits.ts';
import { RelationshipRow } from './schema.ts';

const untold = sql`told_expiry is distinct from expires_at`;

export function tenantsWithExpired(tx: Transaction, now: string): Promise<string[]> {
  return tenantsWith(tx, {
    ...{ table: 'relationship', instant: 'expires_at', untold },
    isDue: sql`expires_at <= ${now}`,
  });
}

/** Marks some as told, the first to expire first. One that is being written is left for the next time: nobody waits for it. */
export async function takeExpired(tx: Transaction, tenant: string, now: string): Promise<RelationshipRow[]> {
  const rows = await tx.many(
    RelationshipRow,
    sql`update accord.relationship set told_expiry = expires_at where ctid = any(array(
        select ctid from accord.relationship where tenant = ${tenant} and expires_at <= ${now} and ${untold}
        order by expires_at limit ${literal(limits.timedEventsMax)} for update skip locked))
      returning from_type, from_id, name, to_type, to_id, expires_at`,
  );
  return rows.sort((a, b) => ((a.expires_at as string) < (b.expires_at as string) ? -1 : 1));
}
