/** Owns reading entries that Postgres has written as JSON, which costs us a third of what rows of `pg` cost (store.ts). */
import type { HashedRow, RegisterEventType } from './schema.ts';

type Texts = string | null;

/** As it is shown: time is RFC 3339. */
export type EventRow = Omit<HashedRow, 'time_ms' | 'type' | 'personal_digest'> & {
  time: string;
  type: RegisterEventType;
  actor_type: string | null;
  actor_id: string | null;
  user_id: string | null;
  sequence: number | null;
};

type EventTuple = [
  ...[id: string, time: string, type: RegisterEventType, name: Texts, version: Texts, document: Texts, language: Texts],
  ...[outcome: string, request: string, client: Texts, actorType: Texts, actor: Texts, user: Texts, number: Texts],
];

/** @param line an array of texts as JSON */
export function eventRow(line: string): EventRow {
  const tuple = JSON.parse(line) as EventTuple;
  const [id, ms, type, name, version, document_version, document_language, outcome, request_id, ...rest] = tuple;
  const [client_id, actor_type, actor_id, user_id, number] = rest;
  const sequence = number === null ? null : Number(number);
  return {
    ...{ id, time: new Date(Number(ms)).toISOString(), type, name, version, document_version, document_language },
    ...{ outcome, request_id, client_id, actor_type, actor_id, user_id, sequence },
  };
}
