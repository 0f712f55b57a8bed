/** The SQL of the overview: what needs somebody, and the newest decisions and deliveries. Each question is bounded by its limit. */
import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Instant, Json, Nullable } from '../core/db/rows.ts';
import { sql } from '../core/db/sql.ts';
import { limits } from '../core/limits.ts';

const most = limits.overviewItemsMax;
const looked = limits.overviewRecordsMax;

const ManifestRow = Type.Object({
  kind: Type.String(),
  namespace: Type.String(),
  name: Type.String(),
  object: Type.String(),
  type: Type.String(),
  reason: Nullable(Type.String()),
  since: Nullable(Type.String()),
});
export type ManifestRow = Static<typeof ManifestRow>;

/** Manifests that are not accepted or not in effect, and those whose deletion is held, by the first condition that says so. */
export function readUnwell(tx: Transaction, tenant: string): Promise<ManifestRow[]> {
  return tx.many(
    ManifestRow,
    sql`select r.kind, r.namespace, r.name, r.object, c.type, c.reason, c.since from accord.resource r
      cross join lateral (select c ->> 'type' as type, c ->> 'reason' as reason, c ->> 'lastTransitionTime' as since
        from jsonb_array_elements(case jsonb_typeof(r.status -> 'conditions') when 'array' then r.status -> 'conditions' else '[]' end)
          with ordinality as e (c, n)
        where (c ->> 'type' = 'DeletionHeld' and c ->> 'status' = 'True') or (c ->> 'type' in ('Accepted', 'Programmed') and c ->> 'status' = 'False')
        order by c ->> 'type' <> 'DeletionHeld', n limit 1) as c
      where r.tenant = ${tenant} order by r.kind, r.namespace, r.name, r.source limit ${most}`,
  );
}

const DisabledRow = Type.Object({
  subscription: Type.String(),
  disabled_at: Instant,
  disabled_reason: Nullable(Type.String()),
});

export function readDisabled(tx: Transaction, tenant: string): Promise<Static<typeof DisabledRow>[]> {
  return tx.many(
    DisabledRow,
    sql`select subscription, disabled_at, disabled_reason from accord.event_lane
      where tenant = ${tenant} and disabled_at is not null order by subscription limit ${most}`,
  );
}

const GraceRow = Type.Object({
  definition: Type.String(),
  version: Type.String(),
  users: Type.Integer(),
  first_ends: Instant,
});

/** Graces that end before an instant, of those that end first. */
export function readEndingGraces(tx: Transaction, tenant: string, until: string): Promise<Static<typeof GraceRow>[]> {
  return tx.many(
    GraceRow,
    sql`select definition, version, count(*) as users, min(grace_ends) as first_ends
      from (select definition, version, grace_ends, user_id from accord.consent_invitation
        where tenant = ${tenant} and not told_expired and grace_ends > now() and grace_ends <= ${until}::timestamptz
        order by grace_ends limit ${looked}) as soon
      group by definition, version order by first_ends, definition, version limit ${most}`,
  );
}

const PendingRow = Type.Object({ count: Type.Integer(), oldest: Nullable(Instant), first_ends: Nullable(Instant) });

/** Invitations that were made before an instant and that nobody has answered, of those that end first. */
export function readUnanswered(tx: Transaction, tenant: string, before: string): Promise<Static<typeof PendingRow>> {
  return tx.one(
    PendingRow,
    sql`select count(*) as count, min(created_at) as oldest, min(expires_at) as first_ends
      from (select created_at, expires_at from accord.invitation
        where tenant = ${tenant} and status = 'pending' and not told_expired and expires_at > now()
        order by expires_at limit ${looked}) as pending where created_at < ${before}::timestamptz`,
  );
}

const KeyRow = Type.Object({ purpose: Type.String(), kid: Type.String(), activates_at: Instant });

/** Keys that are published and do not sign yet: a rotation is under way. */
export function readRotating(tx: Transaction, tenant: string): Promise<Static<typeof KeyRow>[]> {
  return tx.many(
    KeyRow,
    sql`select purpose, kid, activates_at from accord.signing_key where tenant = ${tenant} and activates_at > now()
      order by activates_at, kid limit ${most}`,
  );
}

const ReasonsRow = Type.Object({
  looked: Type.Integer(),
  since: Nullable(Instant),
  reasons: Json<{ reason: string; count: number }[]>(),
});

/** Why the newest decisions of the log since an instant denied. `since`: of the oldest that was looked at. */
export function readReasons(tx: Transaction, tenant: string, since: string): Promise<Static<typeof ReasonsRow>> {
  return tx.one(
    ReasonsRow,
    sql`with newest as materialized (
        select at, answer from accord.decision where tenant = ${tenant} and at >= ${since}::timestamptz order by at desc, id desc limit ${looked}),
      denied as (
        select coalesce(left(answer ->> 'reason', 200), '') as reason, count(*) as count
        from newest where answer ->> 'outcome' = 'deny' group by 1 order by count(*) desc, 1 limit ${most})
      select (select count(*) from newest) as looked, (select min(at) from newest) as since,
        (select coalesce(jsonb_agg(jsonb_build_object('reason', reason, 'count', count) order by count desc, reason), '[]') from denied) as reasons`,
  );
}

const AttemptRow = Type.Object({
  hour: Instant,
  delivered: Type.Integer(),
  failed: Type.Integer(),
  looked: Type.Integer(),
  since: Instant,
});

/** The newest attempts to deliver since an instant, by hour. */
export function readAttempts(tx: Transaction, tenant: string, since: string): Promise<Static<typeof AttemptRow>[]> {
  return tx.many(
    AttemptRow,
    sql`with newest as materialized (
        select at, status from accord.delivery_attempt where tenant = ${tenant} and at >= ${since}::timestamptz order by at desc limit ${looked})
      select date_bin('1 hour', at, 'epoch'::timestamptz) as hour, count(*) filter (where status between 200 and 299) as delivered,
        count(*) filter (where status not between 200 and 299) as failed,
        (select count(*) from newest) as looked, (select min(at) from newest) as since
      from newest group by 1 order by 1`,
  );
}
