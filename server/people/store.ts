/** The SQL of the people room. What a member asks for about one actor is one statement, each part of which an index bounds. */
import { Type } from 'typebox';
import { patterns } from '../../crds/index.ts';
import type { Transaction } from '../core/db/database.ts';
import { column, none, type Sql, sql } from '../core/db/sql.ts';
import { limits } from '../core/limits.ts';
import { auditData, consentData, decisionData, invitationData, mailData } from './record-store.ts';
import { BoundRow, FoundRow, ItemRow, type Person, type Place, SeenRow, type TimelineKind } from './schema.ts';

export const atText = sql`to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

type Named = Pick<Person, 'type' | 'id' | 'isUser'>;
type Page = { kinds: ReadonlySet<TimelineKind>; before?: Place; limit: number };

/**
 * A page of all that is recorded about a person, newest first. No index has relationships in the order of time: those of
 * `relationshipsOf` are looked at.
 */
export function readTimeline(tx: Transaction, tenant: string, person: Person, page: Page): Promise<ItemRow[]> {
  const { before, limit, kinds } = page;
  const behind = behindOf(before, sql`at`, sql`id`);
  const parts = [...partsOf(tenant, person, page)].filter(([kind]) => kinds.has(kind));
  if (parts.length === 0) return Promise.resolve([]);
  const all = parts.map(
    ([kind, rows]) => sql`(select at, id, ${kind}::text as kind, data from (${rows}) as part
      where true ${behind} order by at desc, id desc limit ${limit})`,
  );
  const joined = all.reduce((one, other) => sql`${one} union all ${other}`);
  return tx.many(
    ItemRow,
    sql`select ${atText} as at, id, kind, data from (select * from (${joined}) as parts order by at desc, id desc limit ${limit}) as page order by page.at desc, id desc`,
  );
}

const behindOf = (before: Place | undefined, at: Sql, id: Sql): Sql =>
  before === undefined ? none : sql`and (${at}, ${id}) < (${before.at}::timestamptz, ${before.id}::uuid)`;

/** What of a log is for this page, newest first. @param at, id the names of its columns */
const pageOf = ({ before, limit }: Page, at = sql`at`, id = sql`id`): Sql =>
  sql`${behindOf(before, at, id)} order by ${at} desc, ${id} desc limit ${limit}`;

function partsOf(tenant: string, person: Person, page: Page): [TimelineKind, Sql][] {
  const order = pageOf(page);
  return [
    ...relationshipParts(tenant, person, page.before),
    ...invitationParts(tenant, person, page),
    ...(person.isUser ? ledgerParts(tenant, person, order) : []),
    ['decision', decisions(tenant, person, order)],
    ...auditParts(tenant, person, order),
    ...(person.recipients.length > 0 ? ([['mail', mails(tenant, person, page)]] as [TimelineKind, Sql][]) : []),
  ];
}

/**
 * A person's relationships in each direction, in the order of an index: the same ones for each page, whatever plan is taken. They are
 * not the newest, because an index by time would make every write of a relationship dearer. What was related since the first page
 * would push another one past the bound. @param most how many of a direction
 */
function relationshipsOf(tenant: string, { type, id }: Named, since: Place | undefined, most: number): [Sql, Sql] {
  const then = since === undefined ? none : sql`and created_at <= ${since.asOf}::timestamptz`;
  return [
    sql`(select * from accord.relationship where tenant = ${tenant} and from_type = ${type} and from_id = ${id} ${then}
      order by name, to_type, to_id limit ${most}) as r`,
    sql`(select * from accord.relationship where tenant = ${tenant} and to_type = ${type} and to_id = ${id}
      and (from_type, from_id) <> (${type}, ${id}) ${then} order by name, from_type, from_id limit ${most}) as r`,
  ];
}

function relationshipParts(tenant: string, person: Person, since: Place | undefined): [TimelineKind, Sql][] {
  const columns = sql`created_at as at, md5(concat_ws(chr(1), ${person.key}::text, from_type, from_id, name, to_type, to_id))::uuid as id,
    jsonb_build_object('from', jsonb_build_object('type', from_type, 'id', from_id), 'relationshipType', name,
      'to', jsonb_build_object('type', to_type, 'id', to_id), 'expiresAt', expires_at) as data`;
  return relationshipsOf(tenant, person, since, limits.personRecordsMax).map((rows) => [
    'relationship',
    sql`select ${columns} from ${rows}`,
  ]);
}

/** Whether a direction has more relationships than are looked at, and the instant of this transaction. */
export function readBound(tx: Transaction, tenant: string, person: Named, since?: Place): Promise<BoundRow> {
  const [from, to] = relationshipsOf(tenant, person, since, limits.personRecordsMax + 1);
  return tx.one(
    BoundRow,
    sql`select greatest((select count(*) from ${from}), (select count(*) from ${to})) > ${limits.personRecordsMax}::int as exceeded,
      ${atText} as now from (select now() as at) as instant`,
  );
}

function invitationParts(tenant: string, { type, id }: Person, page: Page): [TimelineKind, Sql][] {
  const made = sql`select i.created_at as at, i.id, ${invitationData('invited')} from accord.invitation i
    where i.tenant = ${tenant} and i.invitor_type = ${type} and i.invitor_id = ${id}
      ${pageOf(page, sql`i.created_at`, sql`i.id`)}`;
  const accepted = sql`select u.accepted_at as at, i.id, ${invitationData('accepted')}
    from (select * from accord.invitation_use where tenant = ${tenant} and acceptor_type = ${type} and acceptor_id = ${id}
      ${pageOf(page, sql`accepted_at`, sql`invitation`)}) as u join accord.invitation i on i.tenant = u.tenant and i.id = u.invitation`;
  return [
    ['invitation', made],
    ['invitation', accepted],
  ];
}

function ledgerParts(tenant: string, { id }: Person, order: Sql): [TimelineKind, Sql][] {
  const of = (table: Sql) => sql`select at, id, data from (select time as at, id, ${consentData}
    from ${table} where tenant = ${tenant} and user_id = ${id}) as l where true ${order}`;
  return [
    ['consent', of(sql`accord.ledger_inbox`)],
    ['consent', of(sql`accord.ledger_entry`)],
  ];
}

/** Decisions on a subject. One without a type is of the default type. */
function decidedOn(tenant: string, { type, id, isUser }: Named): Sql {
  const types = isUser ? [type, ''] : [type];
  return sql`accord.decision where tenant = ${tenant} and subject_hash = hashtextextended(${id}, 0)
    and request #>> '{subject,id}' = ${id}
    and coalesce(request #>> '{subject,type}', '') in (select unnest(${column.texts(types, (one) => one)}))`;
}

function decisions(tenant: string, person: Person, order: Sql): Sql {
  return sql`select at, id, ${decisionData} from ${decidedOn(tenant, person)} ${order}`;
}

/** What was done to the person, and to what is named after it, such as its relationships; and what it did itself. */
function auditParts(tenant: string, { type, id }: Person, order: Sql): [TimelineKind, Sql][] {
  const name = `${type}/${id}`;
  const by = sql`actor #>> '{}'`;
  const user = `user:${type}:${id}`;
  const about = sql`select at, id, ${auditData} from accord.audit_entry where tenant = ${tenant}
    and about_hash = hashtextextended(split_part(${name}, ' ', 1), 0)
    and (object_name = ${name} or starts_with(object_name, ${`${name} `})) ${order}`;
  const done = sql`select at, id, ${auditData} from accord.audit_entry where tenant = ${tenant}
    and by_hash = hashtextextended(${user}, 0) and ${by} = ${user}
    and not (object_name = ${name} or starts_with(object_name, ${`${name} `})) ${order}`;
  return [
    ['audit', about],
    ['audit', done],
  ];
}

/** Of each address by itself, because an index has the order of time of one address. */
function mails(tenant: string, { recipients }: Person, page: Page): Sql {
  return sql`select m.* from unnest(${column.texts(recipients, (one) => one)}) as r(digest) cross join lateral (
    select created_at as at, id, ${mailData} from accord.mail_message where tenant = ${tenant} and recipient_digest = r.digest
      ${pageOf(page, sql`created_at`)}) as m`;
}

const UUID = new RegExp(patterns.uuid.source, 'u');

/** The account of an actor. An id that is no UUID has none: as a text, it would be looked for in all accounts of the tenant. */
const accountOf = (tenant: string, { id, isUser }: Named): Sql =>
  isUser && UUID.test(id)
    ? sql`accord.account where tenant = ${tenant} and id = ${id}::uuid`
    : sql`accord.account where false`;

/** What is known of an actor, and when records first and last named it; what has no order by time says nothing of the last. */
export function readSeen(tx: Transaction, tenant: string, person: Named): Promise<SeenRow> {
  const { type, id, isUser } = person;
  const ledger = (way: Sql) =>
    sql`(select time from accord.ledger_entry where ${isUser} and tenant = ${tenant} and user_id = ${id} order by time ${way} limit 1)`;
  const decided = (way: Sql) => sql`(select at from ${decidedOn(tenant, person)} order by at ${way} limit 1)`;
  const [from, to] = relationshipsOf(tenant, person, undefined, limits.personRecordsMax);
  return tx.one(
    SeenRow,
    sql`with related as (select created_at from ${from} union all select created_at from ${to}),
      own as (select email, display_name, created_at from ${accountOf(tenant, person)})
      select (select attributes from accord.entity where tenant = ${tenant} and type = ${type} and id = ${id}) as attributes,
        (select email from own) as email, (select display_name from own) as display_name,
        least((select min(created_at) from related), (select created_at from own), ${ledger(none)}, ${decided(none)}) as first_seen,
        greatest((select max(created_at) from related), (select created_at from own), ${ledger(sql`desc`)}, ${decided(sql`desc`)}) as last_seen`,
  );
}

/** The users that have an account with an address, and the actors that accepted an invitation to it. */
export async function findByAddress(
  tx: Transaction,
  tenant: string,
  { email, digest, defaultType }: { email: string; digest: string; defaultType: string },
): Promise<{ account: { type: string; id: string }[]; invitation: { type: string; id: string }[] }> {
  const account = await tx.many(
    FoundRow,
    sql`select ${defaultType}::text as type, id::text as id from accord.account where tenant = ${tenant} and email = ${email}`,
  );
  const invitation = await tx.many(
    FoundRow,
    sql`select distinct u.acceptor_type as type, u.acceptor_id as id
      from (select tenant, id from accord.invitation where tenant = ${tenant} and contact_digest = ${digest}
        order by id desc limit ${limits.personRecordsMax}) as i
      join accord.invitation_use u on u.tenant = i.tenant and u.invitation = i.id order by type, id limit ${limits.pageItemsMax}`,
  );
  return { account, invitation };
}

const Known = Type.Object({ known: Type.Boolean() });

/** Whether an actor is registered, is related to anything, has consents, or an account. */
export async function isKnown(tx: Transaction, tenant: string, person: Named): Promise<boolean> {
  const { type, id, isUser } = person;
  const { known } = await tx.one(
    Known,
    sql`select exists (select from accord.entity where tenant = ${tenant} and type = ${type} and id = ${id})
      or exists (select from accord.relationship where tenant = ${tenant} and from_type = ${type} and from_id = ${id})
      or exists (select from accord.relationship where tenant = ${tenant} and to_type = ${type} and to_id = ${id})
      or (${isUser} and (exists (select from accord.ledger_entry where tenant = ${tenant} and user_id = ${id})
        or exists (select from accord.ledger_inbox where tenant = ${tenant} and user_id = ${id})
        or exists (select from accord.user_consent where tenant = ${tenant} and user_id = ${id})
        or exists (select from ${accountOf(tenant, person)}))) as known`,
  );
  return known;
}
