/** All SQL of the members room. */
import { Type } from 'typebox';
import type { Role } from '../core/auth/schema.ts';
import type { Transaction } from '../core/db/database.ts';
import { Count } from '../core/db/rows.ts';
import { sql } from '../core/db/sql.ts';
import { InvitationRow, MemberRow, PortalTokenRow } from './schema.ts';

const none = sql``;

/** Members by e-mail address in byte order. */
export function listMembers(
  tx: Transaction,
  tenant: string,
  page: { after?: string; limit: number },
): Promise<MemberRow[]> {
  return tx.many(
    MemberRow,
    sql`select id, email, role, created_at from accord.member where tenant = ${tenant}
      ${page.after === undefined ? none : sql`and email collate "C" > ${page.after}`}
      order by email collate "C" limit ${page.limit}`,
  );
}

/** Makes the member, or gives the one of this address the role. */
export function upsertMember(tx: Transaction, tenant: string, email: string, role: Role): Promise<MemberRow> {
  return tx.one(
    MemberRow,
    sql`insert into accord.member (tenant, email, role) values (${tenant}, ${email}, ${role})
      on conflict (tenant, email) do update set role = excluded.role returning id, email, role, created_at`,
  );
}

/** Makes the member; the one of this address stays as it is. */
export async function insertMember(tx: Transaction, tenant: string, email: string, role: Role): Promise<void> {
  await tx.run(sql`insert into accord.member (tenant, email, role) values (${tenant}, ${email}, ${role})
    on conflict (tenant, email) do nothing`);
}

const Minted = Type.Object({ jti: Type.String() });

/** Adds a portal token and forgets the tenant's expired ones. The jti is a version 7 UUID: tokens sort by age. */
export async function insertPortalToken(
  tx: Transaction,
  tenant: string,
  token: { member: string; now: string; expiresAt: string },
): Promise<string> {
  await tx.run(sql`delete from accord.portal_token where tenant = ${tenant} and expires_at <= ${token.now}`);
  const row = await tx.one(
    Minted,
    sql`insert into accord.portal_token (tenant, jti, member, created_at, expires_at)
      values (${tenant}, uuidv7(), ${token.member}, ${token.now}, ${token.expiresAt}) returning jti`,
  );
  return row.jti;
}

/** The member behind a token that is in force now, with the role that the member has now. */
export function readTokenMember(
  tx: Transaction,
  tenant: string,
  jti: string,
  now: string,
): Promise<MemberRow | undefined> {
  return tx.maybe(
    MemberRow,
    sql`select m.id, m.email, m.role, m.created_at from accord.portal_token t
      join accord.member m on m.tenant = t.tenant and m.id = t.member
      where t.tenant = ${tenant} and t.jti = ${jti} and t.revoked_at is null and t.expires_at > ${now}`,
  );
}

const tokenColumns = sql`t.jti, t.member, m.email, m.role, t.created_at, t.expires_at, t.revoked_at`;

/** Tokens that have not expired, newest first; only one member's when `member` is given. */
export function listPortalTokens(
  tx: Transaction,
  tenant: string,
  page: { member?: string; before?: string; limit: number; now: string },
): Promise<PortalTokenRow[]> {
  return tx.many(
    PortalTokenRow,
    sql`select ${tokenColumns} from accord.portal_token t
      join accord.member m on m.tenant = t.tenant and m.id = t.member
      where t.tenant = ${tenant} and t.expires_at > ${page.now}
      ${page.member === undefined ? none : sql`and t.member = ${page.member}`}
      ${page.before === undefined ? none : sql`and t.jti < ${page.before}::uuid`}
      order by t.jti desc limit ${page.limit}`,
  );
}

/** The token, locked until the transaction ends. */
export function lockPortalToken(tx: Transaction, tenant: string, jti: string): Promise<PortalTokenRow | undefined> {
  return tx.maybe(
    PortalTokenRow,
    sql`select ${tokenColumns} from accord.portal_token t
      join accord.member m on m.tenant = t.tenant and m.id = t.member
      where t.tenant = ${tenant} and t.jti = ${jti} for update of t`,
  );
}

export async function revokePortalToken(tx: Transaction, tenant: string, jti: string, now: string): Promise<void> {
  await tx.run(sql`update accord.portal_token set revoked_at = ${now} where tenant = ${tenant} and jti = ${jti}`);
}

const invitationColumns = sql`id, email, role, of_manifest, created_at, created_by, expires_at, reported_at, used_at, withdrawn_at`;
const open = sql`used_at is null and withdrawn_at is null`;

export type NewInvitation = {
  email: string;
  role: Role;
  tokenHash: Buffer;
  ofManifest: boolean;
  by: string;
  now: string;
  expiresAt: string;
};

/** @returns undefined when the address has an open invitation */
export function insertInvitation(
  tx: Transaction,
  tenant: string,
  { email, role, tokenHash, ofManifest, by, now, expiresAt }: NewInvitation,
): Promise<InvitationRow | undefined> {
  return tx.maybe(
    InvitationRow,
    sql`insert into accord.member_invitation (tenant, email, role, token_hash, of_manifest, created_at, created_by, expires_at)
      values (${tenant}, ${email}, ${role}, ${tokenHash}, ${ofManifest}, ${now}, ${by}, ${expiresAt})
      on conflict (tenant, email) where ${open} do nothing returning ${invitationColumns}`,
  );
}

/** Closes what is open and has expired, so that the address may be invited again. */
export async function withdrawExpired(tx: Transaction, tenant: string, email: string, now: string): Promise<void> {
  await tx.run(sql`update accord.member_invitation set withdrawn_at = expires_at
    where tenant = ${tenant} and email = ${email} and ${open} and expires_at <= ${now}`);
}

/** Newest first. */
export function listInvitations(
  tx: Transaction,
  tenant: string,
  page: { before?: string; limit: number },
): Promise<InvitationRow[]> {
  return tx.many(
    InvitationRow,
    sql`select ${invitationColumns} from accord.member_invitation where tenant = ${tenant}
      ${page.before === undefined ? sql`` : sql`and id < ${page.before}::uuid`}
      order by id desc limit ${page.limit}`,
  );
}

/** All that the Tenant's manifest ever asked for, oldest first. */
export function readManifestInvitations(tx: Transaction, tenant: string): Promise<InvitationRow[]> {
  return tx.many(
    InvitationRow,
    sql`select ${invitationColumns} from accord.member_invitation where tenant = ${tenant} and of_manifest order by id`,
  );
}

/**
 * Forgets those of a manifest's invitations that were handed over, may still be used, and are for none of these people.
 * @returns what they were
 */
export function deleteUnwanted(
  tx: Transaction,
  tenant: string,
  wanted: readonly { email: string; role: string }[],
): Promise<InvitationRow[]> {
  return tx.many(
    InvitationRow,
    sql`delete from accord.member_invitation
      where tenant = ${tenant} and of_manifest and reported_at is not null and used_at is null and withdrawn_at is null
        and (email, role) not in (
          select w.email, w.role from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) as w (email text, role text))
      returning ${invitationColumns}`,
  );
}

const KnownAddress = Type.Object({ email: Type.String(), role: Type.String(), member: Type.Boolean() });

/** Whether anybody of these addresses was invited before, or is a member. */
export function readKnownAddresses(tx: Transaction, tenant: string, emails: readonly string[]) {
  return tx.many(
    KnownAddress,
    sql`select email, role, true as member from accord.member where tenant = ${tenant} and email = any (${emails})
      union all select email, role, false from accord.member_invitation
      where tenant = ${tenant} and email = any (${emails})`,
  );
}

export async function countOpenInvitations(tx: Transaction, tenant: string, now: string): Promise<number> {
  const row = await tx.one(
    Count,
    sql`select count(*)::int as count from accord.member_invitation
      where tenant = ${tenant} and ${open} and expires_at > ${now}`,
  );
  return row.count;
}

/** Gives an invitation whose link nobody has seen another token. @returns undefined when there is none to give */
export function renewInvitation(
  tx: Transaction,
  tenant: string,
  id: string,
  { tokenHash, expiresAt }: { tokenHash: Buffer; expiresAt: string },
): Promise<InvitationRow | undefined> {
  return tx.maybe(
    InvitationRow,
    sql`update accord.member_invitation set token_hash = ${tokenHash}, expires_at = ${expiresAt}
      where tenant = ${tenant} and id = ${id} and reported_at is null and ${open} returning ${invitationColumns}`,
  );
}

export function markReported(
  tx: Transaction,
  tenant: string,
  id: string,
  now: string,
): Promise<InvitationRow | undefined> {
  return tx.maybe(
    InvitationRow,
    sql`update accord.member_invitation set reported_at = ${now}
      where tenant = ${tenant} and id = ${id} and reported_at is null returning ${invitationColumns}`,
  );
}

/** Uses an invitation up; of many at once, one gets it. */
export function spendInvitation(
  tx: Transaction,
  tenant: string,
  tokenHash: Buffer,
  now: string,
): Promise<InvitationRow | undefined> {
  return tx.maybe(
    InvitationRow,
    sql`update accord.member_invitation set used_at = ${now}
      where tenant = ${tenant} and token_hash = ${tokenHash} and ${open} and expires_at > ${now} returning ${invitationColumns}`,
  );
}

/** @returns undefined when there is no such invitation */
export function lockInvitation(tx: Transaction, tenant: string, id: string): Promise<InvitationRow | undefined> {
  return tx.maybe(
    InvitationRow,
    sql`select ${invitationColumns} from accord.member_invitation where tenant = ${tenant} and id = ${id} for update`,
  );
}

export async function withdrawInvitation(tx: Transaction, tenant: string, id: string, now: string): Promise<void> {
  await tx.run(sql`update accord.member_invitation set withdrawn_at = ${now} where tenant = ${tenant} and id = ${id}`);
}
