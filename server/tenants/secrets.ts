/**
 * The values of the Secrets that a Tenant refers to, such as its mail server's password: encrypted in accord.tenant_secret,
 * written in the config write of the Tenant, and told by a keyed digest whether they changed.
 */

import type { Transaction } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import type { Writer } from '../core/ownership.ts';
import { deleteSecret, readEncryptedSecret, readSecretDigests, upsertSecret } from './store.ts';
import type { TenantUnit } from './unit.ts';

/** Members of a Secret by the name under which the tenant uses it: `{"mail.smtp": {"username": …, "password": …}}`. */
export type TenantSecrets = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Where a value lies, for the encrypter. */
export function placeOfSecret(tenant: string, name: string): string[] {
  return ['tenant_secret', tenant, name];
}

/** The members of a secret; undefined where there is none. @throws MasterKeyError */
export async function readTenantSecret(
  encrypter: Pick<Encrypter, 'decrypt'>,
  tx: Transaction,
  tenant: string,
  name: string,
): Promise<Readonly<Record<string, string>> | undefined> {
  const encrypted = await readEncryptedSecret(tx, tenant, name);
  if (encrypted === undefined) return undefined;
  return JSON.parse(encrypter.decrypt(encrypted, placeOfSecret(tenant, name)).toString()) as Record<string, string>;
}

/**
 * Makes the stored secrets of a tenant these, of those whose names begin with the prefix; what did not change is not written.
 */
export async function storeSecrets(
  encrypter: Pick<Encrypter, 'encrypt' | 'digest'>,
  unit: TenantUnit,
  secrets: TenantSecrets,
  writer: Writer,
  prefix: string,
): Promise<void> {
  const { tx, tenant } = unit;
  const stored = new Map((await readSecretDigests(tx, tenant)).map(({ name, digest }) => [name, digest]));
  for (const [name, members] of Object.entries(secrets)) {
    const value = Buffer.from(JSON.stringify(members));
    const place = placeOfSecret(tenant, name);
    const digest = encrypter.digest(value, place);
    if (stored.get(name) === digest) continue;
    await upsertSecret(tx, tenant, { name, digest, encrypted: encrypter.encrypt(value, place) }, writer);
    unit.changed('tenant_secret', name, 'put');
  }
  for (const name of stored.keys()) {
    if (Object.hasOwn(secrets, name) || !name.startsWith(prefix)) continue;
    await deleteSecret(tx, tenant, name);
    unit.changed('tenant_secret', name, 'delete');
  }
}
