/**
 * What an action knows of an Idempotency-Key: where its route states `config.idempotency` and the request has the header,
 * `request.idempotency` is there, and the action reserves the key in its own transaction. server/idempotency does the rest.
 */
import { Type } from 'typebox';
import { patterns } from '../../crds/index.ts';
import type { Transaction } from './db/transaction.ts';
import { limits } from './limits.ts';

export type IdempotencyReservation = {
  /** Whoever reserves several reserves them in this order, so that no two wait for one another. */
  readonly id: string;
  /**
   * Records that the action was carried out: it holds when the transaction is committed. server/writes calls it before it takes
   * other locks, but after the lock against erasing (lockErasingShared): an erasure that begins makes those wait who want that lock, and
   * whoever waited there with a key would stop those who have the lock and wait for the key.
   * @throws Problem idempotency_key_in_use when another request with this key was faster
   */
  reserve(tx: Transaction): Promise<void>;
};

/** What a route states of its answers. `secrets`: members that hold a secret; an answer with one of them is not stored. */
export type IdempotencyRoute = { secrets?: readonly string[] };

declare module 'fastify' {
  interface FastifyContextConfig {
    idempotency?: IdempotencyRoute;
  }
  interface FastifyRequest {
    idempotency: IdempotencyReservation | null;
  }
}

export const IdempotencyKey = Type.Optional(
  Type.String({
    pattern: patterns.visibleAscii.source,
    maxLength: limits.idempotencyKeyCharsMax,
    description:
      'Visible ASCII characters that the client chooses, such as a UUID. A request that is repeated with the same key within 24 hours is not processed again: it gets the response of the first one, with Idempotency-Replayed: true. Using the key for another request gives 422.',
  }),
);

export async function reserveAll(tx: Transaction, all: readonly (IdempotencyReservation | undefined)[]): Promise<void> {
  const keys = all.filter((one) => one !== undefined).sort((a, b) => (a.id < b.id ? -1 : 1));
  for (const one of keys) await one.reserve(tx);
}

/** For the writer of an action: no member at all without a key. */
export function idempotencyOf(request: { idempotency?: IdempotencyReservation | null }): {
  idempotency?: IdempotencyReservation;
} {
  return request.idempotency ? { idempotency: request.idempotency } : {};
}
