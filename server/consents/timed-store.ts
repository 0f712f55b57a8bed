/** The SQL of what time brings to consents. Instants are RFC 3339. */
import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { type Due, tenantsWith } from '../core/db/due.ts';
import { Instant } from '../core/db/rows.ts';
import { column, literal, type Sql, sql } from '../core/db/sql.ts';
import { limits } from '../core/limits.ts';
import type { EndingVersion } from '../definitions/index.ts';

/** What is told of a grace: that it ends soon, or that it has ended. */
export type GraceNews = 'ending' | 'expired';

const GRACE_ENDING_DAYS = 7; // where the Tenant says nothing
// As the index tenant_reminds_early has it.
const graceEndingDays = sql`coalesce((t.spec #>> '{events,graceEndingDays}')::integer, ${literal(GRACE_ENDING_DAYS)})`;

const untold = { ending: sql`not told_ending`, expired: sql`not told_expired` } as const;
const soon = (now: string, days: Sql) => sql`grace_ends <= ${now}::timestamptz + make_interval(hours => 24 * ${days})`;
/** A grace ends after its last instant. */
const isOver = (now: string) => sql`grace_ends < ${now}`;

const graces = (news: GraceNews, now: string): Due => ({
  ...{ table: 'consent_invitation', instant: 'grace_ends', untold: untold[news] },
  ...(news === 'expired'
    ? { isDue: isOver(now) }
    : {
        isDue: soon(now, graceEndingDays),
        mayBeDue: soon(now, literal(GRACE_ENDING_DAYS)),
        exceptions: sql`select t.tenant from accord.tenant t where ${graceEndingDays} > ${literal(GRACE_ENDING_DAYS)}`,
      }),
});

export function tenantsWithGraces(tx: Transaction, news: GraceNews, now: string): Promise<string[]> {
  return tenantsWith(tx, graces(news, now));
}

const GraceRow = Type.Object({
  user_id: Type.String(),
  definition: Type.String(),
  version: Type.String(),
  invited_at: Instant,
  grace_ends: Instant,
  days: Type.Integer(),
});
export type GraceRow = Static<typeof GraceRow>;

/** Those that end first; `days`: graceEndingDays of the tenant. */
export function readGraces(tx: Transaction, tenant: string, news: GraceNews, now: string): Promise<GraceRow[]> {
  const isDue = news === 'ending' ? soon(now, sql`d.days`) : isOver(now);
  return tx.many(
    GraceRow,
    sql`select i.*, d.days from (select ${graceEndingDays} as days from accord.tenant t where tenant = ${tenant}) as d
      cross join lateral (select user_id, definition, version, invited_at, grace_ends from accord.consent_invitation
        where tenant = ${tenant} and ${untold[news]} and ${isDue}
        order by grace_ends limit ${literal(limits.timedEventsMax)}) as i`,
  );
}

const keys = (rows: readonly GraceRow[]) =>
  sql`unnest(${column.texts(rows, (row) => row.user_id)}, ${column.texts(rows, (row) => row.definition)},
    ${column.texts(rows, (row) => row.version)}, ${column.instants(rows, (row) => row.grace_ends)})
    as k (user_id, definition, version, grace_ends)`;
const matches = (tenant: string) => sql`i.tenant = ${tenant} and i.user_id = k.user_id and i.definition = k.definition
  and i.version = k.version`;

export async function markGraces(
  tx: Transaction,
  tenant: string,
  news: GraceNews,
  rows: readonly GraceRow[],
): Promise<void> {
  const told = news === 'ending' ? sql`told_ending` : sql`told_expired`;
  await tx.run(sql`update accord.consent_invitation i set ${told} = true from ${keys(rows)} where ${matches(tenant)}`);
}

/** Gives graces another end. */
export async function moveGraces(tx: Transaction, tenant: string, rows: readonly GraceRow[]): Promise<void> {
  await tx.run(
    sql`update accord.consent_invitation i set grace_ends = k.grace_ends from ${keys(rows)} where ${matches(tenant)}`,
  );
}

/** Some invitations that were there before the end of life began get its start for an end, until their own is computed. @returns how many */
export function armGraces(
  tx: Transaction,
  tenant: string,
  { definition, version, start_date: start }: EndingVersion,
): Promise<number> {
  const unarmed = sql`tenant = ${tenant} and definition = ${definition} and version = ${version} and grace_ends is null`;
  return tx.run(sql`update accord.consent_invitation set grace_ends = ${start} where ${unarmed} and user_id in (
    select user_id from accord.consent_invitation where ${unarmed} limit ${literal(limits.timedEventsMax)})`);
}

const HolderOfVersion = Type.Object({ id: Type.String(), user_id: Type.String(), counts: Type.Boolean() });

/**
 * The next consents to a version, in the order of their ids. `counts`: the first of its user, whose grace nobody tells of: it was
 * not invited.
 */
export function readOfVersion(
  tx: Transaction,
  tenant: string,
  { definition, version, ended_until: after }: EndingVersion,
): Promise<Static<typeof HolderOfVersion>[]> {
  const same = sql`tenant = c.tenant and user_id = c.user_id and definition = c.definition and version = c.version`;
  return tx.many(
    HolderOfVersion,
    sql`select id, user_id, not exists (select from accord.user_consent where ${same} and id < c.id)
        and not exists (select from accord.consent_invitation where ${same} and grace_ends is not null) as counts
      from accord.user_consent c where tenant = ${tenant} and definition = ${definition} and version = ${version}
        and (${after}::uuid is null or id > ${after}::uuid) order by id limit ${literal(limits.timedEventsMax)}`,
  );
}
