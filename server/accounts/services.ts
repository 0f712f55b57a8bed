/** What the actions of accounts work with. */
import type { Encrypter } from '../core/encrypter.ts';
import type { Observe } from '../core/observe.ts';
import { allowSubjectTokens, denySubjectTokens } from '../keys/index.ts';
import type { ConfigUnit, WriteServices } from '../writes/index.ts';
import type { Passwords } from './passwords.ts';
import type { WeakList } from './rules.ts';
import type { AccountRow } from './schema.ts';

/**
 * Something of an account has changed that concerns what was proved before. All but `enabled` end its sessions and log-ins
 * under way; tokens that were issued before are refused, of `disabled` and `deleted` also later ones.
 */
export type AccountChange = {
  account: string;
  because: 'password_changed' | 'password_reset' | 'disabled' | 'enabled' | 'deleted';
};

/** Told in the transaction of the change, before it is committed. */
export type AccountListener = (unit: ConfigUnit, change: AccountChange) => Promise<void>;

export type AccountServices = WriteServices & {
  encrypter: Encrypter;
  observe: Observe;
  baseUrl: string;
  passwords: Passwords;
  weak: WeakList;
  listeners: readonly AccountListener[];
};

/** Refuses the account's tokens that the change voids, and tells the rooms above. */
export async function tellListeners(
  { listeners }: AccountServices,
  unit: ConfigUnit,
  change: AccountChange,
): Promise<void> {
  const { account, because } = change;
  if (because === 'enabled') await allowSubjectTokens(unit, account);
  else
    await denySubjectTokens(unit, account, because === 'deleted' ? 'gone' : because === 'disabled' ? 'all' : 'issued');
  for (const listener of listeners) await listener(unit, change);
}

const placeOfPassword = (tenant: string, id: string) => ['account', tenant, id, 'password'];

export function encryptPassword({ encrypter }: AccountServices, tenant: string, id: string, stored: string): Buffer {
  return encrypter.encrypt(Buffer.from(stored), placeOfPassword(tenant, id));
}

/** The PHC string; undefined where there is no account or no password. */
export function storedPassword(
  { encrypter }: AccountServices,
  tenant: string,
  row: Pick<AccountRow, 'id' | 'password_encrypted'> | undefined,
): string | undefined {
  if (row === undefined || row.password_encrypted === null) return undefined;
  return encrypter.decrypt(row.password_encrypted, placeOfPassword(tenant, row.id)).toString();
}
