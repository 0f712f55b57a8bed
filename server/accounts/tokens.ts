/** Links of mails, and other secrets that are used once: what is stored is a hash, and what they do is encrypted. */
import { createHash, randomBytes } from 'node:crypto';
import type { Transaction } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { utc } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import type { RecordUnit } from '../writes/index.ts';
import { accountProblem } from './problems.ts';
import type { TokenPurpose, TokenRow } from './schema.ts';
import { deleteToken, insertToken, readTokenRow } from './store.ts';

const SECRET_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

const tokenTtlMs: Record<TokenPurpose, number> = {
  sign_up: limits.verificationTtlMs,
  reset_password: limits.passwordResetTtlMs,
  link_identity: limits.identityLinkTtlMs,
};

type Unit = Pick<RecordUnit, 'tx' | 'tenant' | 'now' | 'nowText'>;
/** `handle` names the token without being worth anything: it is what the token is stored by. */
type Made = { token: string; handle: string; expiresAt: string };

/** What is stored and looked up: comparing hashes in an index reveals nothing about a secret of this length. */
function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

const placeOf = (tenant: string, purpose: TokenPurpose, hash: Buffer) => [
  'account_token',
  tenant,
  purpose,
  hash.toString('base64url'),
];

/** Makes a token. @param content what it does, where the account and the address do not say it */
export async function makeToken(
  encrypter: Encrypter,
  unit: Unit,
  purpose: TokenPurpose,
  about: { account?: { id: string; epoch: number }; email: string; content?: unknown },
): Promise<Made> {
  const token = randomBytes(SECRET_BYTES).toString('base64url');
  const hash = hashOf(token);
  const expiresAt = utc(unit.now + tokenTtlMs[purpose]);
  const { account, email, content } = about;
  const text = content === undefined ? undefined : Buffer.from(JSON.stringify(content));
  await insertToken(unit.tx, unit.tenant, {
    ...{ hash, purpose, email, now: unit.nowText, expires_at: expiresAt },
    ...{ account: account?.id ?? null, epoch: account?.epoch ?? null },
    content_encrypted: text === undefined ? null : encrypter.encrypt(text, placeOf(unit.tenant, purpose, hash)),
  });
  return { token, handle: hash.toString('base64url'), expiresAt };
}

/** A token that is locked, and that `use` voids. */
type Found<Content> = Omit<TokenRow, 'content_encrypted'> & { content: Content; use(): Promise<void> };

/** @throws Problem account_link_gone unless there is one for this purpose that has not expired */
export async function findToken<Content>(
  encrypter: Encrypter,
  unit: Unit,
  token: string,
  purpose: TokenPurpose,
): Promise<Found<Content>> {
  const found = TOKEN.test(token) && (await findByHash<Content>(encrypter, unit, hashOf(token), purpose));
  if (!found) throw accountProblem('account_link_gone');
  return found;
}

/** @returns undefined where there is none that has not expired */
export async function findByHandle<Content>(
  encrypter: Encrypter,
  unit: Unit,
  handle: string,
  purpose: TokenPurpose,
): Promise<Found<Content> | undefined> {
  return TOKEN.test(handle) ? findByHash(encrypter, unit, Buffer.from(handle, 'base64url'), purpose) : undefined;
}

/** A handle of nothing. */
export const noHandle = (): string => randomBytes(SECRET_BYTES).toString('base64url');

async function findByHash<Content>(
  encrypter: Encrypter,
  { tx, tenant, nowText: now }: Unit,
  hash: Buffer,
  purpose: TokenPurpose,
): Promise<Found<Content> | undefined> {
  const row = await readTokenRow(tx, tenant, { hash, purpose, now }, true);
  if (row === undefined) return undefined;
  const { content_encrypted: encrypted, ...rest } = row;
  const content =
    encrypted === null
      ? undefined
      : JSON.parse(encrypter.decrypt(encrypted, placeOf(tenant, row.purpose, hash)).toString());
  return { ...rest, content: content as Content, use: () => deleteToken(tx, tenant, hash) };
}

/** The address that a token was mailed to, which stays as it is. @throws Problem account_link_gone */
export async function addressOfToken(
  tx: Transaction,
  tenant: string,
  { token, purpose, now }: { token: string; purpose: 'sign_up' | 'reset_password'; now: string },
): Promise<string> {
  const row = TOKEN.test(token) ? await readTokenRow(tx, tenant, { hash: hashOf(token), purpose, now }) : undefined;
  if (row === undefined) throw accountProblem('account_link_gone');
  return row.email;
}
