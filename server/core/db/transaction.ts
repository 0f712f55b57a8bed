/**
 * The two ways to run a transaction on a connection: step by step, or all of it in one round trip.
 *
 * Connections are pipelined: statements that are issued without waiting for one another go together and are answered in
 * their order. Each sees what those before it did, and once one has failed, the transaction refuses those behind it.
 */
import pg from 'pg';
import type { Static, TSchema } from 'typebox';
import { troubleOf } from './errors.ts';
import type { Hosts } from './hosts.ts';
import { type Result, runPipelined, type Statement } from './pipelined.ts';
import { type QueryWatchdog, streamOf } from './query-watchdog.ts';
import { checkRows } from './rows.ts';
import { compileSql, type Sql, sql } from './sql.ts';
import type { Suspects } from './suspects.ts';

/** What values of Postgres' types become. */
export const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text: string) => {
  const parse = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ);
  return (parse(text) as Date).toISOString();
});
types.setTypeParser(pg.types.builtins.INT8, (text: string) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`bigint ${text} does not fit a number`);
  return value;
});

const asTexts = { getTypeParser: () => (text: string) => text };

type Answer = Result | pg.QueryResult;

/** What may be done inside a transaction. */
export class Transaction {
  readonly #run: (statement: Statement) => Promise<Answer>;
  #ended = false;
  constructor(run: (statement: Statement) => Promise<Answer>) {
    this.#run = run;
  }
  #query(query: Sql): Promise<Answer> {
    // Behind its end, a statement would be one of its own: without the tenant, and not undone with the rest.
    if (this.#ended) return Promise.reject(new Error('a statement came after the end of its transaction'));
    return this.#run(compileSql(query));
  }
  /** No statement is taken from here on. */
  end(): void {
    this.#ended = true;
  }
  /** All rows, each checked against the schema. */
  async many<Schema extends TSchema>(schema: Schema, query: Sql): Promise<Static<Schema>[]> {
    return checkRows(schema, (await this.#query(query)).rows);
  }
  /** The only row, or undefined. */
  async maybe<Schema extends TSchema>(schema: Schema, query: Sql): Promise<Static<Schema> | undefined> {
    const rows = await this.many(schema, query);
    if (rows.length > 1) throw new Error(`expected at most one row, got ${rows.length}`);
    return rows[0];
  }
  /** The only row. @throws Error when there is none. */
  async one<Schema extends TSchema>(schema: Schema, query: Sql): Promise<Static<Schema>> {
    const row = await this.maybe(schema, query);
    if (row === undefined) throw new Error('expected one row, got none');
    return row;
  }
  /**
   * The rows of a statement that another library made, as lists of Postgres' own texts. It is not prepared: there may be any
   * number of different ones.
   */
  async texts(text: string, values: readonly unknown[]): Promise<(string | null)[][]> {
    if (this.#ended) throw new Error('a statement came after the end of its transaction');
    const statement = { text, values: [...values], name: '', rowMode: 'array', types: asTexts };
    return (await this.#run(statement)).rows as unknown as (string | null)[][];
  }
  /** Runs a statement; the number of rows that it touched. */
  async run(query: Sql): Promise<number> {
    return (await this.#query(query)).rowCount ?? 0;
  }
}

export type Work<T> = (tx: Transaction) => Promise<T>;

/**
 * A pool, the servers that it leads to, who ends those of its connections that are silent, and which of them may lead to a standby.
 * `togetherMs`: for all statements of one round trip. `isReading`: its transactions are made read-only by us.
 */
export type Connections = {
  pool: pg.Pool;
  hosts: Hosts;
  watchdog: QueryWatchdog;
  suspects: Suspects;
  togetherMs: number;
  isReading?: true;
};
/** `failure`: the first error of a statement. */
type Connection = Pick<Connections, 'watchdog' | 'suspects'> & {
  client: pg.PoolClient;
  isReading: true | undefined;
  lose: (error: Error) => void;
  failure?: unknown;
};

/** SQLSTATE of every statement behind one that has failed. */
const ABORTED = '25P02';

/** SQLSTATE of errors behind which Postgres closes the connection: a transaction that took too long, and operator intervention. */
const CLOSING = /^(25P0[34]|57P0[1-5])$/;

/** One that cannot be opened may have asked a server that is not the primary any more: each is asked. */
async function connectionOf({ pool, hosts, suspects }: Connections): Promise<pg.PoolClient> {
  for (let left = hosts.count; ; ) {
    const { failures } = hosts;
    try {
      const client = await pool.connect();
      if (!suspects.has(client)) return client;
      client.release(true);
    } catch (error) {
      left -= 1;
      if (left === 0 || failures === hosts.failures) throw error;
    }
  }
}

/** @param use may say that the connection is lost; one that is, is not used again */
async function withConnection<T>(connections: Connections, use: (one: Connection) => Promise<T>): Promise<T> {
  const { watchdog, suspects, isReading } = connections;
  const client = await connectionOf(connections);
  let broken: Error | undefined;
  const lose = (error: Error) => {
    broken = error;
  };
  client.on('error', lose);
  try {
    return await use({ client, watchdog, suspects, isReading, lose });
  } finally {
    client.off('error', lose);
    client.release(broken ?? suspects.has(client));
  }
}

/**
 * A transaction whose statements may depend on one another.
 * @param begin SQL of its beginning, asked when there is a connection
 * @throws the error of its beginning, of the first statement that failed, or of the work; nothing of it is then written
 */
export function interactive<T>(connections: Connections, begin: () => string, work: Work<T>): Promise<T> {
  return withConnection(connections, async (connection) => {
    const tx = new Transaction((statement) => send(connection, statement));
    try {
      // The beginning goes with the first statement. When it fails, all behind it fail, and its error is the one to tell.
      const [begun, worked] = await Promise.allSettled([send(connection, begin()), work(tx)]);
      if (begun.status === 'rejected') throw begun.reason;
      if (worked.status === 'rejected') throw worked.reason;
      tx.end();
      // To a transaction with a failed statement Postgres answers a commit with ROLLBACK, which is no error.
      const { command } = await send(connection, 'commit');
      if (command === 'COMMIT') return worked.value;
      const cause = connection.failure;
      throw new Error('a statement of the transaction failed: nothing of it was written', { cause });
    } catch (error) {
      // What still runs of the work must not get a statement in behind the rollback.
      tx.end();
      const { failure } = connection;
      await send(connection, 'rollback').catch(connection.lose);
      // Of statements that go together, the work may have waited for a later one first.
      throw (error as { code?: unknown } | undefined)?.code === ABORTED ? failure : error;
    }
  });
}

/**
 * A transaction in one round trip; its statements are answered when all of it is committed. Postgres' statement_timeout is for
 * each of them: where there are several, they have `togetherMs` in all, because nothing is heard of the first ones before the last.
 * @param settings of the transaction: what a select returns in front of them
 * @param work issues all its statements before it waits for any: one that comes later is refused
 * @throws the first error of a statement: nothing of it is then written; or else the work's
 */
export function pipelined<T>(connections: Connections, settings: Sql, work: Work<T>): Promise<T> {
  return withConnection(connections, async (connection) => {
    const statements: Statement[] = [];
    const answered = Promise.withResolvers<Result[]>();
    const tx = new Transaction((statement) => {
      const index = statements.push(statement);
      return answered.promise.then((results) => results[index] as Result);
    });
    const working = work(tx);
    tx.end();
    const first =
      statements.length > 1
        ? sql`select ${settings}, set_config('transaction_timeout', ${String(connections.togetherMs)}, true)`
        : sql`select ${settings}`;
    const all = [compileSql(first), ...statements];
    answered.resolve(answerOf(connection, (answer) => runPipelined(connection.client, all, types, answer)));
    const [written, worked] = await Promise.allSettled([answered.promise, working]);
    if (written.status === 'rejected') throw written.reason;
    if (worked.status === 'rejected') throw worked.reason;
    return worked.value;
  });
}

function send(connection: Connection, query: string | Statement): Promise<pg.QueryResult> {
  return answerOf<pg.QueryResult>(connection, (answer) => connection.client.query(query, answer)).catch((error) => {
    Error.captureStackTrace(error); // of who asked, not of what read the answer
    connection.failure ??= error;
    throw error;
  });
}

type Answered<T> = (error: Error | null, answer: T) => void;

/** @param ask given a callback: without one, pg assigns a function to its query (query-watchdog.ts says what that costs) */
function answerOf<T>(
  { client, watchdog, suspects, isReading, lose }: Connection,
  ask: (answered: Answered<T>) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const stream = streamOf(client);
    // What is sent in one turn of the event loop leaves in one piece: a write for each was a third of the operator's CPU.
    if (stream.writableCorked === 0) {
      stream.cork();
      process.nextTick(() => stream.uncork());
    }
    watchdog.asked(client);
    ask((error, answer) => {
      watchdog.answered(client);
      if (error === null) return resolve(answer);
      // Whoever got the connection next would lose its statements.
      if (CLOSING.test(String((error as { code?: unknown }).code))) lose(error);
      if (troubleOf(error) === 'read-only') {
        // Not the database is: a statement of ours is wrong.
        if (isReading) return reject(new Error(`a reading must not write: ${error.message}`));
        suspects.add();
      }
      reject(error);
    });
  });
}
