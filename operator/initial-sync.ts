import { limits } from '../server/core/limits.ts';
import type { Key } from './source.ts';

/**
 * Whether everything that was there at the start has been reconciled once. A key that waits for something else counts when
 * that came and the key was reconciled again; a key that fails again and again does not hold up the rest.
 */
export class InitialSync {
  readonly #done = Promise.withResolvers<void>();
  readonly done = this.#done.promise;
  readonly #isQueued: (key: Key) => boolean;
  readonly #failures = new Map<Key, number>();
  #all: ReadonlySet<Key> = new Set();
  #left: Set<Key> | undefined;

  /** @param isQueued whether a key is to be looked at again */
  constructor(isQueued: (key: Key) => boolean) {
    this.#isQueued = isQueued;
  }

  begin(keys: readonly Key[]): void {
    if (this.#left !== undefined) return;
    this.#all = new Set(keys);
    this.#left = new Set(keys);
    this.#settle();
  }

  reconciled(key: Key, result: 'settled' | 'waiting'): void {
    if (result !== 'settled' || this.#isQueued(key)) return;
    this.#left?.delete(key);
    this.#settle();
  }

  failed(key: Key): void {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    if (failures < limits.reconcileFirstTriesMax) return;
    this.#left?.delete(key);
    this.#settle();
  }

  /** These are looked at again, because something that they waited for came. */
  requeued(keys: Iterable<Key>): void {
    for (const key of keys) if (this.#all.has(key)) this.#left?.add(key);
  }

  #settle(): void {
    if (this.#left?.size !== 0) return;
    this.#done.resolve();
    this.#all = new Set();
  }
}
