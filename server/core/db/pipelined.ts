/**
 * Transactions of one round trip. All their statements go in one piece with a single Sync behind them, which makes
 * them one transaction without a begin or a commit: it is committed when all succeeded, and after one that failed Postgres
 * skips the rest and undoes all (PostgreSQL documentation, 54.2.4 "Pipelining"). With a begin and a commit around them the same
 * reading was three answers, of which each woke this process (25 us for Postgres, in a virtual machine).
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
type Row = Record<string, unknown>;
type Columns = { addFields(fields: unknown[]): void; parseRow(fields: unknown[]): Row };
const internals = pg as unknown as {
  Query: { prototype: object };
  Result: new (rowMode: undefined, types: pg.CustomTypesConfig) => Columns;
  utils: { prepareValue(value: unknown): unknown };
};

/** The rows of a statement, and how many it touched. */
export type Result = { rows: Row[]; rowCount: number };
type Callback = (error: Error | null, results: Result[]) => void;

/**
 * What Postgres said of the columns of a connection's prepared statements, by their names: it keeps to it. One that gives
 * no rows has none.
 */
const described = new WeakMap<Wire, Map<string, Columns | undefined>>();

class Pipeline {
  readonly #statements: readonly Statement[];
  readonly #types: pg.CustomTypesConfig;
  readonly #results: Result[];
  #described: Map<string, Columns | undefined> | undefined;
  /** Which statement is being answered, and its columns. */
  #at = 0;
  #columns: Columns | undefined;
  /** Its own: pg registers by these what was prepared. */
  name: string | undefined;
  text: string | undefined;
  readonly callback: Callback;
  #unreadable: unknown;

  constructor(statements: readonly Statement[], types: pg.CustomTypesConfig, callback: Callback) {
    this.#statements = statements;
    this.#types = types;
    this.callback = callback;
    this.#results = statements.map(() => ({ rows: [], rowCount: 0 }));
  }

  #turnTo(at: number): void {
    const statement = this.#statements[at];
    this.#at = at;
    this.name = statement?.name;
    this.text = statement?.text;
    this.#columns = statement && this.#described?.get(statement.name);
  }

  submit(wire: Wire): Error | null {
    const known = described.get(wire) ?? new Map<string, Columns | undefined>();
    described.set(wire, known);
    try {
      for (const { name, text, values } of this.#statements) {
        if (wire.parsedStatements[name] === undefined && wire.submittedNamedStatements[name] === undefined) {
          wire.parse({ name, text });
          wire.submittedNamedStatements[name] = text;
        }
        wire.bind({ statement: name, values, valueMapper: internals.utils.prepareValue });
        if (!known.has(name)) wire.describe({ type: 'P', name: '' });
        wire.execute();
      }
    } catch (error) {
      // A value that cannot be sent. What is in front of it must not be committed by the next Sync.
      wire.stream.destroy();
      return error as Error;
    }
    wire.sync();
    this.#described = known;
    this.#turnTo(0);
    return null;
  }

  handleRowDescription({ fields }: Message): void {
    const columns = new internals.Result(undefined, this.#types);
    columns.addFields(fields);
    this.#columns = columns;
  }

  handleDataRow({ fields }: Message): void {
    try {
      this.#results[this.#at]?.rows.push((this.#columns as Columns).parseRow(fields));
    } catch (error) {
      this.#unreadable ??= error;
    }
  }

  /** The text is a command's tag, such as INSERT 0 3, with the number of rows at its end. */
  handleCommandComplete({ text }: Message): void {
    const result = this.#results[this.#at];
    if (result) result.rowCount = Number(text.slice(text.lastIndexOf(' ') + 1)) || 0;
    this.#described?.set(this.name as string, this.#columns);
    this.#turnTo(this.#at + 1);
  }

  handleReadyForQuery(): void {
    if (this.#unreadable === undefined) this.callback(null, this.#results);
    else this.callback(this.#unreadable as Error, []);
  }

  /** Postgres skips what is behind, and has not seen its texts. */
  handleError(error: Error, wire: Wire): void {
    for (const { name } of this.#statements.slice(this.#at + 1)) delete wire.submittedNamedStatements[name];
    this.callback(error, []);
  }
}
// pg asks for an instance of its own class, whose constructor makes what is not needed here.
Object.setPrototypeOf(Pipeline.prototype, internals.Query.prototype);

/**
 * Runs statements as one transaction, in one round trip.
 * @param answered given their results, in their order, once it is committed; or the first one's error that failed: nothing of
 *   them is then written
 */
export function runPipelined(
  client: pg.PoolClient,
  statements: readonly Statement[],
  types: pg.CustomTypesConfig,
  answered: (error: Error | null, results: Result[]) => void,
): void {
  client.query(new Pipeline(statements, types, answered) as unknown as string);
}
