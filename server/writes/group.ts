/**
 * Group commit: what is asked for one tenant while others are being written goes together in the next transaction, with one
 * commit for all. What failed together is written one by one, because it may be the fault of one of them; not so when the
 * database is away.
 */
import { takeFitting } from '../core/batch-loader.ts';
import { takesNoWrites } from '../core/db/errors.ts';
import type { RecordWritten } from './write.ts';

type GroupOptions<Item, Result> = {
  /** One transaction. @returns a result for each item, in their order */
  write: (tenant: string, items: readonly Item[]) => Promise<RecordWritten<readonly Result[]>>;
  sizeOf: (item: Item) => number;
  /** Of all items of a group; an item is never divided. */
  sizeMax: number;
  /** Transactions of a tenant at once. */
  writingMax: number;
};
type Waiting<Item, Result> = {
  item: Item;
  resolve: (written: RecordWritten<Result>) => void;
  reject: (error: unknown) => void;
};
type Lane<Item, Result> = { waiting: Waiting<Item, Result>[]; writing: number };

export class GroupCommit<Item, Result> {
  readonly #options: GroupOptions<Item, Result>;
  readonly #lanes = new Map<string, Lane<Item, Result>>();

  constructor(options: GroupOptions<Item, Result>) {
    this.#options = options;
  }

  /** Resolves when the item is committed. */
  write(tenant: string, item: Item): Promise<RecordWritten<Result>> {
    return new Promise((resolve, reject) => {
      const lane = this.#lanes.get(tenant) ?? { waiting: [], writing: 0 };
      this.#lanes.set(tenant, lane);
      lane.waiting.push({ item, resolve, reject });
      if (lane.writing < this.#options.writingMax) void this.#write(tenant, lane);
    });
  }

  async #write(tenant: string, lane: Lane<Item, Result>): Promise<void> {
    const { sizeOf, sizeMax } = this.#options;
    lane.writing++;
    // After all requests that have arrived together were looked at.
    await new Promise((resolve) => setImmediate(resolve));
    while (lane.waiting.length > 0) {
      const group = takeFitting(lane.waiting, ({ item }) => sizeOf(item), sizeMax);
      await this.#writeGroup(tenant, group).catch((error) => this.#writeSingly(tenant, group, error));
    }
    lane.writing--;
    if (lane.writing === 0) this.#lanes.delete(tenant);
  }

  async #writeGroup(tenant: string, group: readonly Waiting<Item, Result>[]): Promise<void> {
    const items = group.map(({ item }) => item);
    const { result, revision } = await this.#options.write(tenant, items);
    for (const [i, { resolve }] of group.entries()) resolve({ result: result[i] as Result, revision });
  }

  async #writeSingly(tenant: string, group: readonly Waiting<Item, Result>[], error: unknown): Promise<void> {
    if (group.length === 1 || takesNoWrites(error)) {
      for (const { reject } of group) reject(error);
      return;
    }
    for (const [i, one] of group.entries()) {
      try {
        await this.#writeGroup(tenant, [one]);
      } catch (failure) {
        one.reject(failure);
        if (takesNoWrites(failure)) return this.#writeSingly(tenant, group.slice(i + 1), failure);
      }
    }
  }
}
