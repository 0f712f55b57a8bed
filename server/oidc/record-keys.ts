/** How records are found and sealed: ids are hashed, and whom they belong to is a digest that only a server can make. */
import { hash as oneShot } from 'node:crypto';
import type { Transaction } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { limits } from '../core/limits.ts';
import type { Payload, RecordKey } from './schema.ts';
import { removeOfAccount } from './store.ts';

/** Under which an id is stored. */
export const hash = (text: string): Buffer => oneShot('sha256', text, 'buffer');

/** Which account a record belongs to, as a digest that only a server can make. */
export function accountDigest(encrypter: Encrypter, tenant: string, account: string): string {
  return encrypter.digest(Buffer.from(account), ['oidc_record', tenant, 'account']);
}

/** The same of a client. */
export function clientDigest(encrypter: Encrypter, tenant: string, clientId: string): string {
  return encrypter.digest(Buffer.from(clientId), ['oidc_record', tenant, 'client']);
}

/** What a record holds. */
export function openRecord(encrypter: Encrypter, key: RecordKey, payload: Buffer): Payload {
  return JSON.parse(encrypter.decrypt(payload, place(key)).toString()) as Payload;
}

/** Ends what an account has here, in the transaction of what happened to it: sessions, log-ins under way, grants and tokens. */
export async function forgetAccount(
  encrypter: Encrypter,
  { tx, tenant }: { tx: Transaction; tenant: string },
  account: string,
): Promise<void> {
  const digest = accountDigest(encrypter, tenant, account);
  // What a request under way saved while this waited for its rows is seen by the next statement.
  while ((await removeOfAccount(tx, tenant, digest, limits.oidcSweepItemsMax)) > 0);
}

/** Where a payload lies, for the encrypter. */
export function place({ tenant, model, id }: RecordKey): string[] {
  return ['oidc_record', tenant, model, id.toString('base64url')];
}

/** Of a log-in under way it is the one that has logged in, or will have. */
export function accountOf({ accountId, session, result }: Payload): string | undefined {
  const { login } = (result ?? {}) as { login?: { accountId?: string } };
  return accountId ?? login?.accountId ?? (session as Payload | undefined)?.accountId;
}
