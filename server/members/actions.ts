/** The verbs on members and their portal tokens, besides inviting and making tokens. */
import type { Caller } from '../core/auth/schema.ts';
import type { AuditedAuthor } from '../core/author.ts';
import type { Transaction } from '../core/db/database.ts';
import { type RecordWritten, type WriteServices, write } from '../writes/index.ts';
import { withdrawOpenMemberInvitations } from './member-invitation-store.ts';
import { memberProblem } from './problems.ts';
import { localMemberEmail } from './rules.ts';
import { deleteMember, lockAdmins, lockPortalToken, readMember, revokePortalToken } from './store.ts';

type Member = Extract<Caller, { kind: 'member' }>;

/** A member who acts, for the audit. */
export function memberAuthor({ tenant, email }: Pick<Member, 'tenant' | 'email'>, requestId: string): AuditedAuthor {
  return { tenant, by: { actor: `member:${email}`, requestId } };
}

/** Whether the member sees and revokes everybody's tokens. */
export function seesAllTokens(member: Member): boolean {
  return member.role === 'security-admin';
}

/**
 * Revokes a portal token: one's own, or as security-admin anybody's. Repeated, it does nothing.
 * @throws Problem portal_token_not_found
 */
export async function revokeToken(
  services: WriteServices,
  member: Member,
  jti: string,
  requestId: string,
): Promise<RecordWritten<void>> {
  return write(services, memberAuthor(member, requestId), { locks: 'records' }, async (unit) => {
    const { tx, tenant } = unit;
    const row = await lockPortalToken(tx, tenant, jti);
    if (row === undefined || (row.member !== member.id && !seesAllTokens(member))) {
      throw memberProblem('portal_token_not_found');
    }
    if (row.revoked_at !== null) return;
    await revokePortalToken(tx, tenant, jti, unit.nowText);
    unit.audit({ action: 'revoke', kind: 'portal_token', name: jti, detail: { member: row.email } });
  });
}

/**
 * Removes a member, whose portal tokens end with the next request, and withdraws the invitations of that address.
 * @throws Problem member_not_found, last_security_admin
 */
export async function removeMember(
  services: WriteServices,
  by: Member,
  id: string,
  requestId: string,
): Promise<RecordWritten<void>> {
  return write(services, memberAuthor(by, requestId), { locks: 'records' }, async (unit) => {
    const { tx, tenant } = unit;
    const member = await readMember(tx, tenant, id);
    if (member === undefined) throw memberProblem('member_not_found');
    const { email } = member;
    // Before the members are locked: who uses an invitation locks in this order too.
    const withdrawn = await withdrawOpenMemberInvitations(tx, tenant, email, unit.nowText);
    await keepAnAdmin(tx, tenant, email);
    if ((await deleteMember(tx, tenant, id)) === 0) throw memberProblem('member_not_found');
    for (const { id: name } of withdrawn) {
      unit.audit({ action: 'revoke', kind: 'member_invitation', name, detail: { email } });
    }
    unit.audit({ action: 'delete', kind: 'member', name: id, detail: { email, role: member.role } });
  });
}

/** @param email who will be a security-admin no longer @throws Problem last_security_admin */
export async function keepAnAdmin(tx: Transaction, tenant: string, email: string): Promise<void> {
  const admins = await lockAdmins(tx, tenant);
  const persons = admins.filter((admin) => admin.email !== localMemberEmail('security-admin'));
  // The member of the machine logs in nowhere. It is kept where there is no other: then somebody still has its token.
  const kept = persons.length === 0 ? admins : persons;
  if (kept.length === 1 && kept[0]?.email === email) throw memberProblem('last_security_admin');
}
