/** All SQL of the invitations room. `now` is RFC 3339: a pending one whose expires_at is not after it has expired. */
import { type Static, Type } from 'typebox';
import type { Actor } from '../core/auth/schema.ts';
import type { Transaction } from '../core/db/database.ts';
import { Instant } from '../core/db/rows.ts';
import { literal, none, type Sql, sql } from '../core/db/sql.ts';
import { limits } from '../core/limits.ts';
import type { Entity } from '../relationships/index.ts';
import { AcceptedRow, DeliveryRow, InvitationRow, type NewInvitation, type Status } from './schema.ts';

const columns = sql`id, status, from_type, name, to_type, direction, target_type, target_id, invitor_type, invitor_id,
  by_tenant, contact_type, contact_digest, contact_mask, contact_encrypted, binding, language, redirect_uri, delivery,
  deliveries, delivered_at, token_id, max_uses, uses, expires_at, relationship_expires_at, created_at, ended_by`;

const NewId = Type.Object({ id: Type.String() });

/** An id for an invitation: later ones are greater. */
export async function newInvitationId(tx: Transaction): Promise<string> {
  return (await tx.one(NewId, sql`select uuidv7() as id`)).id;
}

export function insertInvitation(tx: Transaction, tenant: string, one: NewInvitation): Promise<InvitationRow> {
  return tx.one(
    InvitationRow,
    sql`insert into accord.invitation (tenant, id, status, from_type, name, to_type, direction, target_type, target_id,
        invitor_type, invitor_id, by_tenant, contact_type, contact_digest, contact_mask, contact_encrypted, binding,
        language, redirect_uri, delivery, delivered_at, token_id, max_uses, expires_at, relationship_expires_at, created_at)
      values (${tenant}, ${one.id}, 'pending', ${one.from_type}, ${one.name}, ${one.to_type}, ${one.direction},
        ${one.target_type}, ${one.target_id}, ${one.invitor_type}, ${one.invitor_id}, ${one.by_tenant},
        ${one.contact_type}, ${one.contact_digest}, ${one.contact_mask}, ${one.contact_encrypted}, ${one.binding},
        ${one.language}, ${one.redirect_uri}, ${one.delivery}, ${one.created_at}, ${one.token_id}, ${one.max_uses}, ${one.expires_at},
        ${one.relationship_expires_at}, ${one.created_at})
      returning ${columns}`,
  );
}

/** @param forUpdate until the end of the transaction nobody else changes it */
export function readInvitation(
  tx: Transaction,
  tenant: string,
  id: string,
  forUpdate = false,
): Promise<InvitationRow | undefined> {
  return tx.maybe(
    InvitationRow,
    sql`select ${columns} from accord.invitation where tenant = ${tenant} and id = ${id} ${forUpdate ? sql`for update` : none}`,
  );
}

const CreatedRow = Type.Object({ created_at: Instant });

/** When the invitation was made that is the `nth` newest of a user's own, RFC 3339; undefined: it has made fewer. */
export async function createdAtOfNth(tx: Transaction, tenant: string, invitor: Actor, nth: number) {
  const row = await tx.maybe(
    CreatedRow,
    sql`select created_at from accord.invitation where tenant = ${tenant} and invitor_type = ${invitor.type}
      and invitor_id = ${invitor.id} and not by_tenant order by id desc offset ${nth - 1} limit 1`,
  );
  return row?.created_at;
}

export type InvitationFilter = {
  status?: Status;
  toType?: string;
  toId?: string;
  invitor?: Entity;
  contactDigest?: string;
};

/** Newest first, before an id. */
export function listInvitations(
  tx: Transaction,
  tenant: string,
  filter: InvitationFilter,
  page: { before?: string; limit: number; now: string },
): Promise<InvitationRow[]> {
  const { status, toType, toId, invitor, contactDigest } = filter;
  const inState =
    status === 'pending' || status === 'expired'
      ? sql`and status = 'pending' and expires_at ${status === 'pending' ? sql`>` : sql`<=`} ${page.now}`
      : status === undefined
        ? none
        : sql`and status = ${status}`;
  return tx.many(
    InvitationRow,
    sql`select ${columns} from accord.invitation where tenant = ${tenant} ${inState}
      ${toType === undefined ? none : sql`and target_type = ${toType}`}
      ${toId === undefined ? none : sql`and target_id = ${toId}`}
      ${invitor === undefined ? none : sql`and invitor_type = ${invitor.type} and invitor_id = ${invitor.id}`}
      ${contactDigest === undefined ? none : sql`and contact_digest = ${contactDigest}`}
      ${page.before === undefined ? none : sql`and id < ${page.before}`} order by id desc limit ${page.limit}`,
  );
}

const Found = Type.Object({ found: Type.Boolean() });

export async function isAcceptedBy(tx: Transaction, tenant: string, id: string, acceptor: Entity): Promise<boolean> {
  const row = await tx.one(
    Found,
    sql`select exists (select from accord.invitation_use where tenant = ${tenant} and invitation = ${id}
      and acceptor_type = ${acceptor.type} and acceptor_id = ${acceptor.id}) as found`,
  );
  return row.found;
}

/** What others accepted of an invitor, or what an acceptor accepted, newest first. */
export function listAccepted(
  tx: Transaction,
  tenant: string,
  of: { invitor: Entity } | { acceptor: Entity },
  limit: number,
): Promise<AcceptedRow[]> {
  const theirs =
    'invitor' in of
      ? sql`invitor_type = ${of.invitor.type} and invitor_id = ${of.invitor.id}`
      : sql`acceptor_type = ${of.acceptor.type} and acceptor_id = ${of.acceptor.id}`;
  return tx.many(
    AcceptedRow,
    sql`select ${columns}, acceptor_type, acceptor_id, accepted_at from accord.invitation i
      join accord.invitation_use u on u.tenant = i.tenant and u.invitation = i.id
      where i.tenant = ${tenant} and ${theirs}
      order by accepted_at desc, id, acceptor_type, acceptor_id limit ${limit}`,
  );
}

/** Counts an acceptance of a locked invitation; the last one ends it. */
export async function recordUse(
  tx: Transaction,
  tenant: string,
  id: string,
  { acceptor, by, now }: { acceptor: Entity; by: string; now: string },
): Promise<void> {
  await tx.run(sql`insert into accord.invitation_use (tenant, invitation, acceptor_type, acceptor_id, accepted_at)
    values (${tenant}, ${id}, ${acceptor.type}, ${acceptor.id}, ${now})`);
  await tx.run(sql`
    update accord.invitation set uses = uses + 1,
      status = case when uses + 1 = max_uses then 'accepted' else status end,
      ended_at = case when uses + 1 = max_uses then ${now}::timestamptz end,
      ended_by = case when uses + 1 = max_uses then ${by}::text end,
      contact_encrypted = case when uses + 1 = max_uses then null else contact_encrypted end
    where tenant = ${tenant} and id = ${id}`);
}

/** Ends a locked invitation. */
export async function endInvitation(
  tx: Transaction,
  tenant: string,
  id: string,
  end: { status: 'declined' | 'revoked'; by: string; now: string },
): Promise<void> {
  await tx.run(sql`
    update accord.invitation set status = ${end.status}, ended_at = ${end.now}, ended_by = ${end.by}, contact_encrypted = null
    where tenant = ${tenant} and id = ${id}`);
}

const Ended = Type.Object({ id: Type.String(), target_type: Type.String(), target_id: Type.String() });

/** Revokes all pending ones to an entity, or of an entity that invited. @returns which */
export function revokePending(
  tx: Transaction,
  tenant: string,
  { type, id }: Entity,
  { by: actor, now }: { by: string; now: string },
): Promise<Static<typeof Ended>[]> {
  return tx.many(
    Ended,
    sql`
    update accord.invitation set status = 'revoked', ended_at = ${now}, ended_by = ${actor}, contact_encrypted = null
    where tenant = ${tenant} and status = 'pending' and expires_at > ${now}
      and ((target_type = ${type} and target_id = ${id}) or (invitor_type = ${type} and invitor_id = ${id}))
    returning id, target_type, target_id`,
  );
}

/** Gives a locked invitation another token: the one before it is void. */
export function replaceToken(
  tx: Transaction,
  tenant: string,
  id: string,
  { tokenId, now }: { tokenId: string; now: string },
): Promise<InvitationRow> {
  return tx.one(
    InvitationRow,
    sql`update accord.invitation set token_id = ${tokenId}, deliveries = deliveries + 1, delivered_at = ${now}
      where tenant = ${tenant} and id = ${id} returning ${columns}`,
  );
}

/** Records that the newest token is to travel. What travels in the response has arrived. @param message the mail */
export async function recordDelivery(
  tx: Transaction,
  tenant: string,
  row: InvitationRow,
  message: string | undefined,
): Promise<void> {
  const status = row.delivery === 'response' ? 'delivered' : 'recorded';
  await tx.run(sql`
    insert into accord.invitation_delivery (tenant, invitation, number, kind, status, token_id, recorded_at,
      message)
    values (${tenant}, ${row.id}, ${row.deliveries}, ${row.delivery}, ${status}, ${row.token_id}, ${row.delivered_at},
      ${message ?? null})`);
}

export function listDeliveries(tx: Transaction, tenant: string, id: string) {
  return tx.many(
    DeliveryRow,
    sql`select kind, status, recorded_at, message from accord.invitation_delivery
      where tenant = ${tenant} and invitation = ${id} order by number`,
  );
}

/** Wipes the contacts of some invitations that have expired: nothing is delivered to them any more. */
export function wipeExpired(tx: Transaction, tenant: string, now: string, limit: number): Promise<number> {
  // An array: a subquery of the update may be run again for each row, and each time lock other ones.
  return tx.run(sql`
    update accord.invitation set contact_encrypted = null where ctid = any(array(
      select ctid from accord.invitation where tenant = ${tenant} and contact_encrypted is not null and expires_at <= ${now}
      order by expires_at limit ${literal(limit)} for update skip locked))`);
}

/** `more`: there may be more of them. */
type Some = { count: number; more: boolean };

async function removeSome(tx: Transaction, tenant: string, those: Sql): Promise<Some> {
  const most = limits.erasePageItemsMax;
  const count = await tx.run(sql`delete from accord.invitation where tenant = ${tenant}
    and id in (select id from accord.invitation where tenant = ${tenant} and ${those} limit ${most})`);
  return { count, more: count === most };
}

/** Removes some of those that an actor made, or that lead to it. */
export async function removeSent(tx: Transaction, tenant: string, { type, id }: Entity): Promise<Some> {
  const made = await removeSome(tx, tenant, sql`invitor_type = ${type} and invitor_id = ${id}`);
  const leading = await removeSome(tx, tenant, sql`target_type = ${type} and target_id = ${id}`);
  return { count: made.count + leading.count, more: made.more || leading.more };
}

/** Removes some acceptances of an actor, and with them the invitations that were for one. */
export async function removeAcceptances(tx: Transaction, tenant: string, { type, id }: Entity): Promise<Some> {
  const most = limits.erasePageItemsMax;
  const mine = sql`tenant = ${tenant} and acceptor_type = ${type} and acceptor_id = ${id}`;
  const uses = await tx.many(UseRow, sql`select invitation from accord.invitation_use where ${mine} limit ${most}`);
  const invitations = uses.map((use) => use.invitation);
  await tx.run(sql`delete from accord.invitation_use where ${mine} and invitation = any (${invitations}::uuid[])`);
  await tx.run(sql`delete from accord.invitation
    where tenant = ${tenant} and max_uses = 1 and id = any (${invitations}::uuid[])`);
  return { count: uses.length, more: uses.length === most };
}

const UseRow = Type.Object({ invitation: Type.String() });

/** Removes some of those that somebody of this name declined. */
export function removeEndedBy(tx: Transaction, tenant: string, name: string): Promise<Some> {
  return removeSome(tx, tenant, sql`ended_by = ${name} and status = 'declined'`);
}

/** Some of those that are left and that somebody of this name ended get another name. */
export async function renameEndedBy(tx: Transaction, tenant: string, name: string, other: string): Promise<Some> {
  const most = limits.erasePageItemsMax;
  const count = await tx.run(sql`update accord.invitation set ended_by = ${other} where tenant = ${tenant}
    and id in (select id from accord.invitation where tenant = ${tenant} and ended_by = ${name} limit ${most})`);
  return { count, more: count === most };
}

/** Removes some of those to addresses; of those that more than one may use, only the address. */
export async function removeToContacts(tx: Transaction, tenant: string, digests: readonly string[]): Promise<Some> {
  if (digests.length === 0) return { count: 0, more: false };
  const most = limits.erasePageItemsMax;
  const theirs = sql`contact_digest = any (${digests}::text[])`;
  const removed = await removeSome(tx, tenant, sql`${theirs} and max_uses = 1`);
  const wiped = await tx.run(sql`
    update accord.invitation set contact_digest = '', contact_mask = '***', contact_encrypted = null where tenant = ${tenant}
      and id in (select id from accord.invitation where tenant = ${tenant} and ${theirs} and max_uses > 1 limit ${most})`);
  return { count: removed.count + wiped, more: removed.more || wiped === most };
}
