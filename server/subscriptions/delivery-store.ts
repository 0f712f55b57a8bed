/** SQL of deliveries as they are listed: an event of a subscription, and what became of it. */
import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Instant, Nullable } from '../core/db/rows.ts';
import { column, none, type Sql, sql } from '../core/db/sql.ts';
import type { Lane } from './lane-store.ts';

const SequenceRow = Type.Object({ sequence: Type.Integer() });
const AttemptView = Type.Object({
  sequence: Type.Integer(),
  number: Type.Integer(),
  at: Instant,
  ms: Type.Integer(),
  status: Type.Integer(),
  kind: Type.String(),
  error: Nullable(Type.String()),
  answer: Nullable(Type.String()),
});
type AttemptView = Static<typeof AttemptView>;
const WaitingRow = Type.Object({ sequence: Type.Integer(), attempts: Type.Integer(), next_at: Instant });
export type WaitingRow = Static<typeof WaitingRow>;

export type Found = { sequence: number; attempts: AttemptView[]; waiting: WaitingRow | undefined };
type DeliveryStatus = 'delivered' | 'failed' | 'waiting';
type Range = { before: number | undefined; from: number | undefined; until: number | undefined; limit: number };

const succeeded = sql`status between 200 and 299`;

/** Deliveries of a status (absent: all), newest events first. */
export async function findDeliveries(
  tx: Transaction,
  lane: Lane,
  status: DeliveryStatus | undefined,
  range: Range,
): Promise<Found[]> {
  const rows = await tx.many(SequenceRow, pageOf(lane, status, range));
  return readDeliveries(
    tx,
    lane,
    rows.map(({ sequence }) => sequence),
  );
}

function pageOf({ tenant, id }: Lane, status: DeliveryStatus | undefined, { before, from, until, limit }: Range): Sql {
  const own = sql`tenant = ${tenant} and subscription = ${id}
    ${before === undefined ? none : sql`and sequence < ${before}`}
    ${from === undefined ? none : sql`and sequence >= ${from}`} ${until === undefined ? none : sql`and sequence <= ${until}`}`;
  const end = sql`order by sequence desc limit ${limit}`;
  const open = sql`select sequence from accord.delivery_open where ${own} ${end}`;
  const isOpen = sql`exists (select from accord.delivery_open o where o.tenant = a.tenant and o.subscription = a.subscription and o.sequence = a.sequence)`;
  const isDelivered = sql`exists (select from accord.delivery_attempt d
    where d.tenant = a.tenant and d.subscription = a.subscription and d.sequence = a.sequence and d.${succeeded})`;
  if (status === 'waiting') return open;
  const tried = (which: Sql) =>
    sql`select distinct sequence from accord.delivery_attempt a where ${own} ${which} ${end}`;
  if (status === 'delivered') return tried(sql`and ${succeeded} and not ${isOpen}`);
  if (status === 'failed') return tried(sql`and not (${succeeded}) and not ${isOpen} and not ${isDelivered}`);
  return sql`select sequence from ((${tried(none)}) union (${open})) as every ${end}`;
}

/** By their numbers, newest first. */
export async function readDeliveries(
  tx: Transaction,
  { tenant, id }: Lane,
  sequences: readonly number[],
): Promise<Found[]> {
  if (sequences.length === 0) return [];
  const own = sql`tenant = ${tenant} and subscription = ${id}
    and sequence = any(array(select unnest(${column.bigints(sequences, (one) => one)})))`;
  const [attempts, waiting] = await Promise.all([
    tx.many(
      AttemptView,
      sql`select sequence, number, at, ms, status, kind, error, answer from accord.delivery_attempt where ${own} order by at, number`,
    ),
    tx.many(WaitingRow, sql`select sequence, attempts, next_at from accord.delivery_open where ${own}`),
  ]);
  const found = sequences.map((sequence) => ({
    sequence,
    attempts: attempts.filter((one) => one.sequence === sequence),
    waiting: waiting.find((one) => one.sequence === sequence),
  }));
  return found.filter((one) => one.attempts.length > 0 || one.waiting !== undefined);
}

/** Of numbers, those that were tried and never delivered. */
export async function undelivered(
  tx: Transaction,
  { tenant, id }: Lane,
  sequences: readonly number[],
): Promise<Set<number>> {
  const rows = await tx.many(
    SequenceRow,
    sql`select sequence from accord.delivery_attempt where tenant = ${tenant} and subscription = ${id}
        and sequence = any(array(select unnest(${column.bigints(sequences, (one) => one)})))
      group by sequence having not bool_or(${succeeded})`,
  );
  return new Set(rows.map(({ sequence }) => sequence));
}

/** Makes an event due now, once: when it fails, its schedule goes on if it has one. */
export async function openOnce(
  tx: Transaction,
  { tenant, id }: Lane,
  sequence: number,
  at: string,
  step: number,
): Promise<void> {
  await tx.run(sql`insert into accord.delivery_open as o (tenant, subscription, sequence, at, attempts, step, next_at)
    select ${tenant}, ${id}, ${sequence}, ${at}, coalesce(max(number), 0), ${step}, now() from accord.delivery_attempt
      where tenant = ${tenant} and subscription = ${id} and sequence = ${sequence}
    on conflict (tenant, subscription, sequence) do update set next_at = now()`);
}

/** Drops the days of attempts that ended before so many days, in a system transaction. */
export async function dropAttempts(tx: Transaction, days: number): Promise<void> {
  await tx.run(sql`select accord.drop_attempt_days(now() - make_interval(days => ${days}::int))`);
}

/** Removes at most so many attempts of a tenant that is gone, in a system transaction. @returns how many */
export function removeAttempts(tx: Transaction, tenant: string, limit: number): Promise<number> {
  return tx.run(sql`delete from accord.delivery_attempt a using (
      select subscription, sequence, at from accord.delivery_attempt where tenant = ${tenant} limit ${limit}) as gone
    where a.tenant = ${tenant} and a.subscription = gone.subscription and a.sequence = gone.sequence and a.at = gone.at`);
}

const ErasedRow = Type.Object({ scanned: Type.Integer(), last: Nullable(Instant), erased: Type.Integer() });

/**
 * Removes what endpoints answered where it names a person, in a portion of the attempts by time: at most so many, and those of the
 * same millisecond as the last one.
 * @param texts as they may stand there @param after when the last one of the portion before was made
 * @returns `next`: when the last one of this portion was made; absent: there is no more
 */
export async function eraseAnswers(
  tx: Transaction,
  tenant: string,
  texts: readonly string[],
  { after, limit }: { after: string | undefined; limit: number },
): Promise<{ erased: number; next?: string }> {
  const { scanned, last, erased } = await tx.one(
    ErasedRow,
    sql`with page as materialized (
        select subscription, sequence, number, kind, at, answer, error from accord.delivery_attempt
        where tenant = ${tenant} and (answer is not null or error is not null) and at > ${after ?? '-infinity'}::timestamptz
        order by at fetch first (${limit}::int) rows with ties),
      naming as (
        select * from page where exists (
          select from unnest(${column.texts(texts, (text) => text)}) as t (text)
          where strpos(lower(coalesce(answer, '') || coalesce(error, '')), lower(text)) > 0)),
      erased as (
        update accord.delivery_attempt a set answer = null, error = null from naming n
        where a.tenant = ${tenant} and a.at = n.at and a.subscription = n.subscription and a.sequence = n.sequence
          and a.number = n.number and a.kind = n.kind returning 1)
      select (select count(*)::int from page) as scanned, (select max(at) from page) as last, (select count(*)::int from erased) as erased`,
  );
  return { erased, ...(last === null || scanned < limit ? {} : { next: last }) };
}
