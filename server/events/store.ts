import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Instant } from '../core/db/rows.ts';
import { column, none, type Sql, sql } from '../core/db/sql.ts';
import { limits } from '../core/limits.ts';
import { storableJson } from '../core/text.ts';
import type { NewEvent } from '../room/events.ts';
import { type Counter, CounterRow, EventRow, MovedRow, NamingRow, ScannedRow } from './schema.ts';

/** Between the bodies of events. */
const SEPARATOR = '\x1e';

/** Records events in the transaction of what they tell of: of its tenant, or of many in a system transaction. */
export async function insertEvents(tx: Transaction, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  const { texts, bigints } = column;
  // JSON has no control character that is not escaped. An array of texts would have each quote escaped, and a list in JSON be read thrice.
  const bodies = storableJson(events.map(({ data }) => JSON.stringify(data)).join(SEPARATOR));
  await tx.run(sql`insert into accord.event_inbox (tenant, time, type, key, body)
    select tenant, to_timestamp(time / 1000.0), type, key, body::json
    from rows from (unnest(${texts(events, ({ tenant }) => tenant)}, ${bigints(events, ({ time }) => time)},
        ${texts(events, ({ type }) => type)}, ${texts(events, ({ key }) => key)}), string_to_table(${bodies}::text, ${SEPARATOR}::text))
      with ordinality as r (tenant, time, type, key, body, place) order by place`);
}

/** Records an event for each row of a query, in their order. @param rows a select of tenant, time, type, key, body */
export async function insertSelectedEvents(tx: Transaction, rows: Sql): Promise<number> {
  return tx.run(sql`insert into accord.event_inbox (tenant, time, type, key, body) ${rows}`);
}

/**
 * Numbers what waits, in a system transaction; nothing while another one does. Rows of a tenant that is gone are dropped.
 * @param from rows below this number are left
 * @returns whether nobody else does, how many rows were taken, the greatest of their numbers, and the tenants that have new events
 */
export function moveEvents(tx: Transaction, from: number) {
  // `strpos`: a body of an import is long, and is not parsed to find no outcome in it.
  // `= any(array(…))`: with `in (select … limit …)` the planner takes a nested loop over a queue that it last saw empty.
  return tx.one(
    MovedRow,
    sql`with turn as materialized (select pg_try_advisory_xact_lock(accord.event_lock()) as mine),
      taken as (
        delete from accord.event_inbox where n = any(array(
          select n from accord.event_inbox where (select mine from turn) and n >= ${from}::bigint order by n limit ${limits.eventsMovedMax}::int))
        returning *),
      numbered as (
        select *, row_number() over (partition by tenant order by n) as place, count(*) over (partition by tenant) as size
        from taken where exists (select from accord.tenant t where t.tenant = taken.tenant)),
      counted as (
        insert into accord.event_counter as c (tenant, last, at)
        select tenant, max(size), clock_timestamp() from numbered group by tenant
        on conflict (tenant) do update set last = c.last + excluded.last, at = greatest(c.at, excluded.at)
        returning tenant, last, at),
      written as (
        insert into accord.event (tenant, sequence, at, time, id, type, key, body)
        select tenant, c.last - size + place, c.at, time, id, type, key, body from numbered join counted c using (tenant)),
      tallied as (
        insert into accord.event_count as e (tenant, hour, type, detail, count)
        select tenant, date_bin('1 hour', time, 'epoch'::timestamptz), type, case when strpos(body::text, '"outcome"') = 0 or body -> 'outcome' is null then ''
          when body ->> 'outcome' in ('allow', 'deny') then body ->> 'outcome' else 'other' end, count(*) from numbered group by 1, 2, 3, 4
        on conflict (tenant, hour, type, detail) do update set count = e.count + excluded.count)
      select (select mine from turn) as mine, count(*)::int as moved, coalesce(max(n), 0) as last,
        (select coalesce(json_agg(tenant), '[]') from counted) as tenants from taken`,
  );
}

const Waiting = Type.Object({ seconds: Type.Integer() });

/** For how long the first event has been waiting for its number, by the database's clock; 0: none is. In a system transaction. */
export async function readWaitingSeconds(tx: Transaction): Promise<number> {
  // The id has the time of the database; `time` is that of a server.
  const { seconds } = await tx.one(
    Waiting,
    sql`select coalesce(extract(epoch from now() - uuid_extract_timestamp(
      (select id from accord.event_inbox order by n limit 1)))::int, 0) as seconds`,
  );
  return seconds;
}

/** The channel on which servers tell each other of new events. */
export const CHANNEL = 'accord_events';

/**
 * In a transaction of its own: a NOTIFY makes the commits of all transactions that have one wait for each other. It does not wait
 * for the disk: after a crash of Postgres nobody listens any more.
 */
export async function notifyMoved(tx: Transaction, tenants: readonly string[]): Promise<void> {
  const payload = JSON.stringify(tenants);
  await tx.run(
    sql`select set_config('synchronous_commit', 'off', true), pg_notify(${CHANNEL}, ${payload.length > 7000 ? '' : payload})`,
  );
}

const eventObject = sql`json_build_object('sequence', sequence, 'at', at, 'time', time, 'id', id, 'type', type, 'key', key, 'body', body)`;

/**
 * Looks at the events behind a number, at most limits.eventsScannedMax, until it has so many of the types, or as many bytes as an
 * answer may have.
 * @param types absent: all
 * @param at of the event of that number, where it is known: older days are not looked at
 */
export async function readEvents(
  tx: Transaction,
  tenant: string,
  {
    after,
    at,
    types,
    limit,
  }: { after: number; at: string | undefined; types: readonly string[] | undefined; limit: number },
) {
  const wanted = types === undefined ? sql`true` : sql`type in (select unnest(${column.texts(types, (type) => type)}))`;
  return tx.many(
    ScannedRow,
    sql`with scanned as materialized (
        select *, ${wanted} as wanted from accord.event
        where tenant = ${tenant} and sequence > greatest(${after}::bigint, (select removed from accord.event_counter where tenant = ${tenant}))
          ${at === undefined ? none : sql`and at >= ${at}::timestamptz`}
        order by sequence limit ${types === undefined ? limit : limits.eventsScannedMax}),
      placed as (
        select *, count(*) filter (where wanted) over (order by sequence) as place,
          sum(case when wanted then octet_length(body::text) else 0 end) over (order by sequence) as bytes from scanned)
      select sequence, at, case when wanted then ${eventObject} end as event from placed
      where place <= ${limit} and (bytes <= ${limits.eventPageBytesMax} or place <= 1) order by sequence`,
  );
}

const KeyOf = Type.Object({ sequence: Type.Integer(), key: Type.String() });

/** The keys of events by their numbers, as far as they are kept. */
export function readEventKeys(tx: Transaction, tenant: string, sequences: readonly number[]) {
  return tx.many(
    KeyOf,
    sql`select sequence, key from accord.event
      where tenant = ${tenant} and sequence = any(array(select unnest(${column.bigints(sequences, (one) => one)}))) order by sequence`,
  );
}

/** Events by their numbers, as far as they are kept, until they have as many bytes as an answer may have. */
export async function readEventsOf(tx: Transaction, tenant: string, sequences: readonly number[]): Promise<EventRow[]> {
  return tx.many(
    EventRow,
    sql`with asked as materialized (
        select *, sum(octet_length(body::text)) over (order by sequence) as bytes, row_number() over (order by sequence) as place
        from accord.event where tenant = ${tenant} and sequence = any(array(select unnest(${column.bigints(sequences, (one) => one)}))))
      select sequence, at, time, id::text, type, key, body from asked
      where bytes <= ${limits.eventPageBytesMax} or place = 1 order by sequence`,
  );
}

const NumberOf = Type.Object({ sequence: Type.Integer() });

const CountedRow = Type.Object({ hour: Instant, type: Type.String(), detail: Type.String(), count: Type.Integer() });
export type CountedRow = Static<typeof CountedRow>;

/** How many events there were in each hour from one on, by type; `detail` is the outcome of decisions. */
export function readCounts(tx: Transaction, tenant: string, since: string): Promise<CountedRow[]> {
  return tx.many(
    CountedRow,
    sql`select hour, type, detail, count from accord.event_count where tenant = ${tenant} and hour >= ${since}::timestamptz
      order by hour, type, detail`,
  );
}

/** The number of the newest event that was numbered before an instant; 0 when there is none that is kept. */
export async function lastEventBefore(tx: Transaction, tenant: string, instant: string): Promise<number> {
  const row = await tx.one(
    NumberOf,
    sql`select coalesce((select sequence from accord.event where tenant = ${tenant} and at < ${instant}::timestamptz
      order by sequence desc limit 1), 0) as sequence`,
  );
  return row.sequence;
}

export async function readCounter(tx: Transaction, tenant: string): Promise<Counter> {
  const row = await tx.maybe(CounterRow, sql`select last, removed from accord.event_counter where tenant = ${tenant}`);
  return row ?? { last: 0, removed: 0 };
}

const TenantOf = Type.Object({ tenant: Type.String() });

/** Tenants with events, for a system transaction. */
export async function tenantsWithEvents(tx: Transaction): Promise<string[]> {
  const rows = await tx.many(TenantOf, sql`select tenant from accord.event_counter order by tenant`);
  return rows.map(({ tenant }) => tenant);
}

const ago = (days: number) => sql`now() - make_interval(days => ${days}::int)`;

/** Says which events of a tenant are no longer kept, in a system transaction. */
export async function markRemoved(tx: Transaction, tenant: string, days: number): Promise<void> {
  await tx.run(sql`update accord.event_counter c set removed = gone.last
    from (select max(sequence) as last from accord.event where tenant = ${tenant} and at < ${ago(days)}) as gone
    where c.tenant = ${tenant} and gone.last > c.removed`);
}

/** Removes some of the events that are no longer kept, in a system transaction. @returns how many */
export function removeEvents(tx: Transaction, tenant: string, days: number): Promise<number> {
  return tx.run(sql`delete from accord.event where tenant = ${tenant} and at < ${ago(days)} and sequence = any(array(
    select sequence from accord.event where tenant = ${tenant} and at < ${ago(days)} order by sequence limit ${limits.eventsRemovedMax}))`);
}

/** Drops days that hold nothing, because their events were removed, in a system transaction: it locks the log until its end. */
export async function dropEmptyDays(tx: Transaction): Promise<void> {
  await tx.run(sql`select accord.drop_event_days(now() - interval '1 day')`);
}

/** Removes old counts, in a system transaction. */
export async function removeOldCounts(tx: Transaction): Promise<void> {
  await tx.run(sql`delete from accord.event_count where hour < now() - interval '32 days'`);
}

/** Removes at most so many events of a tenant that is gone, in a system transaction; the counter goes with the last. @returns how many */
export async function removeOfTenant(tx: Transaction, tenant: string, limit: number): Promise<number> {
  await tx.run(sql`select pg_advisory_xact_lock(accord.event_lock())`);
  const waiting = await tx.run(sql`delete from accord.event_inbox where n = any(array(
    select n from accord.event_inbox where tenant = ${tenant} limit ${limit}))`);
  const numbered = await tx.run(sql`delete from accord.event where tenant = ${tenant} and sequence = any(array(
    select sequence from accord.event where tenant = ${tenant} limit ${limit}))`);
  await tx.run(sql`delete from accord.event_count where tenant = ${tenant}`);
  if (waiting + numbered === 0) await tx.run(sql`delete from accord.event_counter where tenant = ${tenant}`);
  return waiting + numbered;
}

/** Which table an erasing looks through: what waits first, because it goes to the other. */
export type Place = { table: 'inbox' | 'log'; after: number };

/** The next rows of a table; `body` is empty where no text of them is in a row. @param texts as JSON strings, and ends of keys */
export async function scanEvents(tx: Transaction, tenant: string, { table, after }: Place, texts: readonly string[]) {
  const from = table === 'inbox' ? sql`accord.event_inbox` : sql`accord.event`;
  const number = table === 'inbox' ? sql`n` : sql`sequence`;
  // Nothing is moved meanwhile: it would be seen in neither table.
  if (table === 'inbox') await tx.run(sql`select pg_advisory_xact_lock(accord.event_lock())`);
  const named = sql`exists (select from unnest(${column.texts(texts, (text) => text)}) as t (text) where strpos(lower(row), lower(text)) > 0)`;
  return tx.many(
    NamingRow,
    sql`select n, key, case when ${named} then body else '{}' end as body
      from (select ${number} as n, key, body, body::text || to_json(key)::text as row from ${from}
        where tenant = ${tenant} and ${number} > ${after} order by ${number} limit ${limits.eventsErasedScanItemsMax}) as page
      order by n`,
  );
}

/** Writes rows anew. @returns how many */
export function rewriteEvents(
  tx: Transaction,
  tenant: string,
  table: Place['table'],
  rows: readonly NamingRow[],
): Promise<number> {
  const to = table === 'inbox' ? sql`accord.event_inbox` : sql`accord.event`;
  const number = table === 'inbox' ? sql`n` : sql`sequence`;
  return tx.run(sql`update ${to} as e set key = r.key, body = r.body
    from json_to_recordset(${storableJson(JSON.stringify(rows))}::json) as r (n bigint, key text, body json)
    where e.tenant = ${tenant} and e.${number} = r.n`);
}
