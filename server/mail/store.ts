/** All SQL of messages and suppressed addresses. */
import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Bytes, Instant, Nullable } from '../core/db/rows.ts';
import { column, sql } from '../core/db/sql.ts';
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

type Claim = {
  owner: string;
  now: string;
  ownedUntil: string;
  except: readonly string[];
  after: string;
  limit: number;
};

/**
 * Makes messages that are due the owner's until an instant, some of each tenant: those behind `after` come first. In a system
 * transaction. Tenants are found by skipping through the index, so that one with many messages costs as much as one with few.
 */
export async function claimDue(tx: Transaction, claim: Claim): Promise<WaitingRow[]> {
  const { owner, now, ownedUntil, except, after, limit } = claim;
  const rows = await tx.many(
    WaitingRow,
    sql`with recursive waiting (tenant) as (
        (select tenant from accord.mail_message where status = 'waiting' order by tenant limit 1)
        union all
        select (select m.tenant from accord.mail_message m where m.status = 'waiting' and m.tenant > w.tenant
          order by m.tenant limit 1) from waiting w where w.tenant is not null)
      select ${waitingColumns} from waiting w cross join lateral (
        select * from accord.mail_message
        where tenant = w.tenant and status = 'waiting' and next_at <= ${now} and expires_at > ${now}
        order by next_at limit ${limits.mailsSendingPerTenantMax} for update skip locked) m
      where w.tenant <> all (${except}::text[])
      order by (w.tenant <= ${after}), w.tenant limit ${limit}`,
  );
  if (rows.length === 0) return [];
  await tx.run(sql`
    update accord.mail_message m set owner = ${owner}, next_at = ${ownedUntil}, attempts = m.attempts + 1
    from unnest(${column.texts(rows, (row) => row.tenant)}, ${column.uuids(rows, (row) => row.id)}) as u (tenant, id)
    where m.tenant = u.tenant and m.id = u.id`);
  return rows.map((row) => ({ ...row, attempts: row.attempts + 1 }));
}

type Attempt = { id: string; owner: string; attempts: number };

/** The fence: undefined when another server has taken the message meanwhile, or it is gone. */
const mine = (tenant: string, { id, owner, attempts }: Attempt) =>
  sql`tenant = ${tenant} and id = ${id} and status = 'waiting' and owner = ${owner} and attempts = ${attempts}`;

const Settled = Type.Object({
  id: Type.String(),
  template: Type.String(),
  recipient_mask: Type.String(),
  recipient_digest: Type.String(),
});
export type Settled = Static<typeof Settled>;
const settledColumns = sql`id, template, recipient_mask, recipient_digest`;

export type Outcome = { status: 'sent' | 'failed'; reason?: string | undefined; answer?: string | undefined };

/** What it says is not needed any more. @param attempt absent: whoever owns it, of those that expired */
export function settleMessage(
  tx: Transaction,
  tenant: string,
  attempt: Attempt | { id: string },
  { status, reason, answer }: Outcome,
  now: string,
): Promise<Settled | undefined> {
  const which =
    'owner' in attempt
      ? mine(tenant, attempt)
      : sql`tenant = ${tenant} and id = ${attempt.id} and status = 'waiting' and expires_at <= ${now}`;
  return tx.maybe(
    Settled,
    sql`update accord.mail_message set status = ${status}, reason = ${reason ?? null}, answer = ${answer ?? null},
      settled_at = ${now}, content_encrypted = null where ${which} returning ${settledColumns}`,
  );
}

export async function postponeMessage(
  tx: Transaction,
  tenant: string,
  attempt: Attempt,
  { nextAt, answer }: { nextAt: string; answer: string },
): Promise<void> {
  await tx.run(
    sql`update accord.mail_message set next_at = ${nextAt}, answer = ${answer} where ${mine(tenant, attempt)}`,
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
      where status = 'waiting' and expires_at > ${now} order by created_at limit ${limit} for update skip locked`,
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

/** Some messages of all tenants that were not sent in time; in a system transaction. */
export function findExpired(tx: Transaction, now: string, limit: number): Promise<Static<typeof Expired>[]> {
  return tx.many(
    Expired,
    sql`select tenant, id from accord.mail_message where status = 'waiting' and expires_at <= ${now}
      order by expires_at limit ${limit}`,
  );
}

/** Removes some messages of all tenants that were kept long enough; in a system transaction. @returns how many */
export function removeOld(tx: Transaction, now: string, limit: number): Promise<number> {
  return tx.run(sql`delete from accord.mail_message m using (
      select tenant, id from accord.mail_message where kept_until <= ${now} limit ${limit} for update skip locked) as gone
    where m.tenant = gone.tenant and m.id = gone.id`);
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

const SuppressionRow = Type.Object({
  ...{ recipient_digest: Type.String(), recipient_mask: Nullable(Type.String()) },
  ...{
    reason: Type.Union([Type.Literal('bounced'), Type.Literal('complained'), Type.Literal('unsubscribed')]),
    at: Instant,
  },
});
export type SuppressionRow = Static<typeof SuppressionRow>;
const suppressionColumns = sql`recipient_digest, recipient_mask, reason, at`;

/** One that is suppressed for a graver reason stays so. */
export async function insertSuppression(tx: Transaction, tenant: string, one: SuppressionRow): Promise<void> {
  await tx.run(sql`
    insert into accord.mail_suppression (tenant, recipient_digest, recipient_mask, reason, at)
    values (${tenant}, ${one.recipient_digest}, ${one.recipient_mask}, ${one.reason}, ${one.at})
    on conflict (tenant, recipient_digest) do update set reason = excluded.reason,
      recipient_mask = coalesce(excluded.recipient_mask, mail_suppression.recipient_mask), at = excluded.at
    where mail_suppression.reason = 'unsubscribed'`);
}

export function readSuppression(tx: Transaction, tenant: string, digest: string): Promise<SuppressionRow | undefined> {
  return tx.maybe(
    SuppressionRow,
    sql`select ${suppressionColumns} from accord.mail_suppression where tenant = ${tenant} and recipient_digest = ${digest}`,
  );
}

/** By digest. */
export function listSuppressions(
  tx: Transaction,
  tenant: string,
  after: string,
  limit: number,
): Promise<SuppressionRow[]> {
  return tx.many(
    SuppressionRow,
    sql`select ${suppressionColumns} from accord.mail_suppression where tenant = ${tenant}
      and recipient_digest collate "C" > ${after} order by recipient_digest collate "C" limit ${limit}`,
  );
}

export function removeSuppression(tx: Transaction, tenant: string, digest: string): Promise<number> {
  return tx.run(sql`delete from accord.mail_suppression where tenant = ${tenant} and recipient_digest = ${digest}`);
}
