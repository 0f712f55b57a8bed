/** The tenants that a person may choose from at the portal. */
import type { AccountServices } from '../accounts/index.ts';
import type { Role } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import { portalTenant } from '../core/portal-tenant.ts';
import { readMemberOfPerson } from '../members/index.ts';
import { write } from '../writes/index.ts';
import { insertMembership, listMemberships } from './store.ts';

/** To be called before somebody becomes a member: it only says where to look. */
export async function noteMembership(services: AccountServices, account: string, code: string): Promise<void> {
  await write(services, { tenant: portalTenant }, { locks: 'records' }, ({ tx }) =>
    insertMembership(tx, portalTenant, account, code),
  );
}

/** Where somebody is a member now, and in which role. */
export async function membershipsOf(
  { database }: Pick<AccountServices, 'database'>,
  account: string,
): Promise<{ code: string; role: Role }[]> {
  const max = limits.portalListItemsMax;
  const codes = await database.read(portalTenant, (tx) => listMemberships(tx, portalTenant, account, max));
  // Together: a person may be a member of hundreds.
  const members = await database.readEach(portalTenant, codes, (tx, code) => readMemberOfPerson(tx, code, account));
  return codes.flatMap((code, index) => {
    const member = members[index];
    return member === undefined ? [] : [{ code, role: member.role }];
  });
}
