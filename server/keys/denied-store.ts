import type { Transaction } from '../core/db/database.ts';
import { Count } from '../core/db/rows.ts';
import { none, sql } from '../core/db/sql.ts';
import { DeniedTokenRow } from './schema.ts';

type Denial = {
  kind: DeniedTokenRow['kind'];
  id: string;
  /** Null: whenever the token was issued. */
  issuedUntil: string | null;
  /** Null: until it is lifted. */
  expiresAt: string | null;
  /** The tenant's that the write makes. */
  revision: number;
};

/** Of one tenant, or of all in a system transaction. @param after only those that were written after this revision of the tenant */
export function loadDeniedTokens(tx: Transaction, tenant?: string, after?: number): Promise<DeniedTokenRow[]> {
  return tx.many(
    DeniedTokenRow,
    sql`select tenant, kind, id, issued_until, expires_at from accord.denied_token
      ${tenant === undefined ? none : sql`where tenant = ${tenant}`} ${after === undefined ? none : sql`and revision > ${after}`}`,
  );
}

export function readDenial(
  tx: Transaction,
  tenant: string,
  kind: DeniedTokenRow['kind'],
  id: string,
): Promise<DeniedTokenRow | undefined> {
  return tx.maybe(
    DeniedTokenRow,
    sql`select tenant, kind, id, issued_until, expires_at from accord.denied_token
      where tenant = ${tenant} and kind = ${kind} and id = ${id}`,
  );
}

export async function upsertDenial(tx: Transaction, tenant: string, denial: Denial): Promise<void> {
  await tx.run(sql`
    insert into accord.denied_token (tenant, kind, id, issued_until, expires_at, revision)
    values (${tenant}, ${denial.kind}, ${denial.id}, ${denial.issuedUntil}, ${denial.expiresAt}, ${denial.revision})
    on conflict (tenant, kind, id) do update set issued_until = excluded.issued_until, expires_at = excluded.expires_at,
      revision = excluded.revision`);
}

/** Removes what names a subject, alone or with a client. @returns how many */
export function deleteDenials(tx: Transaction, tenant: string, sub: string): Promise<number> {
  return tx.run(sql`delete from accord.denied_token where tenant = ${tenant}
    and (kind = 'subject' and id = ${sub} or kind = 'grant' and starts_with(id, ${`${sub} `}))`);
}

export async function countDeniedTokens(tx: Transaction, tenant: string, now: string): Promise<number> {
  const row = await tx.one(
    Count,
    sql`select count(*)::int as count from accord.denied_token
      where tenant = ${tenant} and kind = 'jti' and expires_at > ${now}`,
  );
  return row.count;
}

/** In a system transaction: of all tenants. @returns how many */
export function removeExpiredDenials(tx: Transaction, now: string): Promise<number> {
  return tx.run(sql`delete from accord.denied_token where expires_at <= ${now}`);
}
