/**
 * A sealed entry as Postgres writes it for verifying, pure. What is hashed is JSON, and Postgres writes JSON as
 * JSON.stringify does: it is hashed as it came, without a look at the fields, which takes a third of the time. Should
 * another Postgres write it otherwise, the fields decide.
 */
import { chained, leafOf, leafOfJson, personalDigest, personalDigestOfJson } from './digest.ts';
import type { HashedRow } from './schema.ts';

/** Numbers are digits, bytes are hexadecimal digits, no salt is `-`, the last two are arrays as JSON. */
export type SealedLine = [
  ...[hash: string, personalDigest: string, id: string, sequence: string, timeMs: string, salt: string],
  ...[fields: string, personal: string],
];

/** Bytes are hexadecimal digits. */
type SealedRow = HashedRow & {
  salt: string | null;
  actor_type: string | null;
  actor_id: string | null;
  user_id: string | null;
  reason: string | null;
  sequence: number;
  hash: string;
};

type Text = string | null;
type Fields = [
  ...[type: string, name: Text, version: Text, document: Text, language: Text, content: Text, outcome: string],
  ...[request: string, client: Text],
];

export function sealedRow(line: SealedLine): SealedRow {
  const [hash, personal_digest, id, number, ms, salt] = line;
  const [type, name, version, document_version, document_language, ...rest] = JSON.parse(line[6]) as Fields;
  const [content_digest, outcome, request_id, client_id] = rest;
  const [actor_type, actor_id, user_id, reason = null] = JSON.parse(line[7]) as [Text, Text, Text, Text?];
  return {
    ...{ id, time_ms: Number(ms), type, name, version, document_version, document_language, content_digest },
    ...{
      outcome,
      request_id,
      client_id,
      personal_digest,
      salt: salt === '-' ? null : salt,
      actor_type,
      actor_id,
      user_id,
      reason,
    },
    ...{ sequence: Number(number), hash },
  };
}

/** Whether an entry has the hash that its fields make behind the hash before it. */
export function follows(before: string, line: SealedLine): boolean {
  const [hash, digest, id, , ms, , fields] = line;
  if (chained(before, leafOfJson(id, ms, fields, digest)) === hash) return true;
  return chained(before, leafOf(sealedRow(line))) === hash;
}

/** Whether the personal fields are those of the digest, or wiped with their salt. */
export function isPersonal(line: SealedLine): boolean {
  const [, digest, , , , salt, , personal] = line;
  if (salt !== '-' && personalDigestOfJson(salt, personal) === digest) return true;
  const { actor_type: type, actor_id: id, user_id: userId, reason } = sealedRow(line);
  if (salt === '-') return type === null && id === null && userId === null && reason === null;
  if (type === null || id === null) return false;
  const about = { ...(userId === null ? {} : { userId }), ...(reason === null ? {} : { reason }) };
  return personalDigest(salt, { actor: { type, id }, ...about }) === digest;
}
