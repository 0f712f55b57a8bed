/** The SQL of what `accord doctor` says of subscriptions. */
import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Count, Instant, Nullable } from '../core/db/rows.ts';
import { sql } from '../core/db/sql.ts';

const TroubledRow = Type.Object({
  ...{ tenant: Type.String(), id: Type.String(), endpoint: Type.String(), waiting: Type.Integer() },
  ...{ disabled_at: Nullable(Instant), disabled_reason: Nullable(Type.String()) },
  ...{ failing_since: Nullable(Instant), blocked_until: Nullable(Instant) },
});
export type TroubledRow = Static<typeof TroubledRow>;

/** Subscriptions of all tenants that are disabled or whose endpoint fails, in a system transaction; those first that do so longest. */
export function readTroubled(tx: Transaction, limit: number): Promise<TroubledRow[]> {
  return tx.many(
    TroubledRow,
    sql`select l.tenant, l.subscription as id, s.spec ->> 'endpoint' as endpoint, l.disabled_at, l.disabled_reason,
        l.failing_since, l.blocked_until,
        least(coalesce((select last from accord.event_counter c where c.tenant = l.tenant), 0) - l.cursor, 1000000)::int as waiting
      from accord.event_lane l join accord.event_subscription s on s.tenant = l.tenant and s.id = l.subscription
      where l.disabled_at is not null or l.failing_since is not null
      order by coalesce(l.disabled_at, l.failing_since), l.tenant, l.subscription limit ${limit}`,
  );
}

export async function countSubscriptions(tx: Transaction): Promise<number> {
  return (await tx.one(Count, sql`select count(*)::int as count from accord.event_subscription`)).count;
}
