/**
 * Owns connections and transactions. A transaction is for one tenant (row-level security shows only its rows) or, for
 * the few jobs that span tenants, runs in the listed role accord_system. There is no third way in.
 */
import pg from 'pg';
import type { Static, TSchema } from 'typebox';
import type { Observe } from '../observe.ts';
import { checkRows } from './rows.ts';
import { compileSql, type Sql } from './sql.ts';

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
  readonly #client: pg.PoolClient;
  constructor(client: pg.PoolClient) {
    this.#client = client;
  }
  /** All rows, each checked against the schema. */
  async many<Schema extends TSchema>(schema: Schema, query: Sql): Promise<Static<Schema>[]> {
    return checkRows(schema, (await this.#client.query(compileSql(query))).rows);
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
    return (await this.#client.query(compileSql(query))).rowCount ?? 0;
  }
}

export type DatabaseOptions = { url: string; poolMax: number; applicationName: string; observe: Observe };

export class Database {
  readonly #pool: pg.Pool;
  readonly #options: DatabaseOptions;

  constructor(options: DatabaseOptions) {
    this.#options = options;
    this.#pool = new pg.Pool({
      connectionString: options.url,
      max: options.poolMax,
      application_name: options.applicationName,
      connectionTimeoutMillis: 5000,
      idleTimeoutMillis: 30_000,
      allowExitOnIdle: true,
      types,
    });
    // An idle client's error would end the process otherwise; the next query opens a new connection.
    this.#pool.on('error', (error) => options.observe({ kind: 'database_lost', error }));
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
  async tenant<T>(tenant: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#transaction(`begin; select set_config('accord.tenant', ${pg.escapeLiteral(tenant)}, true)`, work);
  }

  /** One transaction across tenants, for: snapshot loading, the operator's bookkeeping, sweeps, and server heartbeats. */
  async system<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#transaction('begin; set local role accord_system', work);
  }

  /** The same, seeing one state of the database throughout. */
  async systemSnapshot<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#transaction('begin isolation level repeatable read read only; set local role accord_system', work);
  }

  async #transaction<T>(begin: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let broken: Error | undefined;
    const onError = (error: Error) => {
      broken = error;
    };
    client.on('error', onError);
    try {
      await client.query(begin);
      const result = await work(new Transaction(client));
      await client.query('commit');
      return result;
    } catch (error) {
      await client.query('rollback').catch((rollbackError: Error) => {
        broken = rollbackError;
      });
      throw error;
    } finally {
      client.off('error', onError);
      client.release(broken);
    }
  }

  /**
   * Fails when the login role could step around row-level security.
   * @throws Error saying which role and which attribute.
   */
  async assertConfined(): Promise<void> {
    const { rows } = await this.#pool.query(
      `select current_user as role, rolsuper, rolbypassrls,
         (select string_agg(c.relname, ', ') from pg_class c join pg_namespace n on n.oid = c.relnamespace
           where n.nspname = 'accord' and c.relkind in ('r', 'p') and pg_has_role(c.relowner, 'usage')) as owns
       from pg_roles where rolname = current_user`,
    );
    const row = rows[0] as { role: string; rolsuper: boolean; rolbypassrls: boolean; owns: string | null };
    const reason = row.rolsuper
      ? 'SUPERUSER'
      : row.rolbypassrls
        ? 'BYPASSRLS'
        : row.owns
          ? `owner of ${row.owns}`
          : null;
    if (reason !== null) {
      throw new Error(
        `the database role ${row.role} is ${reason}: row-level security would not bind it. ` +
          'Give ACCORD_DATABASE_URL a role that is only a member of accord_app and accord_system.',
      );
    }
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}
