/**
 * The verbs on invitations: a link that makes the first person who opens it a member, once, within a week. Security-admins
 * invite through the Config API, the Tenant's manifest through the operator.
 */

import type { Role } from '../core/auth/schema.ts';
import type { By } from '../core/author.ts';
import type { Transaction } from '../core/db/database.ts';
import type { IdempotencyReservation } from '../core/idempotency-key.ts';
import { utc } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import { comparableAddress } from '../core/mail-address.ts';
import { problem } from '../core/problems.ts';
import { type MailServices, sendMail } from '../mail/index.ts';
import { readTenant, type TenantRow } from '../tenants/index.ts';
import { type AuditedUnit, type RecordUnit, type RecordWritten, type WriteServices, write } from '../writes/index.ts';
import { keepAnAdmin } from './actions.ts';
import {
  consumeMemberInvitation,
  countOpenMemberInvitations,
  deleteUnwanted,
  deleteUnwantedSupport,
  insertMemberInvitation,
  lockMemberInvitation,
  markReported,
  readKnownAddresses,
  readManifestMemberInvitations,
  readOpenMemberInvitation,
  readTenantAccess,
  recordMemberInvitationWithdrawn,
  replaceMemberInvitationToken,
  type TenantAccess,
  withdrawExpired,
} from './member-invitation-store.ts';
import {
  createMemberInvitationToken,
  hashOfMemberInvitation,
  tenantOfMemberInvitation,
  urlOfMemberInvitation,
} from './member-invitation-token.ts';
import { listPortalToken, type PortalServices, signPortalToken } from './portal-token.ts';
import { memberProblem } from './problems.ts';
import type { MemberInvitationRow } from './schema.ts';
import { bindMember, insertMember, upsertMember } from './store.ts';

export type MemberInvitationServices = WriteServices & { baseUrl: string };
export type MemberInvitingServices = MemberInvitationServices & MailServices;
export type InvitedMember = { email: string; role: Role };
/** `url` holds the secret and is shown once. */
export type MemberInvitationLink = InvitedMember & { id: string; url: string; expiresAt: string };
type Requested = By & { idempotency?: IdempotencyReservation };
/** `language`: of the mail, BCP 47. @default English */
type Mailed = InvitedMember & { language?: string };

/**
 * Invites somebody, whose address is kept as addresses of accounts are, and mails the link to the address as it was written.
 * @throws Problem invalid_request: no mail reaches the address; member_invitation_exists, member_invitation_quota_reached
 */
export async function inviteMember(
  services: MemberInvitingServices,
  tenant: string,
  invited: Mailed,
  { idempotency, ...by }: Requested,
): Promise<RecordWritten<MemberInvitationLink>> {
  const address = comparableAddress(invited.email);
  if (!address.ok) {
    const errors = [{ pointer: '/email', detail: address.detail }];
    throw problem('invalid_request', { detail: `/email: ${address.detail}`, errors });
  }
  return write(services, { tenant, by, idempotency }, { locks: 'records' }, async (unit) => {
    if ((await countOpenMemberInvitations(unit.tx, tenant, unit.nowText)) >= limits.memberInvitationsMax) {
      throw memberProblem('member_invitation_quota_reached');
    }
    const { row, token } = await invite(unit, { email: address.address, role: invited.role }, false);
    if (row === undefined) throw memberProblem('member_invitation_exists');
    const link = linkOf(services, row, token);
    await mailLink(services, unit, link, invited);
    return link;
  });
}

/** In the transaction of the invitation: there is a mail exactly when there is an invitation. */
async function mailLink(
  services: MailServices,
  unit: AuditedUnit,
  { role, url, expiresAt }: MemberInvitationLink,
  { email: to, language }: Mailed,
): Promise<void> {
  const { tx, tenant } = unit;
  const application = (await readTenant(tx, tenant))?.spec.displayName ?? tenant;
  const variables = { application, actionUrl: url, role, expiresAt };
  await sendMail(services, unit, { template: 'portal-invitation', to, language, expiresAt, variables });
}

/**
 * Invites those whom the Tenant's manifest names and who were never invited and are no members; what was used, has
 * expired or was withdrawn is not made again. The account of a support desk is made with it.
 * @returns those whose link was not delivered yet, with their place among all that the manifest ever asked for in that role
 */
export async function inviteMembersOfManifest(
  services: MemberInvitationServices,
  tenant: string,
  wanted: readonly InvitedMember[],
  actor: string,
): Promise<(InvitedMember & { id: string; place: number })[]> {
  const all = wanted.map(({ email, role }) => {
    const read = comparableAddress(email);
    return { email: read.ok ? read.address : email.toLowerCase(), role };
  });
  const { result } = await write(services, { tenant, by: { actor } }, { locks: 'records' }, async (unit) => {
    const { tx } = unit;
    const desks = all.filter(({ role }) => role === 'support').map(({ email }) => email);
    for (const { id, email } of await deleteUnwantedSupport(tx, tenant, desks)) {
      unit.audit({ action: 'delete', kind: 'member', name: id, detail: { email } });
    }
    // A link must not outlive the wish for it. Named again, somebody is invited again.
    for (const { id, email } of await deleteUnwanted(tx, tenant, all)) {
      unit.audit({ action: 'revoke', kind: 'member_invitation', name: id, detail: { email } });
    }
    const emails = all.map(({ email }) => email);
    const known = emails.length === 0 ? [] : await readKnownAddresses(tx, tenant, emails);
    for (const one of all) {
      // A member keeps the role that is more than a support desk's.
      const has = (role: string) => role === one.role || one.role === 'support';
      if (known.some(({ email, role, member }) => email === one.email && (!member || has(role)))) continue;
      if (one.role === 'support') await insertMember(tx, tenant, one.email, one.role);
      await invite(unit, one, true);
    }
    const rows = await readManifestMemberInvitations(tx, tenant);
    const placed = rows.map((row) => ({
      ...row,
      place: rows.filter((other) => other.role === row.role).indexOf(row),
    }));
    return (
      placed
        .filter((row) => row.delivered_at === null && row.used_at === null && row.withdrawn_at === null)
        // Whom the manifest does not name any more gets no link.
        .filter((row) => all.some(({ email, role }) => email === row.email && role === row.role))
        .map(({ id, email, role, place }) => ({ id, email, role, place }))
    );
  });
  return result;
}

/** A new link for an invitation of the manifest, as long as none was reported. @returns undefined when it is over */
export async function createMemberInvitationLink(
  services: MemberInvitationServices,
  tenant: string,
  id: string,
): Promise<MemberInvitationLink | undefined> {
  const token = createMemberInvitationToken(tenant);
  const expiresAt = utc(services.clock.now() + limits.memberInvitationTtlMs);
  const renewed = { tokenHash: hashOfMemberInvitation(token), expiresAt };
  const { result: row } = await write(services, { tenant }, { locks: 'records' }, ({ tx }) =>
    replaceMemberInvitationToken(tx, tenant, id, renewed),
  );
  return row && linkOf(services, row, token);
}

/** The link was handed over, and is not made again. @param to where */
export async function recordMemberInvitationDelivered(
  services: MemberInvitationServices,
  tenant: string,
  id: string,
  { actor, to }: { actor: string; to: string },
): Promise<void> {
  await write(services, { tenant, by: { actor } }, { locks: 'records' }, async (unit) => {
    const row = await markReported(unit.tx, tenant, id, { now: unit.nowText, to });
    if (row === undefined) return;
    unit.audit({ action: 'deliver', kind: 'member_invitation', name: id, detail: { email: row.email, to } });
  });
}

/** Whether anybody can enter the tenant, and where the links are that the manifest's invitations were handed over in. */
export function findTenantAccess(services: MemberInvitationServices, tenant: string): Promise<TenantAccess> {
  return services.database.read(tenant, (tx) => readTenantAccess(tx, tenant, utc(services.clock.now())));
}

/** What the holder of a link may know of it before it is used. */
export type OpenMemberInvitation = InvitedMember & { tenant: string; tenantName: string; expiresAt: string };

/** @throws Problem invalid_request, tenant_not_found, member_invitation_gone */
export async function readMemberInvitation(
  { database, clock }: Pick<MemberInvitationServices, 'database' | 'clock'>,
  token: string,
): Promise<OpenMemberInvitation> {
  const tenant = tenantOf(token);
  const now = utc(clock.now());
  return database.tenantSnapshot(tenant, async (tx) => {
    const row = await requireTenant(tx, tenant);
    const invitation = await readOpenMemberInvitation(tx, tenant, hashOfMemberInvitation(token), now);
    if (invitation === undefined) throw memberProblem('member_invitation_gone');
    const { email, role, expires_at: expiresAt } = invitation;
    return { tenant, tenantName: row.spec.displayName, email, role, expiresAt };
  });
}

/**
 * Uses an invitation: makes the member, or gives the one of that address the role, and a portal token. Exactly once.
 * @throws Problem invalid_request, tenant_not_found, member_invitation_gone, last_security_admin
 */
export async function redeemMemberInvitation(services: PortalServices, token: string, requestId: string) {
  const tenant = tenantOf(token);
  const { result, revision } = await write(services, { tenant }, { locks: 'records' }, async (unit) => {
    const { invitation, member, audited } = await makeMember(unit, token, requestId);
    return { invitation, listed: await listPortalToken(audited, member) };
  });
  const minted = await signPortalToken(services, tenant, result.listed);
  const { email, role } = result.invitation;
  return { result: { tenant, email, role, token: minted.token, expiresAt: minted.expiresAt }, revision };
}

/**
 * Uses an invitation for somebody who is logged in at the portal. Exactly once.
 * @param person an account of the portal's tenant
 * @throws Problem invalid_request, tenant_not_found, member_invitation_gone, last_security_admin
 */
export async function acceptMemberInvitation(
  services: WriteServices,
  token: string,
  person: string,
  requestId: string,
): Promise<void> {
  const tenant = tenantOf(token);
  await write(services, { tenant }, { locks: 'records' }, async (unit) => {
    const { member } = await makeMember(unit, token, requestId);
    await bindMember(unit.tx, tenant, member.id, person);
  });
}

/** @throws Problem invalid_request */
function tenantOf(token: string): string {
  const tenant = tenantOfMemberInvitation(token);
  if (tenant !== undefined) return tenant;
  const errors = [{ pointer: '/token', detail: 'Not an invitation token.' }];
  throw problem('invalid_request', { detail: '/token: Not an invitation token.', errors });
}

/** @throws Problem tenant_not_found */
export async function requireTenant(tx: Transaction, tenant: string): Promise<TenantRow> {
  const row = await readTenant(tx, tenant);
  if (row?.state !== 'active' || row.revision === 0) throw problem('tenant_not_found');
  return row;
}

async function makeMember(unit: RecordUnit, token: string, requestId: string) {
  const { tx, tenant } = unit;
  await requireTenant(tx, tenant);
  const invitation = await consumeMemberInvitation(tx, tenant, hashOfMemberInvitation(token), unit.nowText);
  if (invitation === undefined) throw memberProblem('member_invitation_gone');
  const { email, role, id } = invitation;
  if (role !== 'security-admin') await keepAnAdmin(tx, tenant, email);
  const member = await upsertMember(tx, tenant, email, role);
  const audited = unit.as({ actor: `member:${email}`, requestId });
  audited.audit({ action: 'redeem', kind: 'member_invitation', name: id, detail: { email, role } });
  return { invitation, member, audited };
}

/** Withdraws an invitation; one that is over already stays as it is. @throws Problem member_invitation_not_found */
export async function withdrawMemberInvitation(
  services: WriteServices,
  tenant: string,
  id: string,
  by: By,
): Promise<RecordWritten<void>> {
  return write(services, { tenant, by }, { locks: 'records' }, async (unit) => {
    const row = await lockMemberInvitation(unit.tx, tenant, id);
    if (row === undefined) throw memberProblem('member_invitation_not_found');
    if (row.used_at !== null || row.withdrawn_at !== null) return;
    await recordMemberInvitationWithdrawn(unit.tx, tenant, id, unit.nowText);
    unit.audit({ action: 'revoke', kind: 'member_invitation', name: id, detail: { email: row.email } });
  });
}

/** @param invited with a comparable address */
async function invite(unit: AuditedUnit, { email, role }: InvitedMember, ofManifest: boolean) {
  const { tx, tenant, nowText: now } = unit;
  const token = createMemberInvitationToken(tenant);
  const expiresAt = utc(unit.now + limits.memberInvitationTtlMs);
  await withdrawExpired(tx, tenant, email, now);
  const row = await insertMemberInvitation(tx, tenant, {
    ...{ email, role, tokenHash: hashOfMemberInvitation(token), ofManifest, by: unit.by.actor, now, expiresAt },
  });
  if (row !== undefined) {
    unit.audit({ action: 'create', kind: 'member_invitation', name: row.id, detail: { email, role, expiresAt } });
  }
  return { row, token };
}

function linkOf({ baseUrl }: MemberInvitationServices, row: MemberInvitationRow, token: string): MemberInvitationLink {
  const { id, email, role, expires_at: expiresAt } = row;
  return { id, email, role, url: urlOfMemberInvitation(baseUrl, token), expiresAt };
}
