/**
 * Owns transactions of one round trip. All their statements go in one piece with a single Sync behind them, which makes
 * them one transaction without a begin or a commit: it is committed when all succeeded, and after one that failed Postgres
 * skips the rest and undoes all (PostgreSQL documentation, 54.2.4 "Pipelining"). With a begin and a commit around them the same
 * reading was three answers, of which each woke this process (25 us for Postgres, in a virtual machine), and cost twice
 * as much here.
 *
 * pg refuses queries of one's own making on pipelined connections, because of portals that stay open; these do not, and are a
 * Query for it.
 */
import pg from 'pg';

export type Statement = { text: string; values: unknown[]; name: string };

/** What pg's queries consist of, of which its types tell nothing. */
type Wire = {
  stream: { destroy(): void };
  parsedStatements: Record<string, string>;
  submittedNamedStatements: Record<string, string>;
  parse(statement: { name: string; text: string }): void;
  bind(bound: { statement: string; values: unknown[]; valueMapper: (value: unknown) => unknown }): void;
  describe(what: { type: 'P'; name: string }): void;
  execute(): void;
  sync(): void;
};
type Message = { fields: unknown[]; text: string };
type Result = pg.QueryResult & {
  addFields(fields: unknown[]): void;
  parseRow(fields: unknown[]): unknown;
  addCommandComplete(message: Message): void;
};
type Callback = (error: Error | null, results?: pg.QueryResult[]) => void;
const internals = pg as unknown as {
  Query: new (config: { text: string }, values: undefined, callback: Callback) => { callback: Callback };
  Result: new (rowMode: undefined, types: pg.CustomTypesConfig) => Result;
  utils: { prepareValue(value: unknown): unknown };
};

class AtOnce extends internals.Query {
  readonly #statements: readonly Statement[];
  readonly #results: Result[];
  /** Which statement is being answered. */
  #at = 0;
  /** Its own: pg registers by these what was prepared. */
  name: string | undefined;
  text: string | undefined;
  #unreadable: unknown;

  constructor(statements: readonly Statement[], types: pg.CustomTypesConfig, callback: Callback) {
    super({ text: '' }, undefined, callback);
    this.#statements = statements;
    this.#results = statements.map(() => new internals.Result(undefined, types));
    this.#turnTo(0);
  }

  #turnTo(at: number): void {
    this.#at = at;
    this.name = this.#statements[at]?.name;
    this.text = this.#statements[at]?.text;
  }

  submit(wire: Wire): Error | null {
    try {
      for (const { name, text, values } of this.#statements) {
        if (wire.parsedStatements[name] === undefined && wire.submittedNamedStatements[name] === undefined) {
          wire.parse({ name, text });
          wire.submittedNamedStatements[name] = text;
        }
        wire.bind({ statement: name, values, valueMapper: internals.utils.prepareValue });
        wire.describe({ type: 'P', name: '' });
        wire.execute();
      }
    } catch (error) {
      // A value that cannot be sent. What is in front of it must not be committed by the next Sync.
      wire.stream.destroy();
      return error as Error;
    }
    wire.sync();
    return null;
  }

  handleRowDescription({ fields }: Message): void {
    this.#results[this.#at]?.addFields(fields);
  }

  handleDataRow({ fields }: Message): void {
    const result = this.#results[this.#at];
    try {
      result?.rows.push(result.parseRow(fields));
    } catch (error) {
      this.#unreadable ??= error;
    }
  }

  handleCommandComplete(message: Message): void {
    this.#results[this.#at]?.addCommandComplete(message);
    this.#turnTo(this.#at + 1);
  }

  handleReadyForQuery(): void {
    if (this.#unreadable === undefined) this.callback(null, this.#results);
    else this.callback(this.#unreadable as Error);
  }

  /** Postgres skips what is behind, and has not seen its texts. */
  handleError(error: Error, wire: Wire): void {
    for (const { name } of this.#statements.slice(this.#at + 1)) delete wire.submittedNamedStatements[name];
    this.callback(error);
  }
}

/**
 * Runs statements as one transaction, in one round trip.
 * @returns their results, in their order, once it is committed
 * @throws the first one's error that failed; nothing of them is then written
 */
export function runAtOnce(
  client: pg.PoolClient,
  statements: readonly Statement[],
  types: pg.CustomTypesConfig,
): Promise<pg.QueryResult[]> {
  return new Promise((resolve, reject) => {
    const query = new AtOnce(statements, types, (error, results) => (error ? reject(error) : resolve(results ?? [])));
    client.query(query as unknown as string);
  });
}
