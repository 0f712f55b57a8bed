/**
 * Counting by token buckets (RateLimit of many keys at once): each key has a second's worth, refilled as time goes
 * by. Of more keys than are kept, the one that was idle longest is forgotten: it had the most time to fill up again.
 */
import { LRUCache } from 'lru-cache';
import { refill, type TokenBucket, waitMs } from '../core/token-bucket.ts';

export class Buckets {
  readonly #buckets: LRUCache<string, TokenBucket>;

  /** @param keysMax how many are remembered */
  constructor(keysMax: number) {
    this.#buckets = new LRUCache({ max: keysMax });
  }

  /**
   * Takes one request from the key's bucket.
   * @param perSecond what it refills by, and the most it holds @param now ms
   * @returns what is left, or minus the milliseconds until there is one again
   */
  take(key: string, perSecond: number, now: number): number {
    const bucket = this.#filled(key, perSecond, now);
    if (bucket.tokens < 1) return -waitMs(bucket, perSecond, 1);
    return --bucket.tokens;
  }

  /**
   * Takes more for a request that was let in: at once, into debt, so that a large one does not wait forever and is
   * paid for by those after it. Who is in debt already gets nothing.
   * @returns as take
   */
  takeMore(key: string, count: number, perSecond: number, now: number): number {
    const bucket = this.#filled(key, perSecond, now);
    if (bucket.tokens < 0) return -waitMs(bucket, perSecond, 0);
    bucket.tokens -= count;
    return Math.max(0, bucket.tokens);
  }

  /** Gives back what was taken for a request. */
  giveBack(key: string): void {
    const bucket = this.#buckets.get(key);
    if (bucket !== undefined) bucket.tokens++; // filling up cuts it to a second's worth
  }

  #filled(key: string, perSecond: number, now: number): TokenBucket {
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      bucket = { tokens: perSecond, at: now };
      this.#buckets.set(key, bucket);
      return bucket;
    }
    refill(bucket, perSecond, perSecond, now);
    return bucket;
  }
}
