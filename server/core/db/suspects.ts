/**
 * Connections that may lead to a standby. Where one met a read-only database, all that were opened before may: behind the name that they
 * were opened by, another server may be the primary now. Each is closed when it is given back. Reading a standby fails by no error.
 */

/** What is opened while the database is read-only is as suspect, and is not closed after each use. */
const AGAIN_MS = 5000;

export class Suspects {
  readonly #openedAt = new WeakMap<object, number>();
  #until = Number.NEGATIVE_INFINITY;

  opened(connection: object): void {
    this.#openedAt.set(connection, performance.now());
  }

  /** All that are open now. */
  add(): void {
    const now = performance.now();
    if (now - this.#until > AGAIN_MS) this.#until = now;
  }

  has(connection: object): boolean {
    return (this.#openedAt.get(connection) ?? 0) <= this.#until;
  }
}
