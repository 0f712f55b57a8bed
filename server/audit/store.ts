import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Json, Nullable } from '../core/db/rows.ts';
import { column, sql } from '../core/db/sql.ts';
import type { Place } from '../room/erasing.ts';
import { bytesAtMost, isLastLooked, portion } from '../room/scan.ts';

export type AuditEntry = {
  actor: string;
  /** `put`, `delete`, `restore`, `adopt`, `transfer`, `create`, `accept`, `decline`, `resend`, `report`, `redeem`, `revoke`, `disable`, `erase`,
   *  `import`, `archive`, `retire`, `read` */
  action: string;
  kind: string;
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
 * @returns those whose texts hold the text, and the last one looked at, as the position that comes next
 */
export function scanEntries(
  tx: Transaction,
  tenant: string,
  { text, after }: { text: string; after: Place | undefined },
): Promise<ScannedRow[]> {
  const quoted = JSON.stringify(text).slice(1, -1);
  const scan = portion({
    ...{ table: sql`accord.audit_entry`, columns: sql`actor, object_name, detail`, tenant, after },
    bytes: bytesAtMost(sql`detail`),
    naming: sql`lateral (select detail::text as detailed offset 0) as said,
      lateral (select position(${text} in object_name) > 0 or position(${quoted} in actor::text) > 0
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
