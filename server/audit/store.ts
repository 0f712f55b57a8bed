import { type Static, Type } from 'typebox';
import type { AuditKind } from '../core/audit-kinds.ts';
import type { Transaction } from '../core/db/database.ts';
import { Json, Nullable } from '../core/db/rows.ts';
import { column, none, type Sql, sql } from '../core/db/sql.ts';
import type { Place } from '../room/erasing.ts';
import { bytesAtMost, isLastLooked, portion } from '../room/scan.ts';
import { AuditRow } from './schema.ts';

export type AuditEntry = {
  actor: string;
  /** `put`, `delete`, `restore`, `adopt`, `transfer`, `create`, `accept`, `decline`, `resend`, `report`, `redeem`, `revoke`, `disable`, `enable`, `erase`,
   *  `import`, `archive`, `retire`, `read` */
  action: string;
  kind: AuditKind;
  name: string;
  revision?: number;
  requestId?: string;
  detail?: unknown;
};

/** Writes one entry in the caller's transaction: it is there exactly when the change is. */
export async function recordAudit(tx: Transaction, tenant: string, entry: AuditEntry): Promise<void> {
  await tx.run(sql`
    insert into accord.audit_entry (tenant, actor, action, object_kind, object_name, revision, request_id, detail)
    values (${tenant}, ${JSON.stringify(entry.actor)}, ${entry.action}, ${entry.kind}, ${entry.name}, ${entry.revision ?? null},
      ${entry.requestId ?? null}, ${entry.detail === undefined ? null : JSON.stringify(entry.detail)})`);
}

/** Removes what is left of a tenant that is gone. */
export async function removeEntries(tx: Transaction, tenant: string): Promise<void> {
  await tx.run(sql`delete from accord.audit_entry where tenant = ${tenant}`);
}

export type AuditFilter = {
  /** Instants; `end` is exclusive. */
  start?: string;
  end?: string;
  actor?: string;
  action?: string;
  kind?: AuditKind;
  name?: string;
};

/** Of an entry in the log; `at` to the microsecond. */
export type AuditPlace = { at: string; id: string };

const FoundRow = Type.Object({ at: Type.String(), id: Type.String(), matches: Type.Boolean() });

/** RFC 3339 in UTC, to the microsecond. */
const atText = sql`to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/**
 * A page of the entries that match, in order of time.
 * @param page `looked`: how many entries it looks at, at most; they were written by others, so few may match
 * @returns where the next page begins, unless this one is the last
 */
export async function searchEntries(
  tx: Transaction,
  tenant: string,
  filter: AuditFilter,
  page: { newestFirst: boolean; after: AuditPlace | undefined; limit: number; looked: number },
): Promise<{ rows: AuditRow[]; next?: AuditPlace }> {
  const { newestFirst, after, limit, looked } = page;
  const order = newestFirst ? sql`order by at desc, id desc` : sql`order by at, id`;
  const reverse = newestFirst ? sql`order by at, id` : sql`order by at desc, id desc`;
  const found = await tx.many(
    FoundRow,
    sql`with looked as materialized (
        select at, id, (true ${compared(filter)}) is true as matches from accord.audit_entry
        where tenant = ${tenant} ${within(filter)} ${behind(after, newestFirst)} ${order} limit ${looked}),
      page as (select * from looked where matches ${order} limit ${limit + 1})
      select ${atText} as at, id, matches from page
      union all (select ${atText}, id, false from looked where (select count(*) from looked) = ${looked}::int ${reverse} limit 1)`,
  );
  const matching = found.filter(({ matches }) => matches);
  const places = matching.slice(0, limit);
  const end = matching.length > limit ? places.at(-1) : found.find(({ matches }) => !matches);
  const rows = await readPlaces(tx, tenant, places, order);
  return { rows, ...(end === undefined ? {} : { next: { at: end.at, id: end.id } }) };
}

async function readPlaces(
  tx: Transaction,
  tenant: string,
  places: readonly AuditPlace[],
  order: Sql,
): Promise<AuditRow[]> {
  if (places.length === 0) return [];
  return tx.many(
    AuditRow,
    sql`select ${atText} as at, id, actor, action, object_kind, object_name, revision, request_id, detail
      from (select e.* from accord.audit_entry e join
        unnest(${column.instants(places, (row) => row.at)}, ${column.uuids(places, (row) => row.id)}) as p (at, id) using (at, id)
        where tenant = ${tenant} ${order}) as entries`,
  );
}

function within({ start, end }: AuditFilter): Sql {
  return sql`${start === undefined ? none : sql`and at >= ${start}`} ${end === undefined ? none : sql`and at < ${end}`}`;
}

function behind(after: AuditPlace | undefined, newestFirst: boolean): Sql {
  if (after === undefined) return none;
  const place = sql`(${after.at}::timestamptz, ${after.id}::uuid)`;
  return newestFirst ? sql`and (at, id) < ${place}` : sql`and (at, id) > ${place}`;
}

function compared({ actor, action, kind, name }: AuditFilter): Sql {
  const is = (value: Sql, text: string | undefined) => (text === undefined ? none : sql`and ${value} = ${text}`);
  return sql`${is(sql`actor #>> '{}'`, actor)} ${is(sql`action`, action)} ${is(sql`object_kind`, kind)} ${is(sql`object_name`, name)}`;
}

/** `at` as Postgres writes it, to the microsecond. */
const ScannedRow = Type.Object({
  at: Type.String(),
  id: Type.String(),
  actor: Json<unknown>(),
  object_name: Type.String(),
  detail: Nullable(Json<unknown>()),
  named: Type.Boolean(),
});
type ScannedRow = Static<typeof ScannedRow>;

/**
 * Looks through some entries after a position, by time.
 * @param hash of the text, which names hold too
 * @returns those whose texts hold the text, and the last one looked at, as the position that comes next
 */
export function scanEntries(
  tx: Transaction,
  tenant: string,
  { text, hash, after }: { text: string; hash: string; after: Place | undefined },
): Promise<ScannedRow[]> {
  const quoted = JSON.stringify(text).slice(1, -1);
  const scan = portion({
    ...{ table: sql`accord.audit_entry`, columns: sql`actor, object_name, detail`, tenant, after },
    bytes: bytesAtMost(sql`detail`),
    naming: sql`lateral (select detail::text as detailed offset 0) as said,
      lateral (select position(${text} in object_name) > 0 or position(${hash} in object_name) > 0
        or position(${quoted} in actor::text) > 0
        or coalesce(position(${quoted} in detailed) > 0, false) as named,
        coalesce(octet_length(detailed), 0) as named_bytes offset 0) as naming`,
  });
  return tx.many(
    ScannedRow,
    sql`with ${scan}
      select at::text, id, actor, object_name, case when named then detail end as detail, named
      from looked join page using (at, id) where named or ${isLastLooked} order by looked.at, id`,
  );
}

/** Writes whom and what entries name anew. */
export function rewriteEntries(tx: Transaction, tenant: string, rows: readonly ScannedRow[]): Promise<number> {
  const text = (of: (row: ScannedRow) => unknown) =>
    column.texts(rows, (row) => (of(row) === null ? null : JSON.stringify(of(row))));
  return tx.run(sql`update accord.audit_entry a set actor = r.actor::jsonb, object_name = r.object_name, detail = r.detail::jsonb
    from unnest(${column.instants(rows, (row) => row.at)}, ${column.uuids(rows, (row) => row.id)}, ${text((row) => row.actor)},
      ${column.texts(rows, (row) => row.object_name)}, ${text((row) => row.detail)}) as r (at, id, actor, object_name, detail)
    where a.tenant = ${tenant} and a.at = r.at and a.id = r.id`);
}
