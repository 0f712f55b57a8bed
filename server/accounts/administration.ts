/** What members do with accounts: disabling, enabling, deleting, and mailing a link for a new password. */
import type { By } from '../core/author.ts';
import { UUID } from '../core/uuid.ts';
import type { ConfigWritten } from '../tenants/index.ts';
import { type RecordWritten, write } from '../writes/index.ts';
import { nameOf, requireTenant } from './actions.ts';
import { accountProblem } from './problems.ts';
import { mailReset } from './recovery.ts';
import { type AccountServices, tellListeners } from './services.ts';
import { deleteAccountRow, deleteTokensOf, readAccountRow, updateEnabled } from './store.ts';

/** Disables an account, whose sessions and tokens end with it, or enables it. @throws Problem account_not_found */
export async function setAccountEnabled(
  services: AccountServices,
  tenant: string,
  { id, enabled }: { id: string; enabled: boolean },
  by: By,
): Promise<ConfigWritten<void>> {
  return write(services, { tenant, by }, { locks: 'configuration' }, async (unit) => {
    const { tx } = unit;
    const row = UUID.test(id) ? await readAccountRow(tx, tenant, id, true) : undefined;
    if (row === undefined) throw accountProblem('account_not_found');
    if (row.enabled === enabled) return;
    await updateEnabled(tx, tenant, id, { enabled, now: unit.nowText });
    await deleteTokensOf(tx, tenant, id, ['reset_password', 'link_identity']);
    await tellListeners(services, unit, { account: id, because: enabled ? 'enabled' : 'disabled' });
    unit.changed('account', nameOf(unit.tenantRow, id), enabled ? 'enable' : 'disable');
  });
}

/**
 * Deletes an account, with its passkeys and linked log-ins. Relationships and consents of the actor stay: erasing the person
 * removes those.
 * @throws Problem account_not_found
 */
export async function deleteAccount(
  services: AccountServices,
  tenant: string,
  id: string,
  by: By,
): Promise<ConfigWritten<void>> {
  return write(services, { tenant, by }, { locks: 'configuration' }, async (unit) => {
    if (!UUID.test(id) || (await deleteAccountRow(unit.tx, tenant, id)) === 0)
      throw accountProblem('account_not_found');
    await tellListeners(services, unit, { account: id, because: 'deleted' });
    unit.changed('account', nameOf(unit.tenantRow, id), 'delete');
  });
}

/** Mails a link for a new password to the account's address. @throws Problem account_not_found */
export async function mailResetByMember(
  services: AccountServices,
  tenant: string,
  id: string,
  by: By,
): Promise<RecordWritten<void>> {
  return write(services, { tenant, by }, { locks: 'records' }, async (unit) => {
    const tenantRow = await requireTenant(unit.tx, tenant);
    const row = UUID.test(id) ? await readAccountRow(unit.tx, tenant, id) : undefined;
    if (!row?.enabled) throw accountProblem('account_not_found');
    await mailReset(services, unit, row);
    unit.audit({ action: 'report', kind: 'account', name: nameOf(tenantRow, id), detail: { mail: 'password-reset' } });
  });
}
