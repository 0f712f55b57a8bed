/** The author of a write: the tenant, the actor for the audit, and the Idempotency-Keys of its requests. */
import type { Actor } from './auth/schema.ts';
import type { IdempotencyReservation } from './idempotency-key.ts';
import type { Writer } from './ownership.ts';

/** Whom the audit names, and the request. */
export type By = { actor: string; requestId?: string | undefined };

export type Author = {
  tenant: string;
  /** Absent where only the ledger tells of the write: then nothing is audited. */
  by?: By | undefined;
  /** The request's Idempotency-Key; several where a group of requests is written together. */
  idempotency?: IdempotencyReservation | readonly (IdempotencyReservation | undefined)[] | undefined;
  /** The end user that writes. One that was erased is known again from here on. */
  user?: Actor | undefined;
};

export type AuditedAuthor = Author & { by: By };

/** The author of a write of configuration. */
export function authorOf(tenant: string, writer: Writer): AuditedAuthor {
  return { tenant, by: writer, idempotency: writer.idempotency };
}
