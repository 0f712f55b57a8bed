/** The first security-admin of a tenant, who logs in at an installation of one machine without an invitation's link. */
import { type RecordWritten, type WriteServices, write } from '../writes/index.ts';
import { consumeManifestInvitation, readFirstAdmin } from './member-invitation-store.ts';
import { requireTenant } from './member-invitations.ts';
import { memberProblem } from './problems.ts';
import { localMemberEmail } from './rules.ts';
import { bindMember, readMemberByEmail, upsertMember } from './store.ts';

const role = 'security-admin';

/** @returns the address; undefined when there is no security-admin, and the manifest invites none */
export async function findFirstAdmin(
  { database }: Pick<WriteServices, 'database'>,
  tenant: string,
): Promise<string | undefined> {
  const found = await database.read(tenant, (tx) => readFirstAdmin(tx, tenant, localMemberEmail(role)));
  return found?.email;
}

/**
 * Binds a security-admin, or somebody whom the manifest invites to be one, to a log-in at the portal.
 * @param person an account of the portal's tenant, of that address
 * @throws Problem tenant_not_found, member_invitation_gone: the address is of no such member (any more)
 */
export function admitFirstAdmin(
  services: WriteServices,
  tenant: string,
  { email, person, requestId }: { email: string; person: string; requestId: string },
): Promise<RecordWritten<void>> {
  const by = { actor: `member:${email}`, requestId };
  return write(services, { tenant, by }, { locks: 'records' }, async (unit) => {
    const { tx, nowText: now } = unit;
    await requireTenant(tx, tenant);
    const invitation = await consumeManifestInvitation(tx, tenant, { email, role, now });
    if (invitation !== undefined) {
      await upsertMember(tx, tenant, email, role);
      unit.audit({ action: 'redeem', kind: 'member_invitation', name: invitation.id, detail: { email, role } });
    }
    const member = await readMemberByEmail(tx, tenant, email);
    if (member?.role !== role) throw memberProblem('member_invitation_gone');
    await bindMember(tx, tenant, member.id, person);
    unit.audit({ action: 'log_in', kind: 'member', name: member.id, detail: { email, by: 'link' } });
  });
}
