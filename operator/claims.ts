/**
 * Who claims which name: two manifests of one kind may want the same object of a tenant. The one whose row is there
 * keeps it; among those without a row, the oldest comes first, so that the winner does not depend on the order of work.
 */
import type { ResourceClaim } from '../server/room/resource-kind.ts';
import type { Key, KindName, SourceObject } from './source.ts';

export class Claims {
  readonly #claimants = new Map<string, Map<Key, SourceObject>>();
  readonly #claimOf = new Map<Key, string>();

  /**
   * The object of a key as it is now; undefined: gone.
   * @returns who claim what it claimed before and claims no more: one of them may be the oldest now
   */
  update(key: Key, object: SourceObject | undefined): Key[] {
    const before = this.#claimOf.get(key);
    const claim = object?.claims !== undefined && object.checked.ok ? claimId(object) : undefined;
    if (before !== undefined) {
      this.#claimants.get(before)?.delete(key);
      if (this.#claimants.get(before)?.size === 0) this.#claimants.delete(before);
      this.#claimOf.delete(key);
    }
    if (object !== undefined && claim !== undefined) {
      this.#claimOf.set(key, claim);
      this.#claimants.set(claim, (this.#claimants.get(claim) ?? new Map()).set(key, object));
    }
    return before === undefined || before === claim ? [] : [...(this.#claimants.get(before)?.keys() ?? [])];
  }

  /**
   * The oldest other manifest that claims the same name and is older than this one.
   * @param isAllowed whether a manifest of this namespace may claim it at all
   */
  olderClaimant(object: SourceObject, isAllowed: (namespace: string) => boolean): SourceObject | undefined {
    const rivals = [...(this.#claimants.get(claimId(object))?.values() ?? [])];
    const oldest = rivals.filter((one) => one.key === object.key || isAllowed(one.namespace)).sort(byAge)[0];
    return oldest === undefined || oldest.key === object.key ? undefined : oldest;
  }

  /** The manifests that claim a name. */
  claimantsOf(kind: KindName, claims: ResourceClaim): Iterable<SourceObject> {
    return this.#claimants.get(claimId({ kind, claims }))?.values() ?? [];
  }
}

function claimId({ kind, claims }: Pick<SourceObject, 'kind' | 'claims'>): string {
  return JSON.stringify([kind, claims?.tenant, claims?.name]);
}

/** A source without times of creation has the order of keys. */
function byAge(a: SourceObject, b: SourceObject): number {
  const [left, right] = [a, b].map((one) => `${one.createdAt ?? ''} ${one.key}`) as [string, string];
  return left < right ? -1 : left > right ? 1 : 0;
}
