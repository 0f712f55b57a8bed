/** SQL of replays: second cursors of subscriptions. */
import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Instant, Nullable } from '../core/db/rows.ts';
import { column, none, sql } from '../core/db/sql.ts';
import type { Place } from '../room/erasing.ts';
import { type AttemptRow, attemptRows, Fenced, type Lane } from './lane-store.ts';

/** From `first` to `last`; events up to `cursor` were looked at. */
export const ReplayRow = Type.Object({
  id: Type.String(),
  first: Type.Integer(),
  cursor: Type.Integer(),
  cursor_at: Nullable(Instant),
  last: Type.Integer(),
  event_types: Nullable(Type.Array(Type.String())),
  failed_only: Type.Boolean(),
  delivered: Type.Integer(),
  failed: Type.Integer(),
  created_at: Instant,
  finished_at: Nullable(Instant),
  cancelled: Type.Boolean(),
});
export type ReplayRow = Static<typeof ReplayRow>;
const columns = sql`id::text, first, cursor, cursor_at, last, event_types, failed_only, delivered, failed, created_at, finished_at, cancelled`;

/** The one that is under way. */
export function readRunning(tx: Transaction, { tenant, id }: Lane): Promise<ReplayRow | undefined> {
  return tx.maybe(
    ReplayRow,
    sql`select ${columns} from accord.event_replay where tenant = ${tenant} and subscription = ${id} and finished_at is null`,
  );
}

export function readReplay(tx: Transaction, { tenant, id }: Lane, replay: string): Promise<ReplayRow | undefined> {
  return tx.maybe(
    ReplayRow,
    sql`select ${columns} from accord.event_replay where tenant = ${tenant} and subscription = ${id} and id = ${replay}::uuid`,
  );
}

/** Newest first. @param before those behind this one */
export function listReplays(
  tx: Transaction,
  { tenant, id }: Lane,
  { before, limit }: { before: Place | undefined; limit: number },
): Promise<ReplayRow[]> {
  const behind = before === undefined ? none : sql`and (created_at, id) < (${before.at}, ${before.id}::uuid)`;
  return tx.many(
    ReplayRow,
    sql`select ${columns} from accord.event_replay where tenant = ${tenant} and subscription = ${id} ${behind}
      order by created_at desc, id desc limit ${limit}`,
  );
}

/** Records what a replay has sent. @returns whether the lane was one's own; nothing was written otherwise */
export async function recordReplay(
  tx: Transaction,
  me: string,
  { tenant, id }: Lane,
  replay: ReplayRow,
  attempts: readonly AttemptRow[],
): Promise<boolean> {
  const row = await tx.maybe(
    Fenced,
    sql`with mine as (
        select version from accord.event_lane where tenant = ${tenant} and subscription = ${id} and owner = ${me} for no key update),
      tried as (
        insert into accord.delivery_attempt (tenant, subscription, sequence, number, ms, status, kind, error, answer)
        select ${tenant}, ${id}, sequence, number, ms, status, kind, error, answer from ${attemptRows(attempts)}, mine),
      moved as (
        update accord.event_replay set cursor = ${replay.cursor}, cursor_at = ${replay.cursor_at}, delivered = ${replay.delivered},
          failed = ${replay.failed}, finished_at = coalesce(finished_at, ${replay.finished_at})
        where tenant = ${tenant} and id = ${replay.id}::uuid and exists (select from mine))
      select version from mine`,
  );
  return row !== undefined;
}

type NewReplay = {
  id: string;
  cursor: number;
  last: number;
  types: readonly string[] | undefined;
  failedOnly: boolean;
  at: string;
};

/** In the transaction of a write. @returns undefined when another one is under way */
export function insertReplay(
  tx: Transaction,
  { tenant, id: subscription }: Lane,
  one: NewReplay,
): Promise<ReplayRow | undefined> {
  return tx.maybe(
    ReplayRow,
    sql`insert into accord.event_replay (tenant, id, subscription, first, cursor, last, event_types, failed_only, created_at)
      values (${tenant}, ${one.id}, ${subscription}, ${one.cursor + 1}, ${one.cursor}, ${one.last},
        ${one.types === undefined ? sql`null` : column.texts(one.types, (type) => type)}, ${one.failedOnly}, ${one.at})
      on conflict (tenant, subscription) where finished_at is null do nothing returning ${columns}`,
  );
}

/** Cancels one that is under way. @returns whether it was */
export async function endReplay(tx: Transaction, { tenant, id }: Lane, replay: string, at: string): Promise<boolean> {
  const rows = await tx.run(sql`update accord.event_replay set finished_at = ${at}, cancelled = true
    where tenant = ${tenant} and subscription = ${id} and id = ${replay}::uuid and finished_at is null`);
  return rows > 0;
}

/** Removes those that ended before so many days, in a system transaction. */
export async function removeEndedReplays(tx: Transaction, days: number): Promise<void> {
  await tx.run(sql`delete from accord.event_replay where finished_at < now() - make_interval(days => ${days}::int)`);
}
