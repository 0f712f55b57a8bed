/**
 * One worker that empties what waits. It begins when something comes, and ends in the step in which it finds nothing: what came
 * between the last look and the end would wait until something else comes.
 */
export class Drain {
  readonly #isWaiting: () => boolean;
  readonly #work: () => Promise<void>;
  #running: Promise<void> | undefined;

  /** @param work empties what waits */
  constructor(isWaiting: () => boolean, work: () => Promise<void>) {
    this.#isWaiting = isWaiting;
    this.#work = work;
  }

  /** Begins the work unless it is under way. Resolves when nothing waits any more; rejects when the work does. */
  run(): Promise<void> {
    this.#running ??= this.#drain();
    return this.#running;
  }

  /** The work that is under way. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  async #drain(): Promise<void> {
    try {
      do await this.#work();
      while (this.#isWaiting());
    } finally {
      this.#running = undefined;
    }
  }
}
