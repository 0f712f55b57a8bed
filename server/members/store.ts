import { Type } from 'typebox';
import type { Role } from '../core/auth/schema.ts';
import type { Transaction } from '../core/db/database.ts';
import { none, sql } from '../core/db/sql.ts';
import { MemberRow, PortalTokenRow } from './schema.ts';

const members = sql`select id, email, role, created_at from accord.member`;

/** Members by e-mail address in byte order. */
export function listMembers(
  tx: Transaction,
  tenant: string,
  page: { after?: string; limit: number },
): Promise<MemberRow[]> {
  return tx.many(
    MemberRow,
    sql`${members} where tenant = ${tenant}
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

export function readMember(tx: Transaction, tenant: string, id: string): Promise<MemberRow | undefined> {
  return tx.maybe(MemberRow, sql`${members} where tenant = ${tenant} and id = ${id}`);
}

/** @param email as members' addresses are kept */
export function readMemberByEmail(tx: Transaction, tenant: string, email: string): Promise<MemberRow | undefined> {
  return tx.maybe(MemberRow, sql`${members} where tenant = ${tenant} and email = ${email}`);
}

/** Says whose log-in at the portal the member is. */
export async function bindMember(tx: Transaction, tenant: string, id: string, person: string): Promise<void> {
  await tx.run(sql`update accord.member set person = ${person} where tenant = ${tenant} and id = ${id}`);
}

export function readMemberOfPerson(tx: Transaction, tenant: string, person: string): Promise<MemberRow | undefined> {
  return tx.maybe(MemberRow, sql`${members} where tenant = ${tenant} and person = ${person}`);
}

export const MemberId = Type.Object({ id: Type.String(), email: Type.String() });

/** The tenant's security-admins, none of whom anybody else removes or demotes until the end of the transaction. */
export function lockAdmins(tx: Transaction, tenant: string) {
  return tx.many(
    MemberId,
    sql`select id, email from accord.member where tenant = ${tenant} and role = 'security-admin' order by id for update`,
  );
}

/** Removes a member, with the portal tokens. @returns how many: 0 when there is none */
export function deleteMember(tx: Transaction, tenant: string, id: string): Promise<number> {
  return tx.run(sql`delete from accord.member where tenant = ${tenant} and id = ${id}`);
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

const tokens = sql`select t.jti, t.member, m.email, m.role, t.created_at, t.expires_at, t.revoked_at
  from accord.portal_token t join accord.member m on m.tenant = t.tenant and m.id = t.member`;

/** Tokens that have not expired, newest first; only one member's when `member` is given. */
export function listPortalTokens(
  tx: Transaction,
  tenant: string,
  page: { member?: string; before?: string; limit: number; now: string },
): Promise<PortalTokenRow[]> {
  return tx.many(
    PortalTokenRow,
    sql`${tokens} where t.tenant = ${tenant} and t.expires_at > ${page.now}
      ${page.member === undefined ? none : sql`and t.member = ${page.member}`}
      ${page.before === undefined ? none : sql`and t.jti < ${page.before}::uuid`}
      order by t.jti desc limit ${page.limit}`,
  );
}

/** The token, locked until the transaction ends. */
export function lockPortalToken(tx: Transaction, tenant: string, jti: string): Promise<PortalTokenRow | undefined> {
  return tx.maybe(PortalTokenRow, sql`${tokens} where t.tenant = ${tenant} and t.jti = ${jti} for update of t`);
}

export async function revokePortalToken(tx: Transaction, tenant: string, jti: string, now: string): Promise<void> {
  await tx.run(sql`update accord.portal_token set revoked_at = ${now} where tenant = ${tenant} and jti = ${jti}`);
}
