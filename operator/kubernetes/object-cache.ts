/**
 * What is known of our objects, and which keys changed since that was last told. What we wrote ourselves comes back as
 * an event: the object stays the same one, and nothing is told.
 */
import type { Observe } from '../../server/core/observe.ts';
import { digestOf } from '../manifest.ts';
import { type Key, type KindName, keyOf, type SourceObject } from '../source.ts';
import { convert, marksOf, statusDigest } from './convert.ts';
import { idOf, type RawObject, type Sink } from './reflector.ts';
import { isLater } from './versions.ts';

export const FINALIZER = 'accord.dev/finalizer';

type Entry = {
  readonly object: SourceObject;
  readonly version: string;
  readonly finalizers: readonly string[];
  /** Of the status that the API server has. */
  readonly status: string;
  readonly marks: string;
};

type Metadata = RawObject['metadata'];

const none: readonly string[] = [];

export class ObjectCache {
  readonly #entries = new Map<Key, Entry>();
  readonly #keys = new Map<KindName, Set<Key>>();
  readonly #tell: (keys: readonly Key[]) => void;
  readonly #observe: Observe;

  constructor(tell: (keys: readonly Key[]) => void, observe: Observe) {
    this.#tell = tell;
    this.#observe = observe;
  }

  entry(key: Key): Entry | undefined {
    return this.#entries.get(key);
  }

  keys(kind: KindName): Iterable<Key> {
    return this.#keys.get(kind) ?? [];
  }

  /** Every object of a namespace. */
  *inNamespace(namespace: string): Iterable<Key> {
    for (const { object } of this.#entries.values()) if (object.namespace === namespace) yield object.key;
  }

  /**
   * What the API server answered to a write of ours. Where it says that more has changed than we wrote, or that the object
   * is another one, that is heard from the watch.
   * @param status digest of it, where it was written
   */
  wrote(kind: KindName, { uid, generation, resourceVersion: version, ...metadata }: Metadata, status?: string): void {
    const key = keyOf({ kind, namespace: metadata.namespace ?? '', name: metadata.name });
    const entry = this.#entries.get(key);
    if (entry?.object.uid !== uid || entry.object.generation !== generation) return;
    if (!isLater(version, entry.version) || digestOf(marksOf(metadata)) !== entry.marks) return;
    const finalizers = metadata.finalizers?.length ? metadata.finalizers : none;
    if (status !== undefined) this.#entries.set(key, { ...entry, version, finalizers, status });
    // Somebody else may have written the status before us; at the old version the event still counts as news.
    else this.#entries.set(key, { ...entry, finalizers });
  }

  sinkOf(kind: KindName): Sink {
    const keys = new Set<Key>();
    this.#keys.set(kind, keys);
    // Of this kind alone: what another one has got of a list so far is not told before it is all there.
    const changed = new Set<Key>();
    const keyOfRaw = (raw: RawObject): Key => `${kind}/${idOf(raw)}`;
    const remove = (key: Key) => {
      this.#entries.delete(key);
      keys.delete(key);
      changed.add(key);
    };
    return {
      put: (raw, listed) =>
        this.#safely(() => {
          const key = keyOfRaw(raw);
          if (this.#put(kind, key, raw, listed)) changed.add(key);
          keys.add(key);
        }),
      remove: (raw) => {
        const key = keyOfRaw(raw);
        if (this.#entries.get(key)?.object.uid === raw.metadata.uid) remove(key);
      },
      retain: (listed) => {
        for (const key of keys) if (!listed.has(key.slice(kind.length + 1))) remove(key);
      },
      flush: () => {
        const told = [...changed];
        changed.clear();
        if (told.length > 0) this.#safely(() => this.#tell(told));
        return told.length;
      },
    };
  }

  /** @returns whether it is another object now */
  #put(kind: KindName, key: Key, raw: RawObject, listed: boolean): boolean {
    const { metadata } = raw;
    const before = this.#entries.get(key);
    const { uid, resourceVersion: version, generation } = metadata;
    if (!listed && before?.object.uid === uid && !isLater(version, before.version)) return false;
    const finalizers = metadata.finalizers?.length ? metadata.finalizers : none;
    const marks = digestOf(marksOf(metadata));
    const deleting = metadata.deletionTimestamp !== undefined;
    const known = before?.object;
    const isSame =
      known !== undefined &&
      known.uid === uid &&
      known.generation === generation &&
      known.deleting === deleting &&
      before?.marks === marks;
    const object = isSame ? known : convert(kind, raw);
    this.#entries.set(key, { object, version, finalizers, status: statusDigest(raw.status), marks });
    const lostFinalizer = before?.finalizers.includes(FINALIZER) && !finalizers.includes(FINALIZER) && !deleting;
    return !isSame || lostFinalizer === true;
  }

  /** An object that we stumble over must not end the watch of all others. */
  #safely(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#observe({ kind: 'background_failed', task: 'kubernetes store', error });
    }
  }
}
