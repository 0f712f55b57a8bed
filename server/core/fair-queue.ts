/**
 * A queue that takes from its keys (tenants) in turn, each key's items in the order of their coming. It may be bounded: then
 * the key that holds most loses its oldest items, so that a tenant that floods the queue loses its own. A bound for each key is
 * its caller's, who refuses what is too much (`length`).
 */
type Bounds<Item> = {
  /** Of all keys together. */
  countMax: number;
  /** Of all keys together, in the unit of `sizeOf`. */
  sizeMax: number;
  sizeOf: (item: Item) => number;
};

type Lane<Item> = { items: Item[] /** Of `items`, the first that still waits. */; first: number; size: number };

export class FairQueue<Key, Item> {
  readonly #bounds: Bounds<Item> | undefined;
  /** In the order of their turns; none is empty. */
  readonly #lanes = new Map<Key, Lane<Item>>();
  #count = 0;
  #size = 0;

  constructor(bounds?: Bounds<Item>) {
    this.#bounds = bounds;
  }

  /** How many items wait. */
  get count(): number {
    return this.#count;
  }

  /** How many items of a key wait. */
  length(key: Key): number {
    const lane = this.#lanes.get(key);
    return lane === undefined ? 0 : lane.items.length - lane.first;
  }

  /** Keys with items, in the order of their turns. */
  keys(): IterableIterator<Key> {
    return this.#lanes.keys();
  }

  /** @returns the keys that lost an item by it, once for each item */
  push(key: Key, item: Item): Key[] {
    let lane = this.#lanes.get(key);
    if (lane === undefined) {
      lane = { items: [], first: 0, size: 0 };
      this.#lanes.set(key, lane);
    }
    lane.items.push(item);
    this.#count++;
    return this.#bounds === undefined ? none : this.#evict(this.#bounds, lane, item);
  }

  /** The oldest item of the first key in turn that `isReady`; the key is the last in turn then. */
  shift(isReady?: (key: Key) => boolean): { key: Key; item: Item } | undefined {
    for (const [key, lane] of this.#lanes) {
      if (isReady !== undefined && !isReady(key)) continue;
      const item = this.#shift(key, lane);
      if (this.#lanes.delete(key)) this.#lanes.set(key, lane);
      return { key, item };
    }
    return undefined;
  }

  /** The oldest item of a key that has one, whose turn stays: for an order that is not this queue's. */
  shiftOf(key: Key): Item {
    return this.#shift(key, this.#lanes.get(key) as Lane<Item>);
  }

  /** At most so many items, one of each key in turn, and no more once they have the size; the first one whatever its size. */
  take(count: number, size: number): Item[] {
    const taken: Item[] = [];
    for (let room = size; taken.length < count && room > 0; ) {
      const next = this.shift();
      if (next === undefined) break;
      taken.push(next.item);
      room -= this.#bounds?.sizeOf(next.item) ?? 0;
    }
    return taken;
  }

  #evict({ countMax, sizeMax, sizeOf }: Bounds<Item>, lane: Lane<Item>, item: Item): Key[] {
    const size = sizeOf(item);
    lane.size += size;
    this.#size += size;
    const losing: Key[] = [];
    while (this.#count > countMax || this.#size > sizeMax) {
      const most = this.#holdingMost(this.#count > countMax ? countOf : (one) => one.size);
      this.shiftOf(most);
      losing.push(most);
    }
    return losing;
  }

  #holdingMost(held: (lane: Lane<Item>) => number): Key {
    let most: { key: Key; size: number } | undefined;
    for (const [key, lane] of this.#lanes) {
      const size = held(lane);
      if (most === undefined || size > most.size) most = { key, size };
    }
    return (most as { key: Key }).key;
  }

  #shift(key: Key, lane: Lane<Item>): Item {
    const item = lane.items[lane.first] as Item;
    lane.items[lane.first++] = undefined as never; // to be collected
    this.#count--;
    if (this.#bounds !== undefined) {
      const size = this.#bounds.sizeOf(item);
      lane.size -= size;
      this.#size -= size;
    }
    if (lane.first === lane.items.length) this.#lanes.delete(key);
    // Array.shift of a long array moves all of it.
    else if (lane.first > 1000 && lane.first * 2 > lane.items.length) {
      lane.items = lane.items.slice(lane.first);
      lane.first = 0;
    }
    return item;
  }
}

const none: never[] = [];

function countOf({ items, first }: { items: unknown[]; first: number }): number {
  return items.length - first;
}
