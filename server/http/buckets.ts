/**
 * Counting by token buckets (RateLimit of many keys at once): each key has a second's worth, refilled as time goes
 * by. Of more keys than are kept, the one that was idle longest is forgotten: it had the most time to fill up again.
 */
import { LRUCache } from 'lru-cache';

type Bucket = { left: number; at: number };

export class Buckets {
  readonly #buckets: LRUCache<string, Bucket>;

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
    if (bucket.left < 1) return -Math.max(1, Math.ceil(((1 - bucket.left) / perSecond) * 1000));
    return --bucket.left;
  }

  /**
   * Takes more for a request that was let in: at once, into debt, so that a large one does not wait forever and is
   * paid for by those after it. Who is in debt already gets nothing.
   * @returns as take
   */
  takeMore(key: string, count: number, perSecond: number, now: number): number {
    const bucket = this.#filled(key, perSecond, now);
    if (bucket.left < 0) return -Math.max(1, Math.ceil((-bucket.left / perSecond) * 1000));
    bucket.left -= count;
    return Math.max(0, bucket.left);
  }

  /** Gives back what was taken for a request. */
  giveBack(key: string): void {
    const bucket = this.#buckets.get(key);
    if (bucket !== undefined) bucket.left++; // filling up cuts it to a second's worth
  }

  #filled(key: string, perSecond: number, now: number): Bucket {
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      bucket = { left: perSecond, at: now };
      this.#buckets.set(key, bucket);
      return bucket;
    }
    bucket.left = Math.min(perSecond, bucket.left + ((now - bucket.at) / 1000) * perSecond);
    bucket.at = now;
    return bucket;
  }
}
