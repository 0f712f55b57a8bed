/** A rate: a bucket of tokens that fills with time. */

export class Bucket {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #monotonic: () => number;
  #tokens: number;
  #at: number;

  /** @param monotonic ms */
  constructor(options: { perSecond: number; burst: number; monotonic: () => number }) {
    this.#perSecond = options.perSecond;
    this.#burst = options.burst;
    this.#monotonic = options.monotonic;
    this.#tokens = options.burst;
    this.#at = options.monotonic();
  }

  /** Takes a token if there is one. */
  take(): boolean {
    this.#fill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Takes the next token that there will be. @returns ms until then */
  reserve(): number {
    this.#fill();
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : Math.ceil((-this.#tokens * 1000) / this.#perSecond);
  }

  #fill(): void {
    const now = this.#monotonic();
    this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#at) * this.#perSecond) / 1000);
    this.#at = now;
  }
}
