/** All SQL of the audit room. */
import type { Transaction } from '../core/db/database.ts';
import { sql } from '../core/db/sql.ts';

export type AuditEntry = {
  actor: string;
  /** `put`, `delete`, `restore`, `adopt`, `transfer`, `create`, `accept`, `decline`, `resend`, `report`, `redeem`, `revoke`, `disable`, `erase` */
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

/** Makes the time partitions of this month and the next ones, of every partitioned table. */
export async function ensurePartitions(tx: Transaction, monthsAhead: number): Promise<void> {
  await tx.run(sql`select accord.ensure_partitions(${monthsAhead})`);
}
