/**
 * What it costs to read rows for many questions of a tenant in one query. pg parses them all at once: a large answer waits for its
 * turn of the main thread, and the tenant's next query has fewer questions.
 */
import type { FairScheduler } from './fair-scheduler.ts';
import { limits } from './limits.ts';

/** What pg takes of the main thread for a row that it parses: an estimate, because pg parses outside of what is measured. */
const ROW_MS = 0.0015;
/** What more than so many rows are made into waits for its turn. */
const ROWS_PROMPT = 100;

export class RowsCost {
  readonly #scheduler: FairScheduler | undefined;
  /** How many questions of a tenant go together, where the last ones found so much that fewer have to. */
  readonly #fewer = new Map<string, number>();

  /** @param scheduler absent: nothing else uses the main thread */
  constructor(scheduler?: FairScheduler) {
    this.#scheduler = scheduler;
  }

  /** How many questions go together. */
  questionsMost(tenant: string): number {
    return this.#fewer.get(tenant) ?? limits.factsQuestionsMax;
  }

  /**
   * Counts the rows of a query.
   * @param unread rows that were not read, which count for the size of the next query only
   * @returns the turn of the main thread to wait for, or undefined
   */
  read(tenant: string, questions: number, rows: number, unread = 0): Promise<void> | undefined {
    const fitting = Math.max(1, Math.floor((limits.factsRowsTogetherMax * questions) / Math.max(rows + unread, 1)));
    if (fitting < limits.factsQuestionsMax) this.#fewer.set(tenant, fitting);
    else this.#fewer.delete(tenant);
    if (rows <= ROWS_PROMPT || !this.#scheduler?.isShared) return undefined;
    this.#scheduler.charge(tenant, rows * ROW_MS);
    return this.#scheduler.turn(tenant);
  }
}
