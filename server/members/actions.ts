/** The verbs on members and their portal tokens, besides inviting and making tokens. */
import { recordAudit } from '../audit/index.ts';
import type { Caller } from '../core/auth/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Database, Transaction } from '../core/db/database.ts';
import { type RecordWritten, writeRecord } from '../core/db/records.ts';
import { withdrawOpen } from './invitation-store.ts';
import { memberProblem } from './problems.ts';
import { deleteMember, lockAdmins, lockPortalToken, readMember, revokePortalToken } from './store.ts';

type Member = Extract<Caller, { kind: 'member' }>;

/** Whether the member sees and revokes everybody's tokens. */
export function seesAllTokens(member: Member): boolean {
  return member.role === 'security-admin';
}

/**
 * Revokes a portal token: one's own, or as security-admin anybody's. Repeated, it does nothing.
 * @throws Problem portal_token_not_found
 */
export async function revokeToken(
  services: { database: Database; clock: Clock },
  member: Member,
  jti: string,
  requestId: string,
): Promise<RecordWritten<void>> {
  const { tenant } = member;
  return writeRecord(services.database, { tenant }, async (tx) => {
    const row = await lockPortalToken(tx, tenant, jti);
    if (row === undefined || (row.member !== member.id && !seesAllTokens(member))) {
      throw memberProblem('portal_token_not_found');
    }
    if (row.revoked_at !== null) return;
    await revokePortalToken(tx, tenant, jti, new Date(services.clock.now()).toISOString());
    const detail = { member: row.email };
    const actor = `member:${member.email}`;
    await recordAudit(tx, tenant, { actor, action: 'revoke', kind: 'portal_token', name: jti, requestId, detail });
  });
}

/**
 * Removes a member, whose portal tokens end with the next request, and withdraws the invitations of that address.
 * @throws Problem member_not_found, last_security_admin
 */
export async function removeMember(
  services: { database: Database; clock: Clock },
  by: Member,
  id: string,
  requestId: string,
): Promise<RecordWritten<void>> {
  const { tenant } = by;
  const entry = { actor: `member:${by.email}`, requestId };
  return writeRecord(services.database, { tenant }, async (tx) => {
    const member = await readMember(tx, tenant, id);
    if (member === undefined) throw memberProblem('member_not_found');
    const { email } = member;
    // Before the members are locked: who uses an invitation locks in this order too.
    const withdrawn = await withdrawOpen(tx, tenant, email, new Date(services.clock.now()).toISOString());
    await keepAnAdmin(tx, tenant, email);
    if ((await deleteMember(tx, tenant, id)) === 0) throw memberProblem('member_not_found');
    for (const { id: name } of withdrawn) {
      const detail = { email };
      await recordAudit(tx, tenant, { ...entry, action: 'revoke', kind: 'member_invitation', name, detail });
    }
    const detail = { email, role: member.role };
    await recordAudit(tx, tenant, { ...entry, action: 'delete', kind: 'member', name: id, detail });
  });
}

/** @param email who will be a security-admin no longer @throws Problem last_security_admin */
export async function keepAnAdmin(tx: Transaction, tenant: string, email: string): Promise<void> {
  const admins = await lockAdmins(tx, tenant);
  if (admins.length === 1 && admins[0]?.email === email) throw memberProblem('last_security_admin');
}
