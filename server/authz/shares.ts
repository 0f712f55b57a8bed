/**
 * Owns a bounded queue that tenants share: they are taken from in turn, and when it is full, the oldest item of the
 * tenant that holds most is dropped. So a tenant that floods it loses its own items.
 */
type Item<T> = { value: T; chars: number };
type Share<T> = { items: Item<T>[] /** of `items`, the first that is still there */; first: number; chars: number };

export class Shares<T> {
  readonly #max: { count: number; chars: number };
  /** In the order of their turns. */
  readonly #shares = new Map<string, Share<T>>();
  #count = 0;
  #chars = 0;

  constructor(max: { count: number; chars: number }) {
    this.#max = max;
  }

  get count(): number {
    return this.#count;
  }

  /** @returns the tenants that lost an item, once for each */
  add(tenant: string, value: T, chars: number): string[] {
    let share = this.#shares.get(tenant);
    if (share === undefined) {
      share = { items: [], first: 0, chars: 0 };
      this.#shares.set(tenant, share);
    }
    share.items.push({ value, chars });
    share.chars += chars;
    this.#count++;
    this.#chars += chars;
    const dropped: string[] = [];
    while (this.#count > this.#max.count || this.#chars > this.#max.chars) {
      const most = this.#holdingMost(this.#count > this.#max.count ? countOf : (one) => one.chars);
      this.#shift(most);
      dropped.push(most);
    }
    return dropped;
  }

  /** At most so many, one of each tenant in turn; the first one whatever its size. */
  take(count: number, chars: number): T[] {
    const taken: T[] = [];
    for (let room = chars; taken.length < count && room > 0; ) {
      const [tenant] = this.#shares.keys();
      if (tenant === undefined) break;
      const { value, chars: size } = this.#shift(tenant);
      taken.push(value);
      room -= size;
      const share = this.#shares.get(tenant);
      if (share === undefined) continue;
      this.#shares.delete(tenant);
      this.#shares.set(tenant, share); // to the end: the other tenants come first
    }
    return taken;
  }

  #holdingMost(held: (share: Share<T>) => number): string {
    let [most, max] = ['', -1];
    for (const [tenant, share] of this.#shares) {
      const size = held(share);
      if (size > max) [most, max] = [tenant, size];
    }
    return most;
  }

  #shift(tenant: string): Item<T> {
    const share = this.#shares.get(tenant) as Share<T>;
    const item = share.items[share.first] as Item<T>;
    share.items[share.first++] = undefined as never; // to be collected
    share.chars -= item.chars;
    this.#count--;
    this.#chars -= item.chars;
    if (share.first === share.items.length) this.#shares.delete(tenant);
    // Array.shift of a long array moves all of it.
    else if (share.first > 1000 && share.first * 2 > share.items.length) {
      share.items = share.items.slice(share.first);
      share.first = 0;
    }
    return item;
  }
}

function countOf({ items, first }: { items: unknown[]; first: number }): number {
  return items.length - first;
}
