/**
 * Binding transactions to a term of accord.operator_term (migration 000003): what a writer may do only while it is
 * its turn is refused by Postgres when it no longer is. The writer's own belief is not enough: a process that was stopped
 * for a minute wakes up believing what it believed before.
 */
import pg from 'pg';

export type Term = { source: string; epoch: number };

export type FenceOptions = {
  /** The term that transactions are written under, asked as each begins; undefined: none is held, and none begins. */
  term: () => Term | undefined;
  /** Postgres says that the term is over. */
  refused: (error: StaleTerm) => void;
};

/** A transaction was refused because its term is over, or because there is none. Nothing of it was written. */
export class StaleTerm extends Error {}

/** SQLSTATE of accord.require_term. */
const STALE = 'OT001';

export class Fence {
  readonly #options: FenceOptions;

  constructor(options: FenceOptions) {
    this.#options = options;
  }

  /** SQL for the beginning of a transaction. @throws StaleTerm when no term is held */
  check(): string {
    const term = this.#options.term();
    if (term === undefined) throw new StaleTerm('this operator has no term and may not write; another operator may');
    const { source, epoch } = term;
    // accord.operator_term is open to accord_system only; the transaction goes on in the role that it is meant for.
    return `set local role accord_system; select accord.require_term(${pg.escapeLiteral(source)}, ${BigInt(epoch)}); set local role none`;
  }

  /** Tells of a refusal by Postgres, and passes it on as StaleTerm. */
  async watch<T>(transaction: Promise<T>): Promise<T> {
    try {
      return await transaction;
    } catch (error) {
      if ((error as { code?: unknown } | undefined)?.code !== STALE) throw error;
      const stale = new StaleTerm((error as Error).message, { cause: error });
      this.#options.refused(stale);
      throw stale;
    }
  }
}
