import { type Static, Type } from 'typebox';
import type { Role } from '../core/auth/schema.ts';
import type { Transaction } from '../core/db/database.ts';
import { Count, Json } from '../core/db/rows.ts';
import { type Sql, sql } from '../core/db/sql.ts';
import { MemberInvitationRow } from './schema.ts';
import { MemberId } from './store.ts';

const memberInvitationColumns = sql`id, email, role, of_manifest, created_at, created_by, expires_at, delivered_at, used_at, withdrawn_at`;
const open = sql`used_at is null and withdrawn_at is null`;

function changing(set: Sql, tenant: string, which: Sql): Sql {
  return sql`update accord.member_invitation set ${set} where tenant = ${tenant} and ${which} returning ${memberInvitationColumns}`;
}

type NewMemberInvitation = {
  email: string;
  role: Role;
  tokenHash: Buffer;
  ofManifest: boolean;
  by: string;
  now: string;
  expiresAt: string;
};

/** @returns undefined when the address has an open invitation */
export function insertMemberInvitation(
  tx: Transaction,
  tenant: string,
  { email, role, tokenHash, ofManifest, by, now, expiresAt }: NewMemberInvitation,
): Promise<MemberInvitationRow | undefined> {
  return tx.maybe(
    MemberInvitationRow,
    sql`insert into accord.member_invitation (tenant, email, role, token_hash, of_manifest, created_at, created_by, expires_at)
      values (${tenant}, ${email}, ${role}, ${tokenHash}, ${ofManifest}, ${now}, ${by}, ${expiresAt})
      on conflict (tenant, email) where ${open} do nothing returning ${memberInvitationColumns}`,
  );
}

/** Closes what is open, so that the address does not come in by it. @returns what was closed */
export function withdrawOpenMemberInvitations(
  tx: Transaction,
  tenant: string,
  email: string,
  now: string,
): Promise<MemberInvitationRow[]> {
  return tx.many(MemberInvitationRow, changing(sql`withdrawn_at = ${now}`, tenant, sql`email = ${email} and ${open}`));
}

/** Closes what is open and has expired, so that the address may be invited again. */
export async function withdrawExpired(tx: Transaction, tenant: string, email: string, now: string): Promise<void> {
  await tx.run(
    changing(sql`withdrawn_at = expires_at`, tenant, sql`email = ${email} and ${open} and expires_at <= ${now}`),
  );
}

/** Newest first. */
export function listMemberInvitations(
  tx: Transaction,
  tenant: string,
  page: { before?: string; limit: number },
): Promise<MemberInvitationRow[]> {
  return tx.many(
    MemberInvitationRow,
    sql`select ${memberInvitationColumns} from accord.member_invitation where tenant = ${tenant}
      ${page.before === undefined ? sql`` : sql`and id < ${page.before}::uuid`}
      order by id desc limit ${page.limit}`,
  );
}

/** All that the Tenant's manifest ever asked for, oldest first. */
export function readManifestMemberInvitations(tx: Transaction, tenant: string): Promise<MemberInvitationRow[]> {
  return tx.many(
    MemberInvitationRow,
    sql`select ${memberInvitationColumns} from accord.member_invitation where tenant = ${tenant} and of_manifest order by id`,
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
): Promise<MemberInvitationRow[]> {
  return tx.many(
    MemberInvitationRow,
    sql`delete from accord.member_invitation
      where tenant = ${tenant} and of_manifest and delivered_at is not null and used_at is null and withdrawn_at is null
        and (email, role) not in (
          select w.email, w.role from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) as w (email text, role text))
      returning ${memberInvitationColumns}`,
  );
}

/**
 * Removes the support desk accounts that a manifest asked for and does not any more, and forgets their invitations: asked
 * for again, they are made again.
 * @returns what was removed
 */
export function deleteUnwantedSupport(tx: Transaction, tenant: string, wanted: readonly string[]) {
  return tx.many(
    MemberId,
    sql`with unwanted as (
        delete from accord.member_invitation
        where tenant = ${tenant} and of_manifest and role = 'support' and email <> all (${wanted}) returning email)
      delete from accord.member m using unwanted
      where m.tenant = ${tenant} and m.role = 'support' and m.email = unwanted.email returning m.id, m.email`,
  );
}

const TenantAccess = Type.Object({ open: Type.Boolean(), links: Json<string[]>() });
export type TenantAccess = Static<typeof TenantAccess>;

/**
 * Whether anybody can enter the tenant: a member who used an invitation, or who holds one that can still be used. And where
 * the links are that were handed over for the manifest and can still be used.
 */
export function readTenantAccess(tx: Transaction, tenant: string, now: string): Promise<TenantAccess> {
  const usable = sql`i.tenant = ${tenant} and ${open} and i.expires_at > ${now}`;
  return tx.one(
    TenantAccess,
    sql`select
        exists (select from accord.member_invitation i join accord.member m on m.tenant = i.tenant and m.email = i.email
          where i.tenant = ${tenant} and i.used_at is not null)
        or exists (select from accord.member_invitation i
          where ${usable} and (i.delivered_at is not null or not i.of_manifest)) as open,
        coalesce((select jsonb_agg(distinct i.delivered_to) from accord.member_invitation i
          where ${usable} and i.of_manifest and i.delivered_to is not null), '[]') as links`,
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

export async function countOpenMemberInvitations(tx: Transaction, tenant: string, now: string): Promise<number> {
  const row = await tx.one(
    Count,
    sql`select count(*)::int as count from accord.member_invitation
      where tenant = ${tenant} and ${open} and expires_at > ${now}`,
  );
  return row.count;
}

/** Replaces the token of an invitation whose link was not delivered. @returns undefined if there is none */
export function replaceMemberInvitationToken(
  tx: Transaction,
  tenant: string,
  id: string,
  { tokenHash, expiresAt }: { tokenHash: Buffer; expiresAt: string },
): Promise<MemberInvitationRow | undefined> {
  return tx.maybe(
    MemberInvitationRow,
    changing(
      sql`token_hash = ${tokenHash}, expires_at = ${expiresAt}`,
      tenant,
      sql`id = ${id} and delivered_at is null and ${open}`,
    ),
  );
}

export function markReported(
  tx: Transaction,
  tenant: string,
  id: string,
  { now, to }: { now: string; to: string },
): Promise<MemberInvitationRow | undefined> {
  return tx.maybe(
    MemberInvitationRow,
    changing(sql`delivered_at = ${now}, delivered_to = ${to}`, tenant, sql`id = ${id} and delivered_at is null`),
  );
}

/** One that can be used. */
export function readOpenMemberInvitation(
  tx: Transaction,
  tenant: string,
  tokenHash: Buffer,
  now: string,
): Promise<MemberInvitationRow | undefined> {
  return tx.maybe(
    MemberInvitationRow,
    sql`select ${memberInvitationColumns} from accord.member_invitation
      where tenant = ${tenant} and token_hash = ${tokenHash} and ${open} and expires_at > ${now}`,
  );
}

/** Uses an invitation up; of many at once, one gets it. */
export function consumeMemberInvitation(
  tx: Transaction,
  tenant: string,
  tokenHash: Buffer,
  now: string,
): Promise<MemberInvitationRow | undefined> {
  return tx.maybe(
    MemberInvitationRow,
    changing(sql`used_at = ${now}`, tenant, sql`token_hash = ${tokenHash} and ${open} and expires_at > ${now}`),
  );
}

/** Uses up the invitation of the manifest to an address, also one that has expired. @returns undefined when none is open */
export function consumeManifestInvitation(
  tx: Transaction,
  tenant: string,
  { email, role, now }: { email: string; role: Role; now: string },
): Promise<MemberInvitationRow | undefined> {
  return tx.maybe(
    MemberInvitationRow,
    changing(sql`used_at = ${now}`, tenant, sql`email = ${email} and role = ${role} and of_manifest and ${open}`),
  );
}

const Address = Type.Object({ email: Type.String() });

/**
 * The address of the security-admin who is a member for longest, or else of the first one whom the manifest invites and whose
 * invitation is open, also when it has expired.
 * @param except the address of the member of the machine, who logs in nowhere
 */
export function readFirstAdmin(tx: Transaction, tenant: string, except: string) {
  return tx.maybe(
    Address,
    sql`select email from (
        select email, 0 as place, id from accord.member
        where tenant = ${tenant} and role = 'security-admin' and email <> ${except}
        union all select email, 1, id from accord.member_invitation
        where tenant = ${tenant} and role = 'security-admin' and of_manifest and ${open}) as found
      order by place, id limit 1`,
  );
}

/** @returns undefined when there is no such invitation */
export function lockMemberInvitation(
  tx: Transaction,
  tenant: string,
  id: string,
): Promise<MemberInvitationRow | undefined> {
  return tx.maybe(
    MemberInvitationRow,
    sql`select ${memberInvitationColumns} from accord.member_invitation where tenant = ${tenant} and id = ${id} for update`,
  );
}

export async function recordMemberInvitationWithdrawn(
  tx: Transaction,
  tenant: string,
  id: string,
  now: string,
): Promise<void> {
  await tx.run(changing(sql`withdrawn_at = ${now}`, tenant, sql`id = ${id}`));
}
