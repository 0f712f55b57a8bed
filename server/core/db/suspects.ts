/**
 * Connections that may lead to a standby. Where a write found the database read-only, all connections that were opened before may:
 * behind the name that they were opened by, another server may be the primary now. They are not used again, because reads from a standby
 * raise no error.
 */

/** While the database itself is read-only, connections are not opened anew for each write. */
const AGAIN_MS = 5000;

export class Suspects {
  readonly #openedAt = new WeakMap<object, number>();
  #until = Number.NEGATIVE_INFINITY;
  /** When those become suspect that were opened since the last time. */
  #next: number | undefined;

  /** Called before it is opened. */
  opened(connection: object): void {
    this.#openedAt.set(connection, performance.now());
  }

  /** All that are open now; again so soon, those that are open at the end of that time. */
  add(): void {
    const now = performance.now();
    if (now - this.#until > AGAIN_MS) this.#until = now;
    else this.#next = this.#until + AGAIN_MS;
  }

  has(connection: object): boolean {
    if (this.#next !== undefined && performance.now() >= this.#next) {
      this.#until = this.#next;
      this.#next = undefined;
    }
    return (this.#openedAt.get(connection) ?? 0) <= this.#until;
  }
}
