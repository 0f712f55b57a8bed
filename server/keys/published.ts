/**
 * The keys that anybody may read, in memory: a tenant's are read when they are first asked for, and again after
 * Postgres said that they changed (a trigger on accord.signing_key). Keys are made with the first signature and not with
 * a revision, so the snapshot does not have them.
 */
import { LRUCache } from 'lru-cache';
import type { Database } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { readPublishedKeys } from './store.ts';

type Rows = Awaited<ReturnType<typeof readPublishedKeys>>;
type Published = {
  /** Of ID tokens, newest first, the retired ones too. */
  identity: Rows;
  /** Of invitations, receipts and checkpoints, in the same order. */
  records: Rows;
};

export class PublishedKeys {
  readonly #database: Pick<Database, 'read'>;
  readonly #held = new LRUCache<string, Promise<Published>>({ max: limits.publishedKeysTenantsMax });

  constructor(database: Pick<Database, 'read'>) {
    this.#database = database;
  }

  /** All but those of access tokens, which the snapshot has. */
  of(tenant: string): Promise<Published> {
    let keys = this.#held.get(tenant);
    if (keys === undefined) {
      keys = this.#database.read(tenant, (tx) => readPublishedKeys(tx, tenant)).then(byUse);
      this.#held.set(tenant, keys);
      keys.catch(() => this.#held.delete(tenant));
    }
    return keys;
  }

  /** The tenant's keys have changed; without a tenant, anybody's may have. */
  forget(tenant?: string): void {
    if (tenant === undefined) this.#held.clear();
    else this.#held.delete(tenant);
  }
}

function byUse(rows: Rows): Published {
  const [identity, records] = [true, false].map((wanted) =>
    rows.filter((row) => (row.purpose === 'identity') === wanted),
  );
  return { identity: identity as Rows, records: records as Rows };
}
