import { type Static, Type } from 'typebox';
import type { Actor } from '../core/auth/schema.ts';
import type { Transaction } from '../core/db/database.ts';
import { Instant, Json, Nullable } from '../core/db/rows.ts';
import { column, identifier, none, type Sql, sql } from '../core/db/sql.ts';
import { limits } from '../core/limits.ts';
import { erasedActor, erasedUser, REPLACEMENT_PREFIX } from '../pseudonyms/index.ts';
import { storable } from './digest.ts';
import type { SealedLine } from './line.ts';
import { HashedRow, type InboxRow, type RegisterEventType } from './schema.ts';

const entryColumns = sql`tenant, time, type, name, version, document_version, document_language, content_digest, outcome,
  request_id, client_id`;
const inboxColumns = sql`${entryColumns}, personal_digest, salt, actor_type, actor_id, user_id, reason`;

/**
 * Writes entries of one tenant, or of many in a system transaction. Of an erased actor the pseudonym is written, without a reason, and
 * the digest is of that: Postgres writes JSON as JSON.stringify does (line.ts).
 */
export async function insertEntries(tx: Transaction, rows: readonly InboxRow[]): Promise<void> {
  await tx.run(sql`
    insert into accord.ledger_inbox (${inboxColumns})
    select ${entryColumns}, case when actor_erased or user_erased
        then sha256(convert_to(encode(salt, 'hex') || array_to_json(array[actor_type, actor, "user"])::text, 'UTF8'))
        else personal_digest end, salt, actor_type, actor, "user", case when not actor_erased and not user_erased then reason end
    from (select r.*, actor_erased, user_erased,
        case when actor_erased then ${REPLACEMENT_PREFIX} || actor_pseudonym else actor_id end as actor,
        case when user_erased then ${REPLACEMENT_PREFIX} || user_pseudonym else user_id end as "user"
      from json_to_recordset(${JSON.stringify(rows)}::json) as r (tenant text, time timestamptz, type text,
        name text, version text, document_version text, document_language text, content_digest text, outcome text, request_id text,
        client_id text, personal_digest bytea, salt bytea, actor_type text, actor_id text, user_id text, reason text, actor_pseudonym text, user_pseudonym text),
      lateral (select ${erasedActor(sql`r.tenant`, sql`r.actor_type`, sql`r.actor_pseudonym`)} as actor_erased,
        ${erasedUser(sql`r.tenant`, sql`r.user_pseudonym`)} as user_erased) as e) as entry`);
}

/**
 * Wipes who it was, salt and all, from every entry that a user acted in or that is about the user. The digests stay, and
 * with them the chain. Entries that other transactions append meanwhile are not among them.
 * @param user an actor of another type with the same id, such as a back end, is somebody else and stays
 * @returns how many entries
 */
export async function eraseIn(tx: Transaction, tenant: string, user: Actor): Promise<number> {
  for (let all = 0; ; ) {
    const { wiped, more } = await wipeSome(tx, tenant, { ...user, isUser: true });
    all += wiped;
    if (!more) return all;
  }
}

/**
 * Wipes at most limits.erasePageItemsMax entries of each kind.
 * @param who with isUser the entries about the user of this id too
 */
export async function wipeSome(
  tx: Transaction,
  tenant: string,
  who: Actor & { isUser: boolean },
): Promise<{ wiped: number; more: boolean }> {
  const id = storable(who.id);
  const acted = sql`actor_type = ${who.type} and actor_id = ${id}`;
  const most = limits.erasePageItemsMax;
  // Sealing moves entries: one that it moves while this looks for it would be seen in neither place.
  await tx.run(sql`select pg_advisory_xact_lock(accord.ledger_lock(${tenant}))`);
  const wiped = sql`salt = null, actor_type = null, actor_id = null, user_id = null, reason = null`;
  // By their places: a plan that is kept from when the inbox was all but empty would read all of it for each entry.
  const ofInbox = (those: Sql) =>
    tx.run(sql`
      update accord.ledger_inbox set ${wiped}
      where ctid = any (array(select ctid from accord.ledger_inbox where tenant = ${tenant} and ${those} limit ${most}))`);
  const sealed = (those: Sql) =>
    tx.run(sql`
      update accord.ledger_entry set ${wiped}
      where (tenant, time, id) in (
        select tenant, time, id from accord.ledger_entry where tenant = ${tenant} and ${those} limit ${most})`);
  const counts = await Promise.all([
    ofInbox(who.isUser ? sql`(user_id = ${id} or (${acted}))` : acted),
    sealed(who.isUser ? sql`user_id = ${id}` : sql`user_id = ${id} and ${acted}`),
    sealed(sql`${acted} and actor_id is distinct from user_id`),
  ]);
  return { wiped: counts.reduce((sum, count) => sum + count, 0), more: counts.includes(most) };
}

const Locked = Type.Object({ mine: Type.Boolean() });

/** Whether this transaction may seal the tenant; it may not while another one does, or wipes. */
export async function tryLock(tx: Transaction, tenant: string): Promise<boolean> {
  const row = await tx.one(Locked, sql`select pg_try_advisory_xact_lock(accord.ledger_lock(${tenant})) as mine`);
  return row.mine;
}

const ToSeal = Type.Object({ tenant: Type.String(), erased: Type.Boolean() });

/**
 * Tenants with entries that are not sealed, for a system transaction: one look into the index for each of them.
 * @property erased whether the tenant is gone: a server that had not noticed appended them
 */
export async function tenantsToSeal(tx: Transaction): Promise<{ tenant: string; erased: boolean }[]> {
  return tx.many(
    ToSeal,
    sql`with recursive waiting as (
        (select tenant from accord.ledger_inbox order by tenant limit 1)
        union all
        select (select i.tenant from accord.ledger_inbox i where i.tenant > w.tenant order by i.tenant limit 1)
        from waiting w where w.tenant is not null)
      select w.tenant, t.tenant is null as erased
      from waiting w left join accord.tenant t on t.tenant = w.tenant collate "default"
      where w.tenant is not null order by w.tenant`,
  );
}

const timeMs = sql`(date_part('epoch', time) * 1000)::bigint`;
const hashed = sql`id, ${timeMs} as time_ms, type, name, version, document_version,
  document_language, content_digest, outcome, request_id, client_id, encode(personal_digest, 'hex') as personal_digest`;

const UnsealedRow = Type.Object({ ...HashedRow.properties, time: Instant });

/** The oldest entries that are not sealed. */
export function readUnsealed(tx: Transaction, tenant: string, limit: number): Promise<Static<typeof UnsealedRow>[]> {
  return tx.many(
    UnsealedRow,
    sql`select ${hashed}, time from accord.ledger_inbox where tenant = ${tenant} order by time, id limit ${limit}`,
  );
}

/** The hash in hexadecimal digits. */
type Link = { time: string; id: string; sequence: number; hash: string };

/** Puts entries into the chain. @returns how many of them were there */
export function moveEntries(tx: Transaction, tenant: string, links: readonly Link[]): Promise<number> {
  return tx.run(sql`
    with taken as (
      delete from accord.ledger_inbox i
      using unnest(${column.instants(links, (one) => one.time)}, ${column.uuids(links, (one) => one.id)},
        ${column.bigints(links, (one) => one.sequence)}, ${column.texts(links, (one) => one.hash)}) as link (time, id, sequence, hash)
      where i.tenant = ${tenant} and i.time = link.time and i.id = link.id
      returning i.*, link.sequence, decode(link.hash, 'hex') as hash)
    insert into accord.ledger_entry (id, ${inboxColumns}, sequence, hash)
    select id, ${inboxColumns}, sequence, hash from taken`);
}

const headColumns = sql`last, first, encode(hash, 'hex') as hash, signed`;
/** The hash in hexadecimal digits. */
const HeadRow = Type.Object({
  last: Type.Integer(),
  first: Type.Integer(),
  hash: Type.String(),
  signed: Type.String(),
});
export type HeadRow = Static<typeof HeadRow>;

/** The newest checkpoint. */
export function readHead(tx: Transaction, tenant: string): Promise<HeadRow | undefined> {
  return tx.maybe(
    HeadRow,
    sql`select ${headColumns} from accord.ledger_checkpoint where tenant = ${tenant} order by last desc limit 1`,
  );
}

export async function insertCheckpoint(
  tx: Transaction,
  row: { tenant: string; first: number; last: number; hash: string; time: string; signed: string },
): Promise<void> {
  await tx.run(sql`insert into accord.ledger_checkpoint (tenant, first, last, hash, time, signed)
    values (${row.tenant}, ${row.first}, ${row.last}, decode(${row.hash}, 'hex'), ${row.time}, ${row.signed})`);
}

/** Where a checkpoint stands, and the hash that it has there, in hexadecimal digits. */
export type Mark = { last: number; first: number; hash: string };

const SealedPage = Type.Object({ text: Nullable(Type.String()), checkpoints: Json<Mark[]>() });

/**
 * Entries with numbers in (after, upTo], by number, and the checkpoints in them; whoever tampered may have left several of
 * one number. A page is one text, which `pg` reads in no time: a line for each entry, with tabs between. JSON escapes both.
 */
export async function readSealed(
  tx: Transaction,
  tenant: string,
  after: number,
  upTo: number,
): Promise<{ lines: SealedLine[]; checkpoints: Mark[] }> {
  const within = (column: 'sequence' | 'last') =>
    sql`tenant = ${tenant} and ${identifier(column)} > ${after} and ${identifier(column)} <= ${upTo}`;
  const { text, checkpoints } = await tx.one(
    SealedPage,
    sql`select (
        select string_agg(line, E'\\n') from (
          select concat_ws(E'\\t', encode(hash, 'hex'), encode(personal_digest, 'hex'), id, sequence, ${timeMs},
            coalesce(encode(salt, 'hex'), '-'), array_to_json(array[type, name, version, document_version,
            document_language, content_digest, outcome, request_id, client_id]), array_to_json(array[actor_type, actor_id, user_id] || case when reason is null then '{}' else array[reason] end)) as line
          from accord.ledger_entry where ${within('sequence')}
          order by sequence limit ${2 * limits.ledgerVerifyPageItemsMax}) as page
      ) as text, (
        select coalesce(json_agg(json_build_object('last', last, 'first', first, 'hash', encode(hash, 'hex'))), '[]')
        from (select last, first, hash from accord.ledger_checkpoint where ${within('last')}
          order by last limit ${limits.ledgerVerifyPageItemsMax}) as mark
      ) as checkpoints`,
  );
  const lines = text === null ? [] : text.split('\n').map((line) => line.split('\t') as SealedLine);
  return { lines, checkpoints };
}

/** Checkpoints whose last number is in (after, upTo], by number. */
export function readCheckpoints(tx: Transaction, tenant: string, after: number, upTo: number): Promise<HeadRow[]> {
  return tx.many(
    HeadRow,
    sql`select ${headColumns} from accord.ledger_checkpoint
      where tenant = ${tenant} and last > ${after} and last <= ${upTo} order by last limit ${limits.ledgerVerifyPageItemsMax}`,
  );
}

const StrayRow = Type.Object({ id: Type.String(), sequence: Type.Integer() });

/** The first sealed entry that no checkpoint speaks of. One statement: a seal meanwhile is there as a whole or not. */
export function readUnsigned(tx: Transaction, tenant: string): Promise<Static<typeof StrayRow> | undefined> {
  return tx.maybe(
    StrayRow,
    sql`select id, sequence from accord.ledger_entry where tenant = ${tenant} and sequence >
        (select coalesce(max(last), 0) from accord.ledger_checkpoint where tenant = ${tenant})
      order by sequence limit 1`,
  );
}

const HasHash = Type.Object({ has: Type.Boolean() });

/** Whether the entry of a number has this hash. */
export async function hasHashAt(tx: Transaction, tenant: string, sequence: number, hash: string): Promise<boolean> {
  const row = await tx.one(
    HasHash,
    sql`select exists (select from accord.ledger_entry
      where tenant = ${tenant} and sequence = ${sequence} and hash = decode(${hash}, 'hex')) as has`,
  );
  return row.has;
}

export type Position = { time: string; id: string };
export type EventFilter = {
  start?: string;
  end?: string;
  type?: RegisterEventType;
  name?: string;
  userId?: string;
  /** Instead of userId: what an actor did that is no user of consents. */
  actor?: Actor;
};

function matching(tenant: string, { start, end, type, name, userId, actor }: EventFilter) {
  return sql`tenant = ${tenant}
    ${start === undefined ? none : sql`and time >= ${start}`} ${end === undefined ? none : sql`and time < ${end}`}
    ${type === undefined ? none : sql`and type = ${type}`} ${name === undefined ? none : sql`and name = ${name}`}
    ${userId === undefined ? none : sql`and user_id = ${userId}`}
    ${actor === undefined ? none : sql`and actor_type = ${actor.type} and actor_id = ${actor.id} and actor_id is distinct from user_id`}`;
}

const eventColumns = sql`id, time, type, name, version, document_version, document_language, content_digest, outcome, request_id,
  client_id, actor_type, actor_id, user_id, reason`;

/** An entry as a RegisterEvent in JSON. What is null makes its member null, which `concat` leaves out. */
export const eventLine = sql`concat('{"id":"', id, '"', ',"sequence":' || sequence,
  ',"time":"', to_char(time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), '","type":"', type, '"',
  ',"actor":{"type":' || to_json(actor_type) || ',"id":' || to_json(actor_id) || '}',
  ',"userId":' || to_json(user_id), ',"name":' || to_json(name), ',"version":' || to_json(version),
  ',"document":{' || nullif(concat_ws(',', '"version":' || to_json(document_version),
    '"language":' || to_json(document_language)), '') || '}', ',"contentDigest":' || to_json(content_digest),
  ',"outcome":', to_json(outcome), ',"requestId":', to_json(request_id), ',"clientId":' || to_json(client_id), ',"reason":' || to_json(reason), '}', chr(10))`;

type EventPage = { newestFirst: boolean; behind?: Position | undefined; limit: number };

const EventLines = Type.Object({ lines: Type.String(), count: Type.Integer() });

/**
 * Sealed or not, from behind a position on: RegisterEvents as JSON, each with a line feed behind it. One statement: an entry
 * that is being sealed is there once.
 * @returns the lines, and how many
 */
export function readEventLines(
  tx: Transaction,
  tenant: string,
  filter: EventFilter,
  { newestFirst, behind, limit }: EventPage,
): Promise<{ lines: string; count: number }> {
  const [beyond, way] = newestFirst ? [sql`<`, sql`desc`] : [sql`>`, none];
  const where = sql`${matching(tenant, filter)}
    ${behind === undefined ? none : sql`and (time, id) ${beyond} (${behind.time}, ${behind.id})`}`;
  const order = sql`order by time ${way}, id ${way}`;
  return tx.one(
    EventLines,
    sql`select coalesce(string_agg(${eventLine}, ''), '') as lines, count(*) as count
      from ((select ${eventColumns}, null::bigint as sequence from accord.ledger_inbox where ${where} ${order} limit ${limit})
        union all (select ${eventColumns}, sequence from accord.ledger_entry where ${where} ${order} limit ${limit})
        ${order} limit ${limit}) as page`,
  );
}
