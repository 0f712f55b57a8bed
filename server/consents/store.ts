/** All SQL of the consents room. */
import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { sql } from '../core/db/sql.ts';
import { type ConsentItem, ConsentRow, PastRow } from './schema.ts';

const none = sql``;
const columns = sql`c.id, c.user_id, c.definition, c.version, c.document, c.language, c.given_at, c.proof, i.invited_at`;
const invited = sql`left join accord.consent_invitation i on i.tenant = c.tenant and i.user_id = c.user_id
  and i.definition = c.definition and i.version = c.version`;

/** Question `n`: what a user gave of a definition, or of all. */
export type PastQuestion = { n: number; userId: string; name: string | null };

export function readPasts(
  tx: Transaction,
  tenant: string,
  questions: readonly PastQuestion[],
): Promise<Static<typeof PastRow>[]> {
  // Sub-selects hide the lists' length from the planner, which otherwise plans anew for each.
  return tx.many(
    PastRow,
    sql`select q.n, ${columns}
      from unnest((select ${questions.map((one) => one.n)}::integer[]), (select ${questions.map((one) => one.userId)}::text[]),
        (select ${questions.map((one) => one.name)}::text[])) as q (n, user_id, name)
      join accord.user_consent c on c.tenant = ${tenant} and c.user_id = q.user_id
        and (q.name is null or c.definition = q.name)
      ${invited}`,
  );
}

/**
 * Until the end of the transaction nobody else registers, revokes or is invited for the user, and nobody erases the tenant.
 * @returns whether the tenant is there and active
 */
export async function holdUser(tx: Transaction, tenant: string, userId: string): Promise<boolean> {
  const row = await tx.maybe(
    Type.Object({ held: Type.Boolean() }),
    sql`select pg_advisory_xact_lock(hashtextextended(${`accord.consents.${tenant}.${userId}`}, 0)) is not null as held
      from accord.tenant where tenant = ${tenant} and state = 'active' for key share`,
  );
  return row !== undefined;
}

/** One that the user has not given before. @returns its id */
export async function insertConsent(
  tx: Transaction,
  tenant: string,
  userId: string,
  { name, version, document, proof }: ConsentItem,
  givenAt: string,
): Promise<string> {
  const row = await tx.one(
    Type.Object({ id: Type.String() }),
    sql`insert into accord.user_consent (tenant, user_id, definition, version, document, language, given_at, proof)
      values (${tenant}, ${userId}, ${name}, ${version}, ${document.version}, ${document.language}, ${givenAt},
        ${proof === undefined ? null : JSON.stringify(proof)}) returning id`,
  );
  return row.id;
}

export function readConsent(tx: Transaction, tenant: string, id: string): Promise<ConsentRow | undefined> {
  return tx.maybe(
    ConsentRow,
    sql`select ${columns} from accord.user_consent c ${invited} where c.tenant = ${tenant} and c.id = ${id}`,
  );
}

export async function removeConsents(tx: Transaction, tenant: string, ids: readonly string[]): Promise<void> {
  await tx.run(sql`delete from accord.user_consent where tenant = ${tenant} and id = any(${ids}::uuid[])`);
}

/** Writes when the user was first invited away from a version, unless that is written. */
export async function insertInvitation(
  tx: Transaction,
  tenant: string,
  { userId, name, version }: { userId: string; name: string; version: string },
  at: string,
): Promise<boolean> {
  const added = await tx.run(sql`
    insert into accord.consent_invitation (tenant, user_id, definition, version, invited_at)
    values (${tenant}, ${userId}, ${name}, ${version}, ${at}) on conflict do nothing`);
  return added > 0;
}

export type ConsentFilter = { userId?: string; name?: string; version?: string };

/** Newest first, before an id. */
export function listConsents(
  tx: Transaction,
  tenant: string,
  { userId, name, version }: ConsentFilter,
  page: { before?: string | undefined; limit: number },
): Promise<ConsentRow[]> {
  return tx.many(
    ConsentRow,
    sql`select ${columns} from accord.user_consent c ${invited} where c.tenant = ${tenant}
      ${userId === undefined ? none : sql`and c.user_id = ${userId}`}
      ${name === undefined ? none : sql`and c.definition = ${name}`}
      ${version === undefined ? none : sql`and c.version = ${version}`}
      ${page.before === undefined ? none : sql`and c.id < ${page.before}::uuid`}
      order by c.id desc limit ${page.limit}`,
  );
}

/** All that is kept of a user here. */
export async function removeUser(tx: Transaction, tenant: string, userId: string): Promise<void> {
  await tx.run(sql`delete from accord.user_consent where tenant = ${tenant} and user_id = ${userId}`);
  await tx.run(sql`delete from accord.consent_invitation where tenant = ${tenant} and user_id = ${userId}`);
}
