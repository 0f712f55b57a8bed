/** How the Config API writes, alike in every room: the headers, who the writer is, and the answer. */
import { type Static, Type } from 'typebox';
import type { Caller } from '../core/auth/schema.ts';
import { type IdempotencyReservation, idempotencyOf } from '../core/idempotency-key.ts';
import { apiOwner, type Writer } from '../core/ownership.ts';
import { problem } from '../core/problems.ts';
import { memberOf } from './fastify.ts';

/** The headers of a write of configuration. */
export const IfMatch = Type.Object({ 'if-match': Type.Optional(Type.String({ maxLength: 1024 })) });
/** The answer of a write of configuration. */
export const Empty = Type.Object({}, { additionalProperties: false });

/** An entity tag of a revision. */
export function etagOf(revision: number): string {
  return `"${revision}"`;
}

/**
 * If-Match against the object's current revision (undefined: there is no object; `*` then fails too).
 * @throws Problem precondition_failed
 */
export function checkIfMatch(header: string | undefined, current: number | undefined): void {
  if (header === undefined) return;
  const tags = header.split(',').map((tag) => tag.trim());
  const matches = current !== undefined && (tags.includes('*') || tags.includes(etagOf(current)));
  if (!matches)
    throw problem('precondition_failed', {
      detail: `If-Match is ${header}; the object ${current === undefined ? 'does not exist' : `is at ${etagOf(current)}`}.`,
    });
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

/** The If-Match header as an action takes it. */
export function ifMatchOf(headers: { 'if-match'?: string }): { ifMatch?: string } {
  return headers['if-match'] === undefined ? {} : { ifMatch: headers['if-match'] };
}
