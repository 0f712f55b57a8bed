/**
 * The ledger's hashes, pure: of personal fields, of an entry, and of the chain. docs/ledger.md describes them for
 * checking a ledger without this program, so a change here is a new FORMAT in addition to the old one.
 */
import { hash } from 'node:crypto';
import { limits } from '../core/limits.ts';
import { asText } from '../core/text.ts';
import type { HashedRow, Personal } from './schema.ts';

/** First member of every leaf: how the others are to be read. */
const FORMAT = 1;

export const SALT_BYTES = 16;

/** SHA-256 of the salt, as it stands in hexadecimal digits, and the JSON array [actor type, actor id, user id or null, reason where there is one]. */
export function personalDigest(salt: string, { actor, userId, reason }: Personal): string {
  const why = reason === undefined ? [] : [reason];
  return personalDigestOfJson(salt, JSON.stringify([actor.type, actor.id, userId ?? null, ...why]));
}

/** The same of that array as JSON. */
export function personalDigestOfJson(salt: string, personal: string): string {
  return sha256(salt + personal);
}

/** SHA-256 of the entry as a JSON array: its order is fixed, and JSON says where each text ends. */
export function leafOf(row: HashedRow): string {
  const { id, time_ms, type, name, version, document_version, document_language, content_digest } = row;
  const { outcome, request_id, client_id, personal_digest } = row;
  const before = [FORMAT, id, time_ms, type, name, version, document_version, document_language] as const;
  return sha256(JSON.stringify([...before, content_digest, outcome, request_id, client_id, personal_digest]));
}

/** The same of the members between time and personal digest as JSON, when that is what JSON.stringify writes. */
export function leafOfJson(id: string, timeMs: string, fields: string, personal_digest: string): string {
  return sha256(`[${FORMAT},"${id}",${timeMs},${fields.slice(1, -1)},"${personal_digest}"]`);
}

/** What the first entry follows: a chain is of one tenant, and no other's fits behind it. */
export function genesis(tenant: string): string {
  return sha256(`accord ledger ${FORMAT} ${tenant}`);
}

/** The chain's hash at an entry: SHA-256 of the hash before it and the entry's leaf, 128 hexadecimal digits. */
export function chained(before: string, leaf: string): string {
  return sha256(before + leaf);
}

/** Of UTF-8, in hexadecimal digits: Node gives those twice as fast as bytes (0.6 us against 1.2). */
function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}

/**
 * A text as Postgres holds it and every implementation encodes it: no NUL, no half of a surrogate pair, and not longer
 * than limits.ledgerTextBytesMax. What was refused is recorded too, whatever it was.
 */
export function storable(text: string): string {
  const clean = asText(text);
  if (Buffer.byteLength(clean) <= limits.ledgerTextBytesMax) return clean;
  // Cut where a character ends: decoding replaces what is left of one by U+FFFD, which is dropped.
  const cut = Buffer.from(clean).subarray(0, limits.ledgerTextBytesMax).toString();
  return cut.replace(/\ufffd+$/, '');
}
