/** A rate: a bucket of tokens that fills with time. Below 0 it is in debt. */

/** `at`: when it was last looked at, monotonic ms. */
export type TokenBucket = { tokens: number; at: number };

/** Adds what came in since it was last looked at. @param burst the most it holds @param now monotonic ms */
export function refill(bucket: TokenBucket, perSecond: number, burst: number, now: number): void {
  bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1000) * perSecond);
  bucket.at = now;
}

/** ms until a bucket has so many tokens, at least 1. */
export function waitMs(bucket: TokenBucket, perSecond: number, tokens: number): number {
  return Math.max(1, Math.ceil(((tokens - bucket.tokens) / perSecond) * 1000));
}

/** One bucket with its clock. */
export class Throttle {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #monotonic: () => number;
  readonly #bucket: TokenBucket;

  /** @param monotonic ms */
  constructor(options: { perSecond: number; burst: number; monotonic: () => number }) {
    this.#perSecond = options.perSecond;
    this.#burst = options.burst;
    this.#monotonic = options.monotonic;
    this.#bucket = { tokens: options.burst, at: options.monotonic() };
  }

  /** Takes a token if there is one. */
  take(): boolean {
    const bucket = this.#refilled();
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  /** Takes the next token that there will be. @returns ms until then */
  reserve(): number {
    const bucket = this.#refilled();
    bucket.tokens -= 1;
    return bucket.tokens >= 0 ? 0 : waitMs(bucket, this.#perSecond, 0);
  }

  #refilled(): TokenBucket {
    refill(this.#bucket, this.#perSecond, this.#burst, this.#monotonic());
    return this.#bucket;
  }
}
