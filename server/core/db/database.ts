/**
 * Owns connections and transactions. A transaction is for one tenant (row-level security shows only its rows) or, for
 * the few jobs that span tenants, runs in the listed role accord_system. There is no third way in.
 *
 * Connections are pipelined: statements that are issued without waiting for one another go together and are answered in
 * their order. Each sees what those before it did, and once one has failed, the transaction refuses those behind it.
 */
import type { Socket } from 'node:net';
import pg from 'pg';
import type { Static, TSchema } from 'typebox';
import { limits } from '../limits.ts';
import type { Observe } from '../observe.ts';
import { runAtOnce, type Statement } from './at-once.ts';
import { Fence, type FenceOptions } from './fence.ts';
import { Gate } from './gate.ts';
import { checkRows } from './rows.ts';
import { compileSql, type Sql, sql } from './sql.ts';

const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text: string) => {
  const parse = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ);
  return (parse(text) as Date).toISOString();
});
types.setTypeParser(pg.types.builtins.INT8, (text: string) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`bigint ${text} does not fit a number`);
  return value;
});

/** What may be done inside a transaction. */
export class Transaction {
  readonly #run: (statement: Statement) => Promise<pg.QueryResult>;
  #ended = false;
  constructor(run: (statement: Statement) => Promise<pg.QueryResult>) {
    this.#run = run;
  }
  #query(query: Sql): Promise<pg.QueryResult> {
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
  /** Runs a statement; the number of rows that it touched. */
  async run(query: Sql): Promise<number> {
    return (await this.#query(query)).rowCount ?? 0;
  }
}

function send(client: pg.PoolClient, query: string | Statement): Promise<pg.QueryResult> {
  return corked(client, () => client.query(query));
}

/** What is sent in one turn of the event loop leaves in one piece: a write for each was a third of the operator's CPU. */
function corked<T>(client: pg.PoolClient, write: () => T): T {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  if (stream.writableCorked === 0) {
    stream.cork();
    process.nextTick(() => stream.uncork());
  }
  return write();
}

export type DatabaseOptions = {
  url: string;
  /** Connections for tenants' transactions; those across tenants have a few of their own. */
  poolMax: number;
  applicationName: string;
  observe: Observe;
  /** A statement of a tenant's transaction is ended after this. */
  statementTimeoutMs?: number;
};

/**
 * For heartbeats, snapshots, sweeps and the ledger: a server must be able to say that it lives while tenants wait for
 * theirs, and an answer that waits for its ledger entry must not wait for the others of these.
 */
const SYSTEM_POOL_MAX = 4;

type Pools = { tenants: pg.Pool; system: pg.Pool; gate: Gate };

export class Database {
  readonly #pools: Pools;
  readonly #options: DatabaseOptions;
  readonly #fence: Fence | undefined;

  /** @param view what `fenced` shares and adds */
  constructor(options: DatabaseOptions, view?: { pools: Pools; fence: Fence }) {
    this.#options = options;
    const timeoutMs = options.statementTimeoutMs ?? limits.statementTimeoutMs;
    this.#pools = view?.pools ?? {
      tenants: this.#open(options.poolMax, timeoutMs),
      system: this.#open(SYSTEM_POOL_MAX, limits.systemStatementTimeoutMs),
      gate: new Gate(Math.max(1, Math.floor(options.poolMax / 2))),
    };
    this.#fence = view?.fence;
  }

  /**
   * The same connections, each writing transaction bound to a term: Postgres refuses it when the term is over, and a term
   * that is claimed meanwhile begins after it. Closing either closes both.
   */
  fenced(options: FenceOptions): Database {
    return new Database(this.#options, { pools: this.#pools, fence: new Fence(options) });
  }

  #open(max: number, timeoutMs: number): pg.Pool {
    const pool = new pg.Pool({
      connectionString: this.#options.url,
      max,
      application_name: this.#options.applicationName,
      connectionTimeoutMillis: 5000,
      idleTimeoutMillis: 30_000,
      allowExitOnIdle: true,
      statement_timeout: timeoutMs,
      // A Postgres that is silent (half-open TCP, a stopped process) ends nothing itself.
      query_timeout: timeoutMs + 5000,
      idle_in_transaction_session_timeout: timeoutMs,
      pipeline: true,
      types,
    });
    // An idle client's error would end the process otherwise; the next query opens a new connection.
    pool.on('error', (error) => this.#options.observe({ kind: 'database_lost', error }));
    return pool;
  }

  /** Connection parameters for a client of one's own (LISTEN). */
  client(): pg.Client {
    return new pg.Client({
      connectionString: this.#options.url,
      application_name: `${this.#options.applicationName}-listen`,
      connectionTimeoutMillis: 5000,
      keepAlive: true,
    });
  }

  /** One transaction that sees and writes only this tenant's rows. */
  async tenant<T>(tenant: string, work: Work<T>): Promise<T> {
    const { tenants, gate } = this.#pools;
    return gate.run(tenant, () => this.#fencedTransaction(tenants, setTenant(tenant), work));
  }

  /**
   * Reads of one tenant in one round trip.
   * @param work issues all its statements before it waits for any: one that comes later is refused
   */
  async read<T>(tenant: string, work: Work<T>): Promise<T> {
    const { tenants, gate } = this.#pools;
    const settings = sql`select set_config('transaction_read_only', 'on', true), set_config('accord.tenant', ${tenant}, true)`;
    return gate.run(tenant, () => this.#atOnce(tenants, settings, work));
  }

  /** One transaction across tenants, for: snapshot loading, the operator's bookkeeping, sweeps, and server heartbeats. */
  async system<T>(work: Work<T>): Promise<T> {
    return this.#fencedTransaction(this.#pools.system, 'set local role accord_system', work);
  }

  /** The same in one round trip. @param work issues all its statements before it waits for any */
  async systemAtOnce<T>(work: Work<T>): Promise<T> {
    if (this.#fence !== undefined) return this.system(work);
    return this.#atOnce(this.#pools.system, sql`select set_config('role', 'accord_system', true)`, work);
  }

  /** The same, seeing one state of the database throughout. */
  async systemSnapshot<T>(work: Work<T>): Promise<T> {
    const begin = () => 'begin isolation level repeatable read read only; set local role accord_system';
    return this.#transaction(this.#pools.system, begin, work);
  }

  async #fencedTransaction<T>(pool: pg.Pool, set: string, work: Work<T>): Promise<T> {
    if (this.#fence === undefined) return this.#transaction(pool, () => `begin; ${set}`, work);
    const fence = this.#fence;
    return fence.watch(this.#transaction(pool, () => `begin; ${fence.check()}; ${set}`, work));
  }

  async #atOnce<T>(pool: pg.Pool, settings: Sql, work: Work<T>): Promise<T> {
    return withClient(pool, (client) => atOnce(client, compileSql(settings), work));
  }

  async #transaction<T>(pool: pg.Pool, begin: () => string, work: Work<T>): Promise<T> {
    return withClient(pool, async (client, lose) => {
      const tx = new Transaction((statement) => send(client, statement));
      try {
        return await stepwise(client, tx, begin(), work);
      } catch (error) {
        // What still runs of the work must not get a statement in behind the rollback.
        tx.end();
        await client.query('rollback').catch(lose);
        throw error;
      } finally {
        tx.end();
      }
    });
  }

  /**
   * Fails when the login role could step around row-level security.
   * @throws Error saying which role and which attribute.
   */
  async assertConfined(): Promise<void> {
    const { rows } = await this.#pools.tenants.query(
      `select current_user as role, rolsuper, rolbypassrls, pg_has_role('accord_system', 'usage') as across,
         (select string_agg(c.relname, ', ') from pg_class c join pg_namespace n on n.oid = c.relnamespace
           where n.nspname = 'accord' and c.relkind in ('r', 'p') and pg_has_role(c.relowner, 'usage')) as owns
       from pg_roles where rolname = current_user`,
    );
    const row = rows[0] as {
      role: string;
      rolsuper: boolean;
      rolbypassrls: boolean;
      across: boolean;
      owns: string | null;
    };
    const reason = row.rolsuper
      ? 'SUPERUSER'
      : row.rolbypassrls
        ? 'BYPASSRLS'
        : row.owns
          ? `owner of ${row.owns}`
          : row.across
            ? 'a member of accord_system that inherits it (grant it WITH INHERIT FALSE)'
            : null;
    if (reason !== null) {
      throw new Error(
        `the database role ${row.role} is ${reason}: row-level security would not bind it. ` +
          'Give ACCORD_DATABASE_URL a role that is only a member of accord_app and accord_system.',
      );
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#pools.tenants.end(), this.#pools.system.end()]);
  }
}

const setTenant = (tenant: string) => `select set_config('accord.tenant', ${pg.escapeLiteral(tenant)}, true)`;

type Work<T> = (tx: Transaction) => Promise<T>;

/** @param use may say that the connection is lost; one that is, is not used again */
async function withClient<T>(
  pool: pg.Pool,
  use: (client: pg.PoolClient, lose: (error: Error) => void) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const lose = (error: Error) => {
    broken = error;
  };
  client.on('error', lose);
  try {
    return await use(client, lose);
  } finally {
    client.off('error', lose);
    client.release(broken);
  }
}

/** The beginning goes with the first statement. When it fails, all behind it fail, and its error is the one to tell. */
async function stepwise<T>(client: pg.PoolClient, tx: Transaction, begin: string, work: Work<T>): Promise<T> {
  const [begun, worked] = await Promise.allSettled([send(client, begin), work(tx)]);
  if (begun.status === 'rejected') throw begun.reason;
  if (worked.status === 'rejected') throw worked.reason;
  tx.end();
  // To a transaction with a failed statement Postgres answers a commit with ROLLBACK, which is no error.
  const { command } = await client.query('commit');
  if (command !== 'COMMIT') throw new Error('a statement of the transaction failed: nothing of it was written');
  return worked.value;
}

/** Everything goes together; the statements are answered when all is committed. */
async function atOnce<T>(client: pg.PoolClient, settings: Statement, work: Work<T>): Promise<T> {
  const statements = [settings];
  const answered = Promise.withResolvers<pg.QueryResult[]>();
  const tx = new Transaction((statement) => {
    const index = statements.push(statement) - 1;
    return answered.promise.then((results) => results[index] as pg.QueryResult);
  });
  const working = work(tx);
  tx.end();
  answered.resolve(corked(client, () => runAtOnce(client, statements, types)));
  const [written, worked] = await Promise.allSettled([answered.promise, working]);
  if (written.status === 'rejected') throw written.reason;
  if (worked.status === 'rejected') throw worked.reason;
  return worked.value;
}
