/** All SQL of messages and of the lanes that send them. */
import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { removeDue } from '../core/db/due.ts';
import { type LaneTable, ofTenants } from '../core/db/lanes.ts';
import { Bytes, Instant, Nullable } from '../core/db/rows.ts';
import { column, literal, type Sql, sql } from '../core/db/sql.ts';
import { limits } from '../core/limits.ts';

type NewMessage = {
  id: string;
  template: string;
  language: string | null;
  transactional: boolean;
  recipient_digest: string;
  recipient_mask: string;
  content_encrypted: Buffer;
  created_at: string;
  expires_at: string;
  kept_until: string;
};

export async function insertMessage(tx: Transaction, tenant: string, one: NewMessage): Promise<void> {
  await tx.run(sql`
    with lane as (insert into accord.mail_lane (tenant) values (${tenant}) on conflict do nothing)
    insert into accord.mail_message (tenant, id, template, language, transactional, recipient_digest, recipient_mask,
      content_encrypted, next_at, created_at, expires_at, kept_until)
    values (${tenant}, ${one.id}, ${one.template}, ${one.language}, ${one.transactional}, ${one.recipient_digest},
      ${one.recipient_mask}, ${one.content_encrypted}, ${one.created_at}, ${one.created_at}, ${one.expires_at},
      ${one.kept_until})`);
}

const WaitingRow = Type.Object({
  tenant: Type.String(),
  id: Type.String(),
  template: Type.String(),
  language: Nullable(Type.String()),
  transactional: Type.Boolean(),
  recipient_digest: Type.String(),
  content_encrypted: Bytes,
  attempts: Type.Integer(),
  created_at: Type.String(),
  expires_at: Type.String(),
});
export type WaitingRow = Static<typeof WaitingRow>;

const waitingColumns = sql`m.tenant, m.id, m.template, m.language, m.transactional, m.recipient_digest, m.content_encrypted,
  m.attempts, m.created_at, m.expires_at`;

/** The lanes of tenants that have a mail to send. @param now when it is asked */
export const mailLanes = (now: () => string): LaneTable => ({
  table: 'mail_lane',
  id: 'lane',
  due: (tenants) => (tenants === undefined ? allLanesDue(now()) : lanesDue(now(), ofTenants(tenants, sql`m.tenant`))),
});

const lanesDue = (
  now: string,
  those: Sql,
) => sql`select m.tenant, m.lane as id from accord.mail_lane m cross join lateral (
    select from accord.mail_message d where d.tenant = m.tenant and ${isDue(now)} order by next_at limit 1) as due
  where true ${those}`;

/** The first that are due name the tenants, as in core/db/due.ts: with more of them, each lane is looked at. */
function allLanesDue(now: string): Sql {
  const isCut = sql`(select count(*) from first) = ${literal(limits.dueRowsLookedAtMax)}`;
  const those = sql`and m.tenant in (select tenant from first where not ${isCut} union all
    select tenant from accord.mail_lane where ${isCut})`;
  return sql`with first as materialized (select tenant from accord.mail_message where status = 'waiting' and next_at <= ${now}
      order by next_at limit ${literal(limits.dueRowsLookedAtMax)})
    ${lanesDue(now, those)}`;
}

const isDue = (now: string) => sql`status = 'waiting' and next_at <= ${now} and expires_at > ${now}`;

const TenantRow = Type.Object({ tenant: Type.String() });

/** Tenants that have a mail to send; in a system transaction. */
export async function tenantsDue(tx: Transaction, now: string): Promise<string[]> {
  const rows = await tx.many(TenantRow, sql`select tenant from (${mailLanes(() => now).due(undefined)}) as due`);
  return rows.map(({ tenant }) => tenant);
}

/** Mails of a tenant that are due, those first that are longest. @param except that are being sent */
export function readDue(
  tx: Transaction,
  tenant: string,
  { now, except, limit }: { now: string; except: readonly string[]; limit: number },
): Promise<WaitingRow[]> {
  return tx.many(
    WaitingRow,
    sql`select ${waitingColumns} from accord.mail_message m where tenant = ${tenant} and ${isDue(now)}
      and not id = any (${except}::uuid[]) order by next_at, id limit ${limit}`,
  );
}

const NextRow = Type.Object({ next_at: Nullable(Instant) });

/** When a mail of a tenant is due next; undefined: none waits. */
export async function nextDueAt(tx: Transaction, tenant: string, now: string): Promise<string | undefined> {
  const row = await tx.one(
    NextRow,
    sql`select min(next_at) as next_at from accord.mail_message
      where tenant = ${tenant} and status = 'waiting' and expires_at > ${now}`,
  );
  return row.next_at ?? undefined;
}

const Settled = Type.Object({
  id: Type.String(),
  template: Type.String(),
  recipient_mask: Type.String(),
  recipient_digest: Type.String(),
  status: Type.String(),
  reason: Nullable(Type.String()),
  answer: Nullable(Type.String()),
});
export type Settled = Static<typeof Settled>;
const settledColumns = sql`id, template, recipient_mask, recipient_digest, status, reason, answer`;

export type Outcome = { status: 'sent' | 'failed'; reason?: string | undefined; answer?: string | undefined };

/**
 * What they say is not needed any more.
 * @param which those that a lane sent: an attempt more; `expired`: those of the ids that were not sent in time
 */
export function settleMessages(
  tx: Transaction,
  tenant: string,
  outcomes: readonly (Outcome & { id: string })[],
  { now, which }: { now: string; which: 'attempted' | 'expired' },
): Promise<Settled[]> {
  const attempts = which === 'attempted' ? sql`m.attempts + 1` : sql`m.attempts`;
  const inTime = which === 'attempted' ? sql`` : sql`and m.expires_at <= ${now}`;
  const [ids, statuses] = [column.uuids(outcomes, ({ id }) => id), column.texts(outcomes, ({ status }) => status)];
  const reasons = column.texts(outcomes, ({ reason }) => reason ?? null);
  const answers = column.texts(outcomes, ({ answer }) => answer ?? null);
  return tx.many(
    Settled,
    sql`update accord.mail_message m set status = u.status, reason = u.reason, answer = u.answer, attempts = ${attempts},
        settled_at = ${now}, content_encrypted = null
      from unnest(${ids}, ${statuses}, ${reasons}, ${answers}) as u (id, status, reason, answer)
      where m.tenant = ${tenant} and m.id = u.id and m.status = 'waiting' ${inTime}
      returning m.id, m.template, m.recipient_mask, m.recipient_digest, m.status, m.reason, m.answer`,
  );
}

type Postponed = { id: string; nextAt: string; answer: string };

/** An attempt more, and another one later. */
export async function postponeMessages(tx: Transaction, tenant: string, later: readonly Postponed[]): Promise<void> {
  const [ids, nextAts] = [column.uuids(later, ({ id }) => id), column.instants(later, ({ nextAt }) => nextAt)];
  const answers = column.texts(later, ({ answer }) => answer);
  await tx.run(
    sql`update accord.mail_message m set next_at = u.next_at, answer = u.answer, attempts = m.attempts + 1
      from unnest(${ids}, ${nextAts}, ${answers}) as u (id, next_at, answer)
      where m.tenant = ${tenant} and m.id = u.id and m.status = 'waiting'`,
  );
}

/** A message that was sent came back. @returns undefined unless it had been sent */
export function bounceMessage(
  tx: Transaction,
  tenant: string,
  id: string,
  reason: string,
): Promise<Settled | undefined> {
  return tx.maybe(
    Settled,
    sql`update accord.mail_message set status = 'failed', reason = ${reason}
      where tenant = ${tenant} and id = ${id} and status = 'sent' returning ${settledColumns}`,
  );
}

/** Some messages of all tenants that wait, oldest first and locked; in a system transaction. */
export function lockWaiting(tx: Transaction, now: string, limit: number): Promise<WaitingRow[]> {
  return tx.many(
    WaitingRow,
    sql`select ${waitingColumns} from accord.mail_message m
      where status = 'waiting' and expires_at > ${now} order by created_at, tenant, id limit ${limit} for update skip locked`,
  );
}

const Expired = Type.Object({ tenant: Type.String(), id: Type.String() });

/** They were written to the local outbox. */
export async function settleWritten(tx: Transaction, rows: readonly WaitingRow[], now: string): Promise<void> {
  await tx.run(sql`
    update accord.mail_message m set status = 'sent', content_encrypted = null, settled_at = ${now}, attempts = m.attempts + 1
    from unnest(${column.texts(rows, (row) => row.tenant)}, ${column.uuids(rows, (row) => row.id)}) as u (tenant, id)
    where m.tenant = u.tenant and m.id = u.id`);
}

/**
 * Some messages of all tenants that were not sent in time; in a system transaction.
 * @param certainly those that expired before it are none that a lane has under way; others may be, while a server owns it
 */
export function findExpired(
  tx: Transaction,
  { now, certainly, limit }: { now: string; certainly: string; limit: number },
): Promise<Static<typeof Expired>[]> {
  return tx.many(
    Expired,
    sql`select tenant, id from accord.mail_message m where status = 'waiting' and expires_at <= ${now}
        and (expires_at <= ${certainly} or not exists (
          select from accord.mail_lane l where l.tenant = m.tenant and l.owner is not null and l.owned_until > now()))
      order by expires_at, tenant, id limit ${literal(limit)}`,
  );
}

const WaitingSince = Type.Object({
  count: Type.Integer(),
  oldest: Nullable(Instant),
  answer: Nullable(Type.String()),
});

/** Messages of all tenants that wait since before an instant, and the last answer to the oldest; in a system transaction. */
export function countWaiting(tx: Transaction, before: string): Promise<Static<typeof WaitingSince>> {
  return tx.one(
    WaitingSince,
    sql`select count(*)::int as count, min(created_at) as oldest, (array_agg(answer order by created_at, tenant, id))[1] as answer
      from accord.mail_message where status = 'waiting' and created_at < ${before}`,
  );
}

/** Removes some messages of all tenants that were kept long enough; in a system transaction. @returns how many */
export function removeOld(tx: Transaction, now: string, limit: number): Promise<number> {
  return removeDue(tx, ['mail_message', 'kept_until'], now, limit);
}

/** Removes some messages to addresses, and what suppresses them. @returns how many messages */
export async function removeToRecipients(tx: Transaction, tenant: string, digests: readonly string[]): Promise<number> {
  await tx.run(
    sql`delete from accord.mail_suppression where tenant = ${tenant} and recipient_digest = any (${digests}::text[])`,
  );
  return tx.run(sql`delete from accord.mail_message where tenant = ${tenant} and id = any (array(
    select id from accord.mail_message where tenant = ${tenant} and recipient_digest = any (${digests}::text[])
    limit ${limits.erasePageItemsMax}))`);
}

const MessageRow = Type.Object({
  ...{ id: Type.String(), template: Type.String(), language: Nullable(Type.String()), recipient_mask: Type.String() },
  ...{ status: Type.Union([Type.Literal('waiting'), Type.Literal('sent'), Type.Literal('failed')]) },
  ...{ reason: Nullable(Type.String()), answer: Nullable(Type.String()), attempts: Type.Integer() },
  ...{ next_at: Instant, created_at: Instant, expires_at: Instant, settled_at: Nullable(Instant) },
});
export type MessageRow = Static<typeof MessageRow>;
const messageColumns = sql`id, template, language, recipient_mask, status, reason, answer, attempts, next_at, created_at,
  expires_at, settled_at`;

export function readMessage(tx: Transaction, tenant: string, id: string): Promise<MessageRow | undefined> {
  return tx.maybe(
    MessageRow,
    sql`select ${messageColumns} from accord.mail_message where tenant = ${tenant} and id = ${id}`,
  );
}

const OutcomeRow = Type.Object({
  id: Type.String(),
  status: MessageRow.properties.status,
  reason: Nullable(Type.String()),
});

/** What became of messages, by their ids; those that are removed are left out. */
export async function readMailOutcomes(
  tx: Transaction,
  tenant: string,
  ids: readonly string[],
): Promise<Map<string, Static<typeof OutcomeRow>>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.many(
    OutcomeRow,
    sql`select id, status, reason from accord.mail_message
      where tenant = ${tenant} and id = any (${ids}::uuid[])`,
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** The newest first. @param before the last one of the page before */
export function listMessages(
  tx: Transaction,
  tenant: string,
  { before, limit }: { before?: { at: string; id: string } | undefined; limit: number },
): Promise<MessageRow[]> {
  return tx.many(
    MessageRow,
    sql`select ${messageColumns} from accord.mail_message where tenant = ${tenant}
      ${before === undefined ? sql`` : sql`and (created_at, id) < (${before.at}, ${before.id}::uuid)`}
      order by created_at desc, id desc limit ${limit}`,
  );
}
