/** Names that people give: their own, and those of their passkeys. */
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import { write } from '../writes/index.ts';
import { accountAuthor, actorTypeOf, nameOf, requireTenant } from './actions.ts';
import { updateCredentialName } from './credential-store.ts';
import { accountProblem } from './problems.ts';
import { checkDisplayName } from './rules.ts';
import type { AccountServices } from './services.ts';
import { readAccountRow, updateDisplayName } from './store.ts';

type Naming = { account: string; name: string; requestId?: string | undefined };

/** Changes the name that others see; an empty one removes it. @throws Problem invalid_request (/displayName), account_not_found */
export async function changeDisplayName(
  services: AccountServices,
  tenant: string,
  { account, name, requestId }: Naming,
): Promise<void> {
  const displayName = checkDisplayName(name) ?? null;
  await write(services, { tenant }, { locks: 'records' }, async (unit) => {
    const row = await requireTenant(unit.tx, tenant);
    if (!(await readAccountRow(unit.tx, tenant, account, true))?.enabled) throw accountProblem('account_not_found');
    await updateDisplayName(unit.tx, tenant, account, { displayName, now: unit.nowText });
    const { by } = accountAuthor(tenant, actorTypeOf(row), account, requestId);
    unit
      .as(by)
      .audit({ action: 'put', kind: 'account', name: nameOf(row, account), detail: { because: 'name_changed' } });
  });
}

/** Gives a passkey of the account another name. @throws Problem invalid_request (/name), passkey_not_found */
export async function renamePasskey(
  services: AccountServices,
  tenant: string,
  { account, id, name, requestId }: Naming & { id: string },
): Promise<void> {
  const label = checkPasskeyName(name);
  await write(services, { tenant }, { locks: 'records' }, async (unit) => {
    const row = await requireTenant(unit.tx, tenant);
    if ((await updateCredentialName(unit.tx, tenant, { account, id, name: label })) === 0)
      throw accountProblem('passkey_not_found');
    const { by } = accountAuthor(tenant, actorTypeOf(row), account, requestId);
    unit.as(by).audit({ action: 'put', kind: 'passkey', name: nameOf(row, account) });
  });
}

function checkPasskeyName(name: string): string {
  const trimmed = name.trim();
  const chars = [...trimmed].length;
  if (
    chars > 0 &&
    chars <= limits.passkeyNameCharsMax &&
    trimmed.isWellFormed() &&
    !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(trimmed)
  )
    return trimmed;
  const detail = `The name of a passkey is one line of 1 to ${limits.passkeyNameCharsMax} characters.`;
  throw problem('invalid_request', { detail, errors: [{ pointer: '/name', detail }] });
}
