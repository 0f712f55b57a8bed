/**
 * Owns reading what users gave: every question is answered by a query that begins after it was asked, and questions of one
 * tenant that come while others are being read go together in the next query.
 */
import type { Database } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import type { ConsentRow } from './schema.ts';
import { readPasts } from './store.ts';

type Waiting = {
  userId: string;
  name: string | null;
  resolve: (rows: ConsentRow[]) => void;
  reject: (error: unknown) => void;
};
type Lane = { waiting: Waiting[]; queries: number; scheduled: boolean };

export class PastConsents {
  readonly #database: Pick<Database, 'read'>;
  readonly #lanes = new Map<string, Lane>();

  constructor(database: Pick<Database, 'read'>) {
    this.#database = database;
  }

  /** @param name of a definition; absent: of all */
  of(tenant: string, userId: string, name?: string): Promise<ConsentRow[]> {
    return new Promise((resolve, reject) => {
      let lane = this.#lanes.get(tenant);
      if (lane === undefined) {
        lane = { waiting: [], queries: 0, scheduled: false };
        this.#lanes.set(tenant, lane);
      }
      lane.waiting.push({ userId, name: name ?? null, resolve, reject });
      this.#schedule(tenant, lane);
    });
  }

  /** After all requests that have arrived together were looked at. */
  #schedule(tenant: string, lane: Lane): void {
    if (lane.scheduled || lane.queries >= limits.factsQueriesPerTenantMax) return;
    lane.scheduled = true;
    setImmediate(() => {
      lane.scheduled = false;
      void this.#query(tenant, lane);
    });
  }

  async #query(tenant: string, lane: Lane): Promise<void> {
    const batch = lane.waiting.splice(0, limits.factsQuestionsMax);
    lane.queries++;
    if (lane.waiting.length > 0) this.#schedule(tenant, lane);
    try {
      const questions = batch.map(({ userId, name }, n) => ({ n, userId, name }));
      const found = await this.#database.read(tenant, (tx) => readPasts(tx, tenant, questions));
      const rows = Map.groupBy(found, (row) => row.n);
      for (const [n, { resolve }] of batch.entries()) resolve(rows.get(n) ?? []);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      lane.queries--;
      if (lane.waiting.length > 0) this.#schedule(tenant, lane);
      else if (lane.queries === 0 && !lane.scheduled) this.#lanes.delete(tenant);
    }
  }
}
