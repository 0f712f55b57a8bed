/** The SQL of how far users have come to the newer versions of a definition. */
import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Instant, Nullable } from '../core/db/rows.ts';
import { column, none, sql } from '../core/db/sql.ts';
import { limits } from '../core/limits.ts';

const CountRow = Type.Object({ version: Type.String(), language: Type.String(), users: Type.Integer() });
export type CountRow = Static<typeof CountRow>;

/** How many users consented to each version, by the language of their documents; an index has the answer. */
export function countConsents(tx: Transaction, tenant: string, definition: string): Promise<CountRow[]> {
  return tx.many(
    CountRow,
    sql`select version, language, count(*) as users from (select version, language, user_id from accord.user_consent
      where tenant = ${tenant} and definition = ${definition} group by version, language, user_id) as each
      group by version, language order by version, language`,
  );
}

const InvitedRow = Type.Object({
  version: Type.String(),
  invited: Type.Integer(),
  first_ends: Nullable(Instant),
  last_ends: Nullable(Instant),
});
export type InvitedRow = Static<typeof InvitedRow>;

/** How many users were invited away from each version, and when their grace ends. */
export function countInvited(tx: Transaction, tenant: string, definition: string): Promise<InvitedRow[]> {
  return tx.many(
    InvitedRow,
    sql`select version, count(*) as invited, min(grace_ends) as first_ends, max(grace_ends) as last_ends
      from accord.consent_invitation where tenant = ${tenant} and definition = ${definition} group by version order by version`,
  );
}

const RemainingRow = Type.Object({
  id: Type.String(),
  user_id: Type.String(),
  document: Type.String(),
  language: Type.String(),
  given_at: Instant,
  invited_at: Nullable(Instant),
  grace_ends: Nullable(Instant),
  remains: Type.Boolean(),
});
export type RemainingRow = Static<typeof RemainingRow>;

/**
 * Consents to a version, oldest first; of users who consented to none of the newer ones they remain.
 * @returns those that remain, and of the others the last that was looked at
 */
export function readRemaining(
  tx: Transaction,
  tenant: string,
  about: { definition: string; version: string; newer: readonly string[] },
  page: { after: string | undefined; limit: number },
): Promise<RemainingRow[]> {
  const { definition, version, newer } = about;
  return tx.many(
    RemainingRow,
    sql`with looked as materialized (
        select id, user_id, document, language, given_at from accord.user_consent
        where tenant = ${tenant} and definition = ${definition} and version = ${version}
          ${page.after === undefined ? none : sql`and id > ${page.after}::uuid`} order by id limit ${limits.consentsLookedAtMax}),
      judged as (
        select l.*, not exists (select from accord.user_consent n where n.tenant = ${tenant} and n.user_id = l.user_id
          and n.definition = ${definition} and n.version in (select unnest(${column.texts(newer, (one) => one)}))) as remains
        from looked l),
      page as (select * from judged where remains order by id limit ${page.limit + 1})
      select p.id::text as id, p.user_id, p.document, p.language, p.given_at, i.invited_at, i.grace_ends, true as remains
      from page p left join accord.consent_invitation i on i.tenant = ${tenant} and i.user_id = p.user_id
        and i.definition = ${definition} and i.version = ${version}
      union all (select id::text, '', '', '', given_at, null, null, false from looked
        where (select count(*) from looked) = ${limits.consentsLookedAtMax}::int order by looked.id desc limit 1)
      order by remains desc, id`,
  );
}
