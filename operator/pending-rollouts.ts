/**
 * What was written and is not known yet to be served by every live server: objects that were accepted, which are not
 * written again meanwhile, and rows that were removed, whose manifests go when no server decides with them any more.
 * Lost with the process: then the database is asked again.
 */
import type { Accepted } from './accept.ts';
import type { Key, SourceObject } from './source.ts';

type AcceptedObject = Extract<Accepted, { ok: true }>;

export class PendingRollouts {
  readonly #accepted = new Map<Key, { object: SourceObject; accepted: AcceptedObject }>();
  /** The revision of the tenant that does not hold the row any more. */
  readonly #removed = new Map<Key, number>();

  accepted(object: SourceObject, accepted: AcceptedObject): void {
    this.#accepted.set(object.key, { object, accepted });
  }

  /** What was accepted of this very version of an object; an earlier version's is forgotten. */
  acceptedOf(object: SourceObject): AcceptedObject | undefined {
    const known = this.#accepted.get(object.key);
    if (known?.object === object) return known.accepted;
    this.#accepted.delete(object.key);
    return undefined;
  }

  /** It is served, or is to be accepted anew. */
  forgetAccepted(key: Key): void {
    this.#accepted.delete(key);
  }

  rowRemoved(key: Key, revision: number): void {
    this.#removed.set(key, revision);
  }

  /** The first revision without the row that was removed. */
  revisionWithout(key: Key): number | undefined {
    return this.#removed.get(key);
  }

  /** The manifest is there again, or nothing is left of it. */
  forgetRemoved(key: Key): void {
    this.#removed.delete(key);
  }

  /** Everything is compared with the database again. */
  forgetAllAccepted(): void {
    this.#accepted.clear();
  }

  clear(): void {
    this.#accepted.clear();
    this.#removed.clear();
  }
}
