/**
 * MemorySource behind a bad network: what happens on the server is told later, each kind in its own order; a call fails
 * before or after it was done, or takes its time. `settle` ends all of that.
 */
import type { Key, ResourceStatus, SourceHandlers, SourceObject, StatusTarget } from '../../operator/source.ts';
import { MemorySource } from './memory-source.ts';

export class UnreliableSource extends MemorySource {
  readonly #random: () => number;
  readonly #share: number;
  /** What the operator has been told of; the base class is the server. */
  readonly #seen = new Map<Key, SourceObject>();
  readonly #telling = new Map<string, Promise<void>>();
  #isReliable = false;

  /** @param share of the calls that fail */
  constructor(random: () => number, share: number) {
    super();
    this.#random = random;
    this.#share = share;
  }

  override start(handlers: SourceHandlers): Promise<void> {
    for (const object of this.objects()) this.#seen.set(object.key, object);
    return super.start({ ...handlers, changed: (keys) => this.#tellLater(keys, handlers) });
  }
  override get(key: Key): SourceObject | undefined {
    return this.#seen.get(key);
  }
  override *keys(kind: string): Iterable<Key> {
    for (const object of this.#seen.values()) if (object.kind === kind) yield object.key;
  }
  override addFinalizer(object: SourceObject): Promise<void> {
    return this.#call(() => super.addFinalizer(object));
  }
  override writeStatus(target: StatusTarget, status: ResourceStatus): Promise<void> {
    return this.#call(() => super.writeStatus(target, status));
  }
  override removeFinalizer(target: StatusTarget): Promise<void> {
    return this.#call(() => super.removeFinalizer(target));
  }

  /** No more faults from now on; resolves when everything has been told. */
  async settle(): Promise<void> {
    this.#isReliable = true;
    await Promise.all(this.#telling.values());
  }

  async #call(call: () => Promise<void>): Promise<void> {
    if (this.#isReliable) return call();
    if (this.#random() < 0.5) await this.#pause(8);
    if (this.#random() < this.#share / 2) throw new Error('the connection broke before the request was done');
    await call();
    if (this.#random() < this.#share / 2) throw new Error('the connection broke before the answer came');
  }

  #tellLater(keys: readonly Key[], handlers: SourceHandlers): void {
    const byKind = Map.groupBy(keys, (key) => key.slice(0, key.indexOf('/')));
    for (const [kind, ofKind] of byKind) {
      const objects = ofKind.map((key) => [key, super.get(key)] as const);
      const before = this.#telling.get(kind) ?? Promise.resolve();
      const telling = before.then(async () => {
        if (!this.#isReliable && this.#random() < 0.5) await this.#pause(15);
        for (const [key, object] of objects) {
          if (object === undefined) this.#seen.delete(key);
          else this.#seen.set(key, object);
        }
        handlers.changed(ofKind);
      });
      this.#telling.set(kind, telling);
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, this.#random() * ms)); // its answers come in any order
  }
}
