/**
 * Owns taking turns on the main thread: evaluations that are known to take long run one in each turn of the event
 * loop, tenants in turn, so that whoever asks something small meanwhile waits for one of them and not for all.
 */
export class Turns {
  readonly #queues = new Map<string, (() => void)[]>();
  #scheduled = false;

  /** Runs `work` when it is the tenant's turn; rejects with what it throws. */
  run<T>(tenant: string, work: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const queue = this.#queues.get(tenant) ?? [];
      queue.push(() => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      });
      this.#queues.set(tenant, queue);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // An immediate that is set in an immediate runs after the next poll: all that has arrived is read in between.
    setImmediate(() => {
      this.#scheduled = false;
      this.#next();
    });
  }

  #next(): void {
    const [tenant, queue] = this.#queues.entries().next().value ?? [];
    if (tenant === undefined || queue === undefined) return;
    this.#queues.delete(tenant);
    const work = queue.shift();
    if (queue.length > 0) this.#queues.set(tenant, queue); // to the end: the other tenants come first
    work?.();
    if (this.#queues.size > 0) this.#schedule();
  }
}
