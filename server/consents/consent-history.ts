/** Reading what users gave, together with what others ask of the same tenant meanwhile. */

import { BatchLoader } from '../core/batch-loader.ts';
import type { Database } from '../core/db/database.ts';
import type { GivenRow } from './schema.ts';
import { readConsentHistory } from './store.ts';

type HistoryQuery = { userId: string; name: string | null };

export class ConsentHistory {
  readonly #questions: BatchLoader<HistoryQuery, GivenRow[]>;

  constructor(database: Pick<Database, 'read'>) {
    this.#questions = new BatchLoader<HistoryQuery, GivenRow[]>({
      read: async (tenant, questions) => {
        const numbered = questions.map((question, n) => ({ n, ...question }));
        const found = await database.read(tenant, (tx) => readConsentHistory(tx, tenant, numbered));
        const rows = Map.groupBy(found, (row) => row.n);
        return questions.map((_, n) => rows.get(n) ?? []);
      },
    });
  }

  /** @param name of a definition; absent: of all */
  of(tenant: string, userId: string, name?: string): Promise<GivenRow[]> {
    return this.#questions.ask(tenant, { userId, name: name ?? null });
  }
}
