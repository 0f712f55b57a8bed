/** SQL of lanes: their cursors, what is open behind them, and what was tried. */
import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { type LaneTable, ofTenants } from '../core/db/lanes.ts';
import { Instant, Nullable } from '../core/db/rows.ts';
import { column, type Sql, sql } from '../core/db/sql.ts';
import { retryDelayMsMax } from '../core/lanes/schedule.ts';
import { limits } from '../core/limits.ts';
import { storableJson } from '../core/text.ts';

export const eventLanes: LaneTable = {
  table: 'event_lane',
  id: 'subscription',
  due: (
    tenants,
  ) => sql`select e.tenant, subscription as id from accord.event_lane e left join accord.event_counter c on c.tenant = e.tenant
    where disabled_at is null and (blocked_until is null or blocked_until <= now()) ${ofTenants(tenants, sql`e.tenant`)}
      and not exists (select from accord.event_subscription s where s.tenant = e.tenant and s.id = e.subscription and not s.enabled)
      and (cursor < c.last
        or exists (select from accord.delivery_open o where o.tenant = e.tenant and o.subscription = e.subscription and next_at <= now())
        or exists (select from accord.event_replay r where r.tenant = e.tenant and r.subscription = e.subscription and finished_at is null))`,
};

export const LaneStateRow = Type.Object({
  cursor: Type.Integer(),
  cursor_at: Nullable(Instant),
  version: Type.Integer(),
  failing_since: Nullable(Instant),
  failures: Type.Integer(),
  trips: Type.Integer(),
  blocked_until: Nullable(Instant),
  disabled_at: Nullable(Instant),
  disabled_reason: Nullable(Type.String()),
});
export type LaneStateRow = Static<typeof LaneStateRow>;

export const OpenRow = Type.Object({
  sequence: Type.Integer(),
  at: Instant,
  attempts: Type.Integer(),
  step: Type.Integer(),
  next_at: Instant,
});
export type OpenRow = Static<typeof OpenRow>;

/** What was tried. `status`: of the answer, 0 without one. */
export type AttemptRow = {
  sequence: number;
  number: number;
  ms: number;
  status: number;
  kind: 'l' | 'r';
  error?: string;
  answer?: string;
};

export type Lane = { tenant: string; id: string };

export function readLane(tx: Transaction, { tenant, id }: Lane): Promise<LaneStateRow | undefined> {
  return tx.maybe(
    LaneStateRow,
    sql`select cursor, cursor_at, version, failing_since, failures, trips, blocked_until, disabled_at, disabled_reason
      from accord.event_lane where tenant = ${tenant} and subscription = ${id}`,
  );
}

export function readOpen(tx: Transaction, { tenant, id }: Lane): Promise<OpenRow[]> {
  return tx.many(
    OpenRow,
    sql`select sequence, at, attempts, step, next_at from accord.delivery_open
      where tenant = ${tenant} and subscription = ${id} order by sequence`,
  );
}

/** A lane that begins behind the newest event. */
export async function insertLane(tx: Transaction, { tenant, id }: Lane): Promise<void> {
  await tx.run(sql`insert into accord.event_lane (tenant, subscription, cursor)
    select ${tenant}, ${id}, coalesce((select last from accord.event_counter where tenant = ${tenant}), 0)`);
}

export async function deleteLane(tx: Transaction, { tenant, id }: Lane): Promise<void> {
  await tx.run(sql`delete from accord.event_lane where tenant = ${tenant} and subscription = ${id}`);
}

/** Nothing keeps the lane from sending any more, and what waits for a retry is due. */
export async function clearHealth(tx: Transaction, lane: Lane): Promise<void> {
  const { tenant, id } = lane;
  await tx.run(sql`update accord.event_lane set failing_since = null, failures = 0, trips = 0, blocked_until = null, disabled_at = null,
      disabled_reason = null, version = version + 1
    where tenant = ${tenant} and subscription = ${id}`);
  await openNow(tx, lane);
}

async function openNow(tx: Transaction, { tenant, id }: Lane): Promise<void> {
  await tx.run(
    sql`update accord.delivery_open set next_at = least(next_at, now()) where tenant = ${tenant} and subscription = ${id}`,
  );
}

/** The worker reads anew what the lane works by. */
export async function touchLane(tx: Transaction, { tenant, id }: Lane): Promise<void> {
  await tx.run(
    sql`update accord.event_lane set version = version + 1 where tenant = ${tenant} and subscription = ${id}`,
  );
}

/** @returns undefined when there is no such lane */
export async function readVersion(tx: Transaction, { tenant, id }: Lane): Promise<number | undefined> {
  const row = await tx.maybe(
    Fenced,
    sql`select version from accord.event_lane where tenant = ${tenant} and subscription = ${id}`,
  );
  return row?.version;
}

const VersionRow = Type.Object({ id: Type.String(), version: Type.Integer() });

/** The versions of all lanes of a tenant. */
export async function readVersions(tx: Transaction, tenant: string): Promise<Map<string, number>> {
  const rows = await tx.many(
    VersionRow,
    sql`select subscription as id, version from accord.event_lane where tenant = ${tenant}`,
  );
  return new Map(rows.map(({ id, version }) => [id, version]));
}

/** What a step of a lane changes. `done`: numbers that are no longer open; `open`: rows that are, new or not. */
export type Step = {
  /** That the step was made with. */
  version: number;
  cursor: number;
  cursor_at: string | null;
  failing_since: string | null;
  failures: number;
  trips: number;
  blocked_until: string | null;
  attempts: readonly AttemptRow[];
  done: readonly number[];
  open: readonly OpenRow[];
  /** The endpoint is well again: all that waits is due. */
  isRecovered: boolean;
};

export const Fenced = Type.Object({ version: Type.Integer() });

/** From now on, by the database's clock. */
const within = (ms: number) => sql`now() + make_interval(secs => ${ms / 1000}::float8)`;

/**
 * Records a step, in one statement. How long an endpoint has been failing, and how far ahead anything may wait, goes by the database's
 * clock: that of a server may jump.
 * @returns the lane's version; undefined when somebody else owns it: nothing was written
 */
export async function recordStep(
  tx: Transaction,
  me: string,
  { tenant, id }: Lane,
  step: Step,
): Promise<number | undefined> {
  const { attempts, done, open } = step;
  // A lane that was changed meanwhile keeps the health that the change gave it.
  const unlessChanged = (before: Sql, after: Sql) =>
    sql`case when version = ${step.version} then ${after} else ${before} end`;
  const row = await tx.maybe(
    Fenced,
    sql`with mine as (
        update accord.event_lane set cursor = ${step.cursor}, cursor_at = ${step.cursor_at},
          failing_since = ${unlessChanged(sql`failing_since`, sql`case when ${step.failing_since}::timestamptz is not null then coalesce(failing_since, now()) end`)},
          failures = ${unlessChanged(sql`failures`, sql`${step.failures}::integer`)}, trips = ${unlessChanged(sql`trips`, sql`${step.trips}::integer`)},
          blocked_until = ${unlessChanged(sql`blocked_until`, sql`case when ${step.blocked_until}::timestamptz is not null then least(${step.blocked_until}::timestamptz, ${within(limits.deliveryFailingMsMax)}) end`)}
        where tenant = ${tenant} and subscription = ${id} and owner = ${me} returning version),
      tried as (
        insert into accord.delivery_attempt (tenant, subscription, sequence, number, ms, status, kind, error, answer)
        select ${tenant}, ${id}, sequence, number, ms, status, kind, error, answer from ${attemptRows(attempts)}, mine),
      closed as (
        delete from accord.delivery_open where tenant = ${tenant} and subscription = ${id} and exists (select from mine)
          and sequence = any(array(select unnest(${column.bigints(done, (one) => one)})))),
      opened as (
        insert into accord.delivery_open as o (tenant, subscription, sequence, at, attempts, step, next_at)
        select ${tenant}, ${id}, sequence, at, attempts, step, least(next_at, ${within(retryDelayMsMax)})
        from json_to_recordset(${JSON.stringify(open)}::json) as r (sequence bigint, at timestamptz, attempts integer, step integer, next_at timestamptz), mine
        on conflict (tenant, subscription, sequence) do update
          set attempts = excluded.attempts, step = excluded.step, next_at = excluded.next_at),
      due as (
        update accord.delivery_open set next_at = now() where ${step.isRecovered} and exists (select from mine)
          and tenant = ${tenant} and subscription = ${id} and next_at > now() and not sequence = any(array(select unnest(${column.bigints([...done, ...open.map(({ sequence }) => sequence)], (one) => one)}))))
      select version from mine`,
  );
  return row?.version;
}

export const attemptRows = (attempts: readonly AttemptRow[]) =>
  sql`json_to_recordset(${storableJson(JSON.stringify(attempts))}::json) as r (sequence bigint, number integer, ms integer, status smallint, kind "char", error text, answer text)`;

/**
 * No more is sent until somebody changes the subscription.
 * @returns whether the lane was one's own, and, where it is failing, has been for as long as that takes
 */
export async function disableLane(
  tx: Transaction,
  me: string,
  { tenant, id }: Lane,
  reason: 'gone' | 'failing',
): Promise<boolean> {
  const rows = await tx.run(sql`update accord.event_lane set disabled_at = now(), disabled_reason = ${reason}
    where tenant = ${tenant} and subscription = ${id} and owner = ${me} and disabled_at is null
      and (${reason} = 'gone' or failing_since <= ${within(-limits.deliveryFailingMsMax)})`);
  return rows > 0;
}

const StatusRow = Type.Object({
  cursor: Type.Integer(),
  failing_since: Nullable(Instant),
  blocked_until: Nullable(Instant),
  disabled_at: Nullable(Instant),
  disabled_reason: Nullable(Type.String()),
  waiting: Type.Integer(),
});

/** `waiting`: events behind the cursor, of whatever type, and those that are open. */
export function readStatus(tx: Transaction, { tenant, id }: Lane): Promise<Static<typeof StatusRow> | undefined> {
  return tx.maybe(
    StatusRow,
    sql`select cursor, failing_since, blocked_until, disabled_at, disabled_reason,
        (greatest(0, coalesce((select last from accord.event_counter where tenant = ${tenant}), 0) - cursor)
          + (select count(*) from accord.delivery_open where tenant = ${tenant} and subscription = ${id}))::int as waiting
      from accord.event_lane where tenant = ${tenant} and subscription = ${id}`,
  );
}
