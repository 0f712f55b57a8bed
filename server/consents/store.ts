import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { column, none, type Sql, sql } from '../core/db/sql.ts';
import { limits } from '../core/limits.ts';
import type { Holding } from '../facts/schema.ts';
import { isLedgerEmpty } from '../ledger/index.ts';
import { holders } from '../relationships/index.ts';
import { ConsentHistoryRow, ConsentRow, HolderRow } from './schema.ts';

const evaluated = sql`c.id, c.user_id, c.definition, c.version, c.document, c.language, c.given_at, i.invited_at`;
const columns = sql`${evaluated}, c.proof, c.content_digest`;
const invited = sql`left join accord.consent_invitation i on i.tenant = c.tenant and i.user_id = c.user_id
  and i.definition = c.definition and i.version = c.version`;

/** Question `n`: what a user gave of a definition, or of all. */
type ConsentQuery = { n: number; userId: string; name: string | null };

function givenBy(tenant: string, questions: readonly ConsentQuery[]) {
  return sql`from unnest(${column.integers(questions, (one) => one.n)}, ${column.texts(questions, (one) => one.userId)},
      ${column.texts(questions, (one) => one.name)}) as q (n, user_id, name)
    join accord.user_consent c on c.tenant = ${tenant} and c.user_id = q.user_id
      and (q.name is null or c.definition = q.name)
    ${invited}`;
}

/** As every reading of a user and every decision needs it. */
export function readConsentHistory(
  tx: Transaction,
  tenant: string,
  questions: readonly ConsentQuery[],
): Promise<Static<typeof ConsentHistoryRow>[]> {
  return tx.many(ConsentHistoryRow, sql`select q.n, ${evaluated} ${givenBy(tenant, questions)}`);
}

/** The same with proofs and digests, for who shows what is already given. */
export function readConsentsWithProofs(
  tx: Transaction,
  tenant: string,
  questions: readonly ConsentQuery[],
): Promise<ConsentRow[]> {
  return tx.many(ConsentRow, sql`select ${columns} ${givenBy(tenant, questions)}`);
}

/** Of each user at most so many, any of them; without proofs. */
export function readSomeOf(
  tx: Transaction,
  tenant: string,
  userIds: readonly string[],
  most: number,
): Promise<Static<typeof ConsentHistoryRow>[]> {
  const users = [...userIds.entries()];
  return tx.many(
    ConsentHistoryRow,
    sql`select q.n, e.* from unnest(${column.integers(users, ([n]) => n)}, ${column.texts(users, ([, id]) => id)}) as q (n, user_id)
      cross join lateral (select ${evaluated} from accord.user_consent c ${invited}
        where c.tenant = ${tenant} and c.user_id = q.user_id limit ${most}) as e`,
  );
}

/** Question `n`: those who have the relationship to an entity at an instant (RFC 3339). */
type HoldingQuery = { n: number; now: string } & Holding;

/** Holders of relationships, and users who are named, with their consents; each has at least one row. */
export function readHolders(
  tx: Transaction,
  tenant: string,
  holdings: readonly HoldingQuery[],
  persons: readonly { n: number; userId: string }[],
): Promise<Static<typeof HolderRow>[]> {
  const given = (userId: Sql) =>
    sql`left join accord.user_consent c on c.tenant = ${tenant} and c.user_id = ${userId} ${invited}`;
  const told = sql`c.id, c.definition, c.version, c.document, c.language, c.given_at, i.invited_at`;
  const texts = (of: (one: HoldingQuery) => string) => column.texts(holdings, of);
  const parts = [
    ...(holdings.length > 0
      ? [
          sql`select q.n, h.id as user_id, false as named, ${told}
            from unnest(${column.integers(holdings, (one) => one.n)}, ${texts((one) => one.from)}, ${texts((one) => one.name)},
              ${texts((one) => one.to.type)}, ${texts((one) => one.to.id)}, ${column.instants(holdings, (one) => one.now)})
              as q (n, from_type, name, to_type, to_id, now)
            cross join lateral (${holders(tenant, limits.dataSubjectsMax + 1)}) as h ${given(sql`h.id`)}`,
        ]
      : []),
    ...(persons.length > 0
      ? [
          sql`select q.n, q.user_id, true as named, ${told}
            from unnest(${column.integers(persons, (one) => one.n)}, ${column.texts(persons, (one) => one.userId)})
              as q (n, user_id) ${given(sql`q.user_id`)}`,
        ]
      : []),
  ];
  return tx.many(
    HolderRow,
    parts.reduce((all, part) => sql`${all} union all ${part}`),
  );
}

const Locked = Type.Object({ locked: Type.Boolean() });

/**
 * Until the end of the transaction nobody else registers, revokes or is invited for these users, and nobody erases the
 * tenant. They are locked in sorted order, so that two transactions that lock several do not deadlock.
 * @returns whether the tenant is there and active
 */
export async function lockUsers(tx: Transaction, tenant: string, userIds: readonly string[]): Promise<boolean> {
  const rows = await tx.many(
    Locked,
    sql`select pg_advisory_xact_lock(hashtextextended('accord.consents.' || t.tenant || '.' || u.id, 0)) is not null as locked
      from accord.tenant t, unnest(${column.texts([...userIds].sort(), (id) => id)}) as u (id)
      where t.tenant = ${tenant} and t.state = 'active' for key share of t`,
  );
  return rows.length > 0;
}

/** Its id is set when it is stored. */
export type NewConsent = ConsentRow;

const Inserted = Type.Object({ id: Type.String(), key: Type.String() });

/** Consents that the users have not given before; each row gets its id. */
export async function insertConsents(tx: Transaction, tenant: string, rows: readonly NewConsent[]): Promise<void> {
  const texts = (of: (row: NewConsent) => string | null) => column.texts(rows, of);
  const inserted = await tx.many(
    Inserted,
    sql`insert into accord.user_consent (tenant, user_id, definition, version, document, language, given_at, proof, content_digest)
      select ${tenant}, r.user_id, r.definition, r.version, r.document, r.language, r.given_at::timestamptz, r.proof::jsonb,
        r.content_digest
      from unnest(${texts((row) => row.user_id)}, ${texts((row) => row.definition)}, ${texts((row) => row.version)},
        ${texts((row) => row.document)}, ${texts((row) => row.language)}, ${texts((row) => row.given_at)},
        ${texts((row) => (row.proof === null ? null : JSON.stringify(row.proof)))}, ${texts((row) => row.content_digest)})
        as r (user_id, definition, version, document, language, given_at, proof, content_digest)
      returning id, concat_ws(e'\\x01', user_id, definition, version, document, language) as key`,
  );
  const ids = new Map(inserted.map(({ id, key }) => [key, id]));
  for (const row of rows) {
    const { user_id, definition, version, document, language } = row;
    row.id = ids.get([user_id, definition, version, document, language].join('\x01')) as string;
  }
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

/** Writes when the user was first invited away from a version, unless that is written. @param graceEnds absent: not known yet */
export async function insertInvitation(
  tx: Transaction,
  tenant: string,
  { userId, name, version }: { userId: string; name: string; version: string },
  { at, graceEnds }: { at: string; graceEnds: number | undefined },
): Promise<boolean> {
  const ends = graceEnds === undefined ? null : new Date(graceEnds).toISOString();
  const added = await tx.run(sql`
    insert into accord.consent_invitation (tenant, user_id, definition, version, invited_at, grace_ends)
    values (${tenant}, ${userId}, ${name}, ${version}, ${at}, ${ends}) on conflict do nothing`);
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

const Untouched = Type.Object({ untouched: Type.Boolean() });

/** Whether there was never a request about consents in the tenant: each leaves an entry in the ledger. */
export async function isUntouched(tx: Transaction, tenant: string): Promise<boolean> {
  const { untouched } = await tx.one(
    Untouched,
    sql`select not exists (select from accord.user_consent where tenant = ${tenant}) as untouched`,
  );
  return untouched && (await isLedgerEmpty(tx, tenant));
}

/** All that is kept of a user here. @returns how much it was */
export async function removeUser(
  tx: Transaction,
  tenant: string,
  userId: string,
): Promise<{ consents: number; consentInvitations: number }> {
  const [consents, consentInvitations] = await Promise.all([
    tx.run(sql`delete from accord.user_consent where tenant = ${tenant} and user_id = ${userId}`),
    tx.run(sql`delete from accord.consent_invitation where tenant = ${tenant} and user_id = ${userId}`),
  ]);
  return { consents, consentInvitations };
}
