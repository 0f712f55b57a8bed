/**
 * Owns reading entries that Postgres has written as arrays of texts, which costs us a third of what rows of `pg` cost (store.ts).
 */
import type { HashedRow, RegisterEventType } from './schema.ts';

/** Bytes are hexadecimal digits. */
export type SealedRow = HashedRow & {
  salt: string | null;
  actor_type: string | null;
  actor_id: string | null;
  user_id: string | null;
  sequence: number;
  hash: string;
};

type Texts = string | null;
export type SealedTuple = [
  ...[id: string, time: string, type: string, name: Texts, version: Texts, document: Texts, language: Texts],
  ...[outcome: string, request: string, client: Texts, digest: string, salt: Texts, actorType: Texts, actor: Texts],
  ...[user: Texts, number: string, hash: string],
];

export function sealedRow(tuple: SealedTuple): SealedRow {
  const [id, time, type, name, version, document_version, document_language, outcome, ...rest] = tuple;
  const [request_id, client_id, personal_digest, salt, actor_type, actor_id, user_id, number, hash] = rest;
  return {
    ...{
      id,
      time_ms: Number(time),
      type,
      name,
      version,
      document_version,
      document_language,
      outcome,
      request_id,
      client_id,
    },
    ...{ personal_digest, salt, actor_type, actor_id, user_id, sequence: Number(number), hash },
  };
}

/** As it is shown: time is RFC 3339. */
export type EventRow = Omit<SealedRow, 'time_ms' | 'type' | 'personal_digest' | 'salt' | 'hash' | 'sequence'> & {
  time: string;
  type: RegisterEventType;
  sequence: number | null;
};

export type EventTuple = [
  ...[id: string, time: string, type: RegisterEventType, name: Texts, version: Texts, document: Texts, language: Texts],
  ...[outcome: string, request: string, client: Texts, actorType: Texts, actor: Texts, user: Texts, number: Texts],
];

export function eventRow(tuple: EventTuple): EventRow {
  const [id, ms, type, name, version, document_version, document_language, outcome, request_id, ...rest] = tuple;
  const [client_id, actor_type, actor_id, user_id, number] = rest;
  const sequence = number === null ? null : Number(number);
  return {
    ...{ id, time: new Date(Number(ms)).toISOString(), type, name, version, document_version, document_language },
    ...{ outcome, request_id, client_id, actor_type, actor_id, user_id, sequence },
  };
}
