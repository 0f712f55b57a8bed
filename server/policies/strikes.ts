/** The memory of who exhausted budgets lately: the last n instants of each key, nothing else. */

export class Strikes {
  readonly #count: number;
  readonly #windowMs: number;
  readonly #keysMax: number;
  readonly #instants = new Map<string, number[]>();

  /** A key is out when it has `count` strikes within `windowMs`. */
  constructor(count: number, windowMs: number, keysMax: number) {
    this.#count = count;
    this.#windowMs = windowMs;
    this.#keysMax = keysMax;
  }

  /** @param now milliseconds, monotonic */
  add(key: string, now: number): void {
    const instants = this.#instants.get(key) ?? [];
    this.#instants.delete(key); // the newest last: the first key is the one to forget
    this.#instants.set(key, [...instants, now].slice(-this.#count));
    if (this.#instants.size > this.#keysMax) this.#instants.delete(this.#instants.keys().next().value as string);
  }

  isOut(key: string, now: number): boolean {
    const instants = this.#instants.get(key);
    if (instants === undefined) return false;
    return instants.length === this.#count && (instants[0] as number) > now - this.#windowMs;
  }
}
