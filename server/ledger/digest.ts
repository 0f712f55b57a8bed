/**
 * Owns the ledger's hashes, pure: of personal fields, of an entry, and of the chain. docs/ledger.md describes them for
 * whoever checks a ledger without this program, so a change here is a new FORMAT beside the old one.
 */
import { createHash, hash } from 'node:crypto';
import { limits } from '../core/limits.ts';
import type { HashedRow, Personal } from './schema.ts';

/** First member of every leaf: how the others are to be read. */
const FORMAT = 1;

export const SALT_BYTES = 16;

/** SHA-256 of the salt and the JSON array [actor type, actor id, user id or null]. */
export function personalDigest(salt: Uint8Array, { actor, userId }: Personal): Buffer {
  const personal = JSON.stringify([actor.type, actor.id, userId ?? null]);
  return createHash('sha256').update(salt).update(personal).digest();
}

/** SHA-256 of the entry as a JSON array: its order is fixed, and JSON says where each text ends. */
export function leafOf(row: HashedRow): Buffer {
  const leaf = JSON.stringify([
    ...[FORMAT, row.id, row.time_ms, row.type, row.name, row.version, row.document_version, row.document_language],
    ...[row.outcome, row.request_id, row.client_id, row.personal_digest.toString('hex')],
  ]);
  return hash('sha256', leaf, 'buffer');
}

/** What the first entry follows: a chain is of one tenant, and no other's fits behind it. */
export function genesis(tenant: string): Buffer {
  return hash('sha256', `accord ledger ${FORMAT} ${tenant}`, 'buffer');
}

/** The chain's hash at an entry: SHA-256 of the hash before it and the entry's leaf. */
export function chained(before: Uint8Array, leaf: Uint8Array): Buffer {
  return hash('sha256', Buffer.concat([before, leaf], 64), 'buffer');
}

/**
 * A text as Postgres holds it and every implementation encodes it: no NUL, no half of a surrogate pair, and not longer
 * than limits.ledgerTextBytesMax. What was refused is recorded too, whatever it was.
 */
export function storable(text: string): string {
  const clean = text.replaceAll('\0', '\ufffd').toWellFormed();
  if (Buffer.byteLength(clean) <= limits.ledgerTextBytesMax) return clean;
  // Cut where a character ends: decoding replaces what is left of one by U+FFFD, which is dropped.
  const cut = Buffer.from(clean).subarray(0, limits.ledgerTextBytesMax).toString();
  return cut.replace(/\ufffd+$/, '');
}
