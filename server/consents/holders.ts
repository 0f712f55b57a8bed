/**
 * Reads the consents of data subjects: the holders of a relationship are found and read with their consents in one round trip,
 * together with users who are named, and with the questions of the same tenant that arrive meanwhile.
 */
import type { Static } from 'typebox';
import { BatchLoader } from '../core/batch-loader.ts';
import type { Database } from '../core/db/database.ts';
import type { FairScheduler } from '../core/fair-scheduler.ts';
import { RowsCost } from '../core/rows-cost.ts';
import type { ConsentFact, HoldersFound, HoldersQuery } from '../facts/index.ts';
import { consentFactsOf } from './facts.ts';
import type { GivenRow, HolderRow } from './schema.ts';
import { readHolders } from './store.ts';

type Row = Static<typeof HolderRow>;
/** `now`: RFC 3339. */
type HoldersBatchQuery = Pick<HoldersQuery, 'holding' | 'persons'> & { now: string };

export class HolderReader {
  readonly #questions: BatchLoader<HoldersBatchQuery, Row[]>;
  readonly #cost: RowsCost;

  /** @param scheduler absent: nothing else uses the main thread */
  constructor(database: Pick<Database, 'read'>, scheduler?: FairScheduler) {
    this.#cost = new RowsCost(scheduler);
    this.#questions = new BatchLoader<HoldersBatchQuery, Row[]>({
      mostOf: (tenant) => this.#cost.questionsMost(tenant),
      read: async (tenant, questions) => {
        const holdings = questions.flatMap(({ holding, now }, n) => (holding ? [{ n, now, ...holding }] : []));
        const persons = questions.flatMap(({ persons }, n) => persons.map((userId) => ({ n, userId })));
        const found = await database.read(tenant, (tx) => readHolders(tx, tenant, holdings, persons));
        const turn = this.#cost.read(tenant, questions.length, found.length);
        if (turn) await turn;
        const rows: Row[][] = questions.map(() => []);
        for (const row of found) (rows[row.n] as Row[]).push(row);
        return rows;
      },
    });
  }

  /** @param now ms: expiry and consents are evaluated at it */
  async read({ tenant, definitions, holding, persons }: HoldersQuery, now: number): Promise<HoldersFound> {
    const asked = { persons, now: new Date(now).toISOString(), ...(holding ? { holding } : {}) };
    const rows = Map.groupBy(await this.#questions.ask(tenant, asked), (row) => row.user_id);
    const consents = new Map<string, ConsentFact[]>();
    const holders: string[] = [];
    for (const [id, own] of rows) {
      // A user who is named and also holds the relationship has each row twice.
      const first = own[0] as Row;
      const given = own.filter((row): row is GivenRow & Row => row.named === first.named && row.id !== null);
      if (own.some(({ named }) => !named)) holders.push(id);
      consents.set(id, consentFactsOf(given, definitions, now));
    }
    return { holders, consents };
  }
}
