/**
 * A semaphore for each key: a bounded number of one key is inside at once, and more of it wait for one another, not for other
 * keys. Connections of a pool are shared out to tenants with it, so that slow queries of one do not keep the others waiting.
 */
export class KeyedSemaphore {
  readonly #max: number;
  readonly #inside = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  /** @param max how many of one key may be inside at once */
  constructor(max: number) {
    this.#max = max;
  }

  /** Runs `work` when fewer than `max` of the key are inside, in the order of asking. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    await this.#enter(key);
    try {
      return await work();
    } finally {
      this.#leave(key);
    }
  }

  /** How many of the key wait to be inside. */
  waiting(key: string): number {
    return this.#waiting.get(key)?.length ?? 0;
  }

  #enter(key: string): Promise<void> | undefined {
    const inside = this.#inside.get(key) ?? 0;
    if (inside < this.#max) {
      this.#inside.set(key, inside + 1);
      return undefined;
    }
    return new Promise((resolve) => {
      const queue = this.#waiting.get(key);
      if (queue) queue.push(resolve);
      else this.#waiting.set(key, [resolve]);
    });
  }

  #leave(key: string): void {
    const queue = this.#waiting.get(key);
    const next = queue?.shift();
    if (queue?.length === 0) this.#waiting.delete(key);
    if (next) {
      next(); // takes the place that is given up
      return;
    }
    const inside = (this.#inside.get(key) ?? 1) - 1;
    if (inside === 0) this.#inside.delete(key);
    else this.#inside.set(key, inside);
  }
}
