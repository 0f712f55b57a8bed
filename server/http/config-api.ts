/** How the Config API writes, alike in every room: the headers, who the writer is, and the answer. */
import { type Static, Type } from 'typebox';
import type { Caller } from '../core/auth/schema.ts';
import { type IdempotencyReservation, idempotencyOf } from '../core/idempotency-key.ts';
import { apiOwner, type Writer } from '../core/ownership.ts';
import { problem } from '../core/problems.ts';
import { memberOf } from './fastify.ts';

const header = { maxLength: 1024 };
/** The header of what changes or removes an object that is there. */
export const IfMatch = Type.Object({ 'if-match': Type.Optional(Type.String(header)) });
/** The headers of what creates or replaces an object. */
export const WriteHeaders = Type.Object({
  'if-match': Type.Optional(
    Type.String({ ...header, description: 'ETags, of which the object must have one; `*`: it must exist.' }),
  ),
  'if-none-match': Type.Optional(Type.Literal('*', { description: '`*`: the object must not exist.' })),
});
/** What the caller requires of the object, each a header. */
export type Preconditions = { ifMatch?: string; ifNoneMatch?: '*' };
/** The answer of a write of configuration. */
export const Empty = Type.Object({}, { additionalProperties: false });

/** An entity tag of a revision. */
export function etagOf(revision: number): string {
  return `"${revision}"`;
}

/**
 * To be called in the transaction of the write, where nobody else can write the object.
 * @param current its revision; undefined: there is no object
 * @throws Problem precondition_failed
 */
export function checkPreconditions({ ifMatch, ifNoneMatch }: Preconditions, current: number | undefined): void {
  const tags = ifMatch?.split(',').map((tag) => tag.trim());
  const matches = current !== undefined && (tags?.includes('*') || tags?.includes(etagOf(current)));
  if (tags && !matches) throw failed(`If-Match is ${ifMatch}`, current);
  if (ifNoneMatch !== undefined && current !== undefined) throw failed('If-None-Match is *', current);
}

function failed(required: string, current: number | undefined) {
  const state = current === undefined ? 'does not exist' : `is at ${etagOf(current)}`;
  return problem('precondition_failed', { detail: `${required}; the object ${state}.` });
}

/** Who writes through the Config API: the member, for a row that the API owns. @throws Problem forbidden */
export function writerOf(request: {
  caller: Caller | null;
  id: string;
  idempotency?: IdempotencyReservation | null;
}): Writer {
  const actor = `member:${memberOf(request).email}`;
  return { owner: apiOwner, actor, requestId: request.id, ...idempotencyOf(request) };
}

export type ConfigServing = {
  /**
   * Resolves when this server serves the revision: a write's answer means that decisions here are made with it.
   * @throws when the revision cannot be read, which is observed
   */
  waitForRevision: (tenant: string, revision: number) => Promise<void>;
};

/**
 * Answers a write of configuration when this server serves it, or has failed to read it: the write is committed, and an error
 * would say that it is not. The client can wait for the revision (Accord-Min-Revision).
 * @param object the revision of the object that was written; undefined: it is gone, or was only checked
 */
export async function answerWritten(
  reply: { header(name: string, value: string): unknown },
  serving: ConfigServing,
  tenant: string,
  { revision, object }: { revision: number; object?: number | undefined },
): Promise<Static<typeof Empty>> {
  if (object !== undefined) reply.header('etag', etagOf(object));
  reply.header('accord-revision', `c${revision}`);
  await serving.waitForRevision(tenant, revision).catch(() => {});
  return {};
}

/** The headers as an action takes them. */
export function preconditionsOf(headers: {
  'if-match'?: string | undefined;
  'if-none-match'?: string | undefined;
}): Preconditions {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  return { ...(ifMatch === undefined ? {} : { ifMatch }), ...(ifNoneMatch === '*' ? { ifNoneMatch } : {}) };
}
