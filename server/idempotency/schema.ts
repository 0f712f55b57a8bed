import { type Static, Type } from 'typebox';
import { Bytes, Instant, Nullable } from '../core/db/rows.ts';

/** Which key of whom; all of it keyed digests. */
export type KeyPlace = { tenant: string; caller: string; id: string };

export const KeyRow = Type.Object({
  request: Type.String(),
  created_at: Instant,
  answer: Nullable(Bytes),
});
export type KeyRow = Static<typeof KeyRow>;

/** What is encrypted into a row. Without `body` it was an answer that is not kept. */
export type StoredAnswer = { status: number; headers: Record<string, string>; body?: string };
