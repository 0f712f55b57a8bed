/**
 * Reads what tokens are enriched with: a few reads at once, one of a tenant, tenants in turn, and tokens of one tenant that wait
 * go together. A read that takes too long is ended by Postgres, so that it does not keep its place.
 */

import { type GivenRow, readGiven } from '../consents/index.ts';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../core/db/database.ts';
import { FairQueue } from '../core/fair-queue.ts';
import { limits } from '../core/limits.ts';
import { type Entity, type FromEntry, readDirect } from '../relationships/index.ts';

/** `given`: of this user. Undefined: not asked. */
export type Question = { relationshipsOf: Entity | undefined; givenBy: string | undefined };
/** Undefined: not asked, or more than the claim may have. */
export type Answer = { relationships: FromEntry[] | undefined; given: GivenRow[] | undefined };

type Waiting = {
  question: Question;
  isOver: () => boolean;
  answer: (answer: Answer) => void;
  refuse: () => void;
  fail: (error: unknown) => void;
};

export class ClaimReader {
  readonly #database: Pick<Database, 'read'>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #waiting = new FairQueue<string, Waiting>();
  /** The tenants whose questions are being read. */
  readonly #reading = new Set<string>();

  constructor(database: Pick<Database, 'read'>, clock: Pick<Clock, 'now'>) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Calls one of the functions, unless it `isOver` before. */
  ask(tenant: string, waiting: Waiting): void {
    this.#waiting.push(tenant, waiting);
    if (this.#waiting.count > limits.claimReadsWaitingMax) this.#dropOne();
    this.#next();
  }

  #dropOne(): void {
    let most: { tenant: string; count: number } | undefined;
    for (const tenant of this.#waiting.keys()) {
      const count = this.#waiting.length(tenant);
      if (most === undefined || count > most.count) most = { tenant, count };
    }
    if (most !== undefined) this.#waiting.shiftOf(most.tenant).refuse();
  }

  #next(): void {
    while (this.#reading.size < limits.claimReadsMax) {
      const next = this.#waiting.shift((tenant) => !this.#reading.has(tenant));
      if (next === undefined) return;
      const { key: tenant, item } = next;
      const together = [item].filter(isWaiting);
      while (together.length < limits.claimReadTokensMax && this.#waiting.length(tenant) > 0) {
        const other = this.#waiting.shiftOf(tenant);
        if (isWaiting(other)) together.push(other);
      }
      if (together.length > 0) void this.#read(tenant, together);
    }
  }

  async #read(tenant: string, together: readonly Waiting[]): Promise<void> {
    this.#reading.add(tenant);
    try {
      const answers = await this.#answers(
        tenant,
        together.map(({ question }) => question),
      );
      for (const [n, { answer }] of together.entries()) answer(answers[n] as Answer);
    } catch (error) {
      for (const { fail } of together) fail(error);
    } finally {
      this.#reading.delete(tenant);
      this.#next();
    }
  }

  async #answers(tenant: string, questions: readonly Question[]): Promise<Answer[]> {
    const actors = [...new Set(questions.flatMap(({ relationshipsOf }) => relationshipsOf ?? []))];
    const users = [...new Set(questions.flatMap(({ givenBy }) => givenBy ?? []))];
    const now = new Date(this.#clock.now()).toISOString();
    const [relationships, given] = await this.#database.read(tenant, (tx) =>
      Promise.all([
        actors.length > 0 ? readDirect(tx, tenant, actors, { now, most: limits.claimRelationshipsMax }) : [],
        users.length > 0 ? readGiven(tx, tenant, users, limits.claimConsentsMax) : [],
      ]),
    );
    return questions.map(({ relationshipsOf, givenBy }) => ({
      relationships: relationshipsOf && relationships[actors.indexOf(relationshipsOf)],
      given: givenBy === undefined ? undefined : given[users.indexOf(givenBy)],
    }));
  }
}

function isWaiting({ isOver }: Waiting): boolean {
  return !isOver();
}
