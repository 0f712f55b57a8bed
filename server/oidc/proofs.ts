/** Proofs of possession at our own endpoints: each is taken once, by all servers together. */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type PresentedProof, verifyProof } from '../core/auth/dpop.ts';
import { invalidProof } from '../core/auth/problems.ts';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { limits } from '../core/limits.ts';
import { insertRecord, withoutWaiting } from './store.ts';

type Services = { database: Database; encrypter: Encrypter; clock: Clock; baseUrl: string };

/** @returns checks the proof of a request. @throws Problem unauthenticated */
export function proofChecker(services: Services): (presented: PresentedProof) => Promise<void> {
  const { database, encrypter } = services;
  // Those that this server has seen: a replay costs Postgres nothing.
  const seen = new LRUCache<string, true>({ max: limits.dpopProofsMax });
  return async (presented) => {
    const { tenant } = presented;
    const { id, expiresAtMs } = await verifyProof(services, presented);
    const known = `${tenant} ${id}`;
    if (seen.has(known)) throw invalidProof('the proof was used already');
    seen.set(known, true);
    const key = { tenant, model: 'Proof', id: createHash('sha256').update(id).digest() };
    const payload = encrypter.encrypt(Buffer.of(), ['oidc_record', tenant, 'Proof']);
    const none = { grantId: null, uid: null, userCode: null, account: null, client: null };
    const expiresAt = new Date(expiresAtMs).toISOString();
    const isNew = await database.write(tenant, async (tx) => {
      const [, inserted] = await Promise.all([
        withoutWaiting(tx),
        insertRecord(tx, key, { ...none, payload, expiresAt }),
      ]);
      return inserted;
    });
    if (!isNew) throw invalidProof('the proof was used already');
  };
}
