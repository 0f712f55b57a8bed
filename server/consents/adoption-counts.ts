/**
 * How many users consented to each version of a definition. Counting reads all of its consents: those of many are counted once for all
 * who ask at the same time, and their counts are kept for a while.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../core/clock.ts';
import { limits } from '../core/limits.ts';
import type { CountRow, InvitedRow } from './adoption-store.ts';

type Counts = { consents: CountRow[]; invited: InvitedRow[] };
export type Counted = Counts & {
  /** ms */
  countedAt: number;
};

export class AdoptionCounts {
  readonly #clock: Clock;
  readonly #count: (tenant: string, definition: string) => Promise<Counts>;
  readonly #counting = new Map<string, Promise<Counted>>();
  readonly #kept = new LRUCache<string, Counted>({ max: limits.adoptionsKept });

  constructor(clock: Clock, count: (tenant: string, definition: string) => Promise<Counts>) {
    this.#clock = clock;
    this.#count = count;
  }

  of(tenant: string, definition: string): Promise<Counted> {
    const key = JSON.stringify([tenant, definition]);
    const kept = this.#kept.get(key);
    if (kept !== undefined && this.#clock.now() < kept.countedAt + limits.adoptionKeptMs) return Promise.resolve(kept);
    const counting = this.#counting.get(key) ?? this.#begin(key, tenant, definition);
    this.#counting.set(key, counting);
    return counting;
  }

  async #begin(key: string, tenant: string, definition: string): Promise<Counted> {
    const countedAt = this.#clock.now();
    try {
      const counted = { ...(await this.#count(tenant, definition)), countedAt };
      const users = counted.consents.reduce((sum, row) => sum + row.users, 0);
      if (users >= limits.adoptionKeptUsersMin) this.#kept.set(key, counted);
      else this.#kept.delete(key);
      return counted;
    } finally {
      this.#counting.delete(key);
    }
  }
}
