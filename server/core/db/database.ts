/**
 * Connections and transactions. A transaction is for one tenant (row-level security shows only its rows) or, for
 * the few jobs that span tenants, runs in the listed role accord_system. There is no third way in.
 */
import pg from 'pg';
import { Type } from 'typebox';
import type { Role } from '../auth/schema.ts';
import { KeyedSemaphore } from '../keyed-semaphore.ts';
import { limits } from '../limits.ts';
import type { Observe } from '../observe.ts';
import { Fence, type FenceOptions } from './fence.ts';
import { CONNECT_MS_MAX, Hosts } from './hosts.ts';
import { QueryWatchdog } from './query-watchdog.ts';
import { readers } from './readers.ts';
import { Nullable } from './rows.ts';
import { sql } from './sql.ts';
import { Suspects } from './suspects.ts';
import { type Connections, interactive, pipelined, type Transaction, types, type Work } from './transaction.ts';

export type { Transaction } from './transaction.ts';

type DatabaseOptions = {
  url: string;
  /** Past a pooler, for connections that keep a session. @default url */
  sessionUrl?: string | undefined;
  /** Connections for tenants' transactions; those across tenants have a few of their own. */
  poolMax: number;
  applicationName: string;
  observe: Observe;
  /** A statement of a tenant's transaction is ended after this. */
  statementTimeoutMs?: number;
  /** One across tenants. */
  systemStatementTimeoutMs?: number;
};

/** For heartbeats, snapshots and sweeps: a server must be able to say that it lives while tenants wait for theirs. */
const SYSTEM_POOL_MAX = 3;

/** What would let the role that we log in as step around row-level security. */
const LoginRole = Type.Object({
  role: Type.String(),
  rolsuper: Type.Boolean(),
  rolbypassrls: Type.Boolean(),
  across: Type.Boolean(),
  owns: Nullable(Type.String()),
});

/** What all connections to a database share. `session`: the servers of sessionUrl. */
type Servers = Pick<Connections, 'hosts' | 'suspects'> & { session: Hosts };
/** `reading`, `systemReading`: the same connections, for transactions that we make read-only. */
type Pools = {
  servers: Servers;
  tenants: Connections;
  reading: Connections;
  system: Connections;
  systemReading: Connections;
  semaphore: KeyedSemaphore;
};

export class Database {
  readonly #pools: Pools;
  readonly #options: DatabaseOptions;
  readonly #fence: Fence | undefined;

  /** @param view what `fenced` shares and adds, or what `separate` shares */
  constructor(options: DatabaseOptions, view: { pools?: Pools; servers?: Servers; fence?: Fence } = {}) {
    this.#options = options;
    const servers = view.servers ?? {
      hosts: new Hosts(options.url),
      session: new Hosts(options.sessionUrl ?? options.url),
      suspects: new Suspects(),
    };
    this.#pools = view.pools ?? this.#openAll(servers);
    this.#fence = view.fence;
  }

  #openAll(servers: Servers): Pools {
    const { poolMax, statementTimeoutMs, systemStatementTimeoutMs } = this.#options;
    const tenants = this.#open(poolMax, statementTimeoutMs ?? limits.statementTimeoutMs, servers);
    const systemTimeoutMs = systemStatementTimeoutMs ?? limits.systemStatementTimeoutMs;
    const system = this.#open(SYSTEM_POOL_MAX, systemTimeoutMs, servers);
    return {
      ...{ servers, tenants, system },
      reading: { ...tenants, isReading: true },
      systemReading: { ...system, isReading: true },
      semaphore: new KeyedSemaphore(Math.max(1, Math.floor(poolMax / 2))),
    };
  }

  /**
   * The same connections, each writing transaction bound to a term: Postgres refuses it when the term is over, and a term
   * that is acquired meanwhile begins after it. Closing either closes both.
   */
  fenced(options: FenceOptions): Database {
    return new Database(this.#options, { pools: this.#pools, fence: new Fence(options) });
  }

  /**
   * The same database over connections of its own, for what must neither wait for a tenant's other transactions nor hold up
   * theirs. Whoever asks for it closes it.
   * @param purpose ends its application_name
   */
  separate(
    purpose: string,
    options: Pick<DatabaseOptions, 'poolMax' | 'statementTimeoutMs' | 'systemStatementTimeoutMs'>,
  ): Database {
    const applicationName = `${this.#options.applicationName}-${purpose}`;
    return new Database({ ...this.#options, ...options, applicationName }, { servers: this.#pools.servers });
  }

  #open(max: number, timeoutMs: number, { hosts, suspects }: Servers): Connections {
    const pool = new pg.Pool({
      // Called with `new`, it may answer any object.
      Client: function Client(config: pg.ClientConfig) {
        const client = hosts.client(config);
        suspects.opened(client);
        return client;
      } as unknown as typeof pg.Client,
      max,
      application_name: this.#options.applicationName,
      connectionTimeoutMillis: CONNECT_MS_MAX,
      idleTimeoutMillis: 30_000,
      allowExitOnIdle: true,
      statement_timeout: timeoutMs,
      idle_in_transaction_session_timeout: timeoutMs,
      pipeline: true,
      types,
    });
    // An idle client's error would end the process otherwise; the next query opens a new connection.
    pool.on('error', (error) => this.#options.observe({ kind: 'database_lost', error }));
    // A statement alone is ended by its own time, several together by theirs; the watchdog ends a connection that is silent.
    const watchdog = new QueryWatchdog(timeoutMs + 5000);
    return { pool, hosts, suspects, watchdog, togetherMs: timeoutMs + limits.roundTripExtraMs };
  }

  /** A client of one's own, for what lasts as long as its session: LISTEN, a lock. */
  client(): pg.Client {
    return this.#pools.servers.session.client({
      application_name: `${this.#options.applicationName}-listen`,
      keepAlive: true,
    });
  }

  /** Tells those who listen to the channel, without a payload; also where this is fenced, because it writes nothing. */
  async notify(channel: string): Promise<void> {
    await pipelined(this.#pools.system, sql`null`, (tx) => tx.run(sql`select pg_notify(${channel}, '')`));
  }

  /** One transaction that sees and writes only this tenant's rows. */
  async tenant<T>(tenant: string, work: Work<T>): Promise<T> {
    const { tenants, semaphore } = this.#pools;
    return semaphore.run(tenant, () => this.#fencedTransaction(tenants, setTenant(tenant), work));
  }

  /**
   * Reads of one tenant in one round trip.
   * @param work issues all its statements before it waits for any: one that comes later is refused
   */
  async read<T>(tenant: string, work: Work<T>): Promise<T> {
    const { reading, semaphore } = this.#pools;
    const settings = sql`set_config('transaction_read_only', 'on', true), set_config('accord.tenant', ${tenant}, true)`;
    return semaphore.run(tenant, () => pipelined(reading, settings, work));
  }

  /**
   * Reads of several tenants in one round trip, one after another: what is read of each sees its rows only.
   * @param of the tenant whose share of the connections it takes
   * @param work of one of them, which issues all its statements before it waits for any: one that comes later is refused
   */
  async readEach<T>(
    of: string,
    tenants: readonly string[],
    work: (tx: Transaction, tenant: string) => Promise<T>,
  ): Promise<T[]> {
    if (tenants.length === 0) return [];
    const settings = sql`set_config('transaction_read_only', 'on', true)`;
    const each = (tx: Transaction) => async (tenant: string) => {
      const own = tx.run(sql`select set_config('accord.tenant', ${tenant}, true)`);
      const [, found] = await Promise.all([own, work(tx, tenant)]);
      return found;
    };
    const { reading, semaphore } = this.#pools;
    return semaphore.run(of, () => pipelined(reading, settings, (tx) => Promise.all(tenants.map(each(tx)))));
  }

  /**
   * Writes of one tenant in one round trip; step by step where this is fenced.
   * @param work issues all its statements before it waits for any: one that comes later is refused
   * @param options `durable: false`: does not wait for the disk; what was written in the last second may be gone after a crash of
   *   Postgres (and never without what was written before it)
   */
  async write<T>(tenant: string, work: Work<T>, { durable = true }: { durable?: boolean } = {}): Promise<T> {
    if (this.#fence !== undefined) return this.tenant(tenant, work);
    const { tenants, semaphore } = this.#pools;
    const own = sql`set_config('accord.tenant', ${tenant}, true)`;
    const settings = durable ? own : sql`${own}, set_config('synchronous_commit', 'off', true)`;
    return semaphore.run(tenant, () => pipelined(tenants, settings, work));
  }

  /** One transaction that reads this tenant's rows, seeing one state of the database throughout. */
  async tenantSnapshot<T>(tenant: string, work: Work<T>): Promise<T> {
    const { reading, semaphore } = this.#pools;
    const begin = () => `begin isolation level repeatable read read only; ${setTenant(tenant)}`;
    return semaphore.run(tenant, () => interactive(reading, begin, work));
  }

  /** The same in the role of a reader, which sees of the tenant's rows what its views show. */
  async reader<T>(tenant: string, role: Role, work: Work<T>): Promise<T> {
    const { reading, semaphore } = this.#pools;
    const begin = () =>
      `begin isolation level repeatable read read only; ${setTenant(tenant)}; set local role ${readers[role]}`;
    return semaphore.run(tenant, () => interactive(reading, begin, work));
  }

  /** One transaction across tenants, for: snapshot loading, the operator's bookkeeping, sweeps, and server heartbeats. */
  async system<T>(work: Work<T>): Promise<T> {
    return this.#fencedTransaction(this.#pools.system, 'set local role accord_system', work);
  }

  /** The same in one round trip, where it is not fenced. @param work issues all its statements before it waits for any */
  async systemPipelined<T>(work: Work<T>): Promise<T> {
    if (this.#fence !== undefined) return this.system(work);
    return pipelined(this.#pools.system, sql`set_config('role', 'accord_system', true)`, work);
  }

  /** The same, seeing one state of the database throughout. */
  async systemSnapshot<T>(work: Work<T>): Promise<T> {
    const begin = () => 'begin isolation level repeatable read read only; set local role accord_system';
    return interactive(this.#pools.systemReading, begin, work);
  }

  async #fencedTransaction<T>(connections: Connections, set: string, work: Work<T>): Promise<T> {
    if (this.#fence === undefined) return interactive(connections, () => `begin; ${set}`, work);
    const fence = this.#fence;
    return fence.watch(interactive(connections, () => `begin; ${fence.check()}; ${set}`, work));
  }

  /**
   * Fails when the login role could step around row-level security.
   * @throws Error saying which role and which attribute.
   */
  async assertConfined(): Promise<void> {
    const row = await interactive(
      this.#pools.tenants,
      () => 'begin read only',
      (tx) =>
        tx.one(
          LoginRole,
          sql`select current_user as role, rolsuper, rolbypassrls, pg_has_role('accord_system', 'usage') as across,
             (select string_agg(c.relname, ', ') from pg_class c join pg_namespace n on n.oid = c.relnamespace
               where n.nspname = 'accord' and c.relkind in ('r', 'p') and pg_has_role(c.relowner, 'usage')) as owns
           from pg_roles where rolname = current_user`,
        ),
    );
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
        `the database role ${row.role} is ${reason}: row-level security would not apply to it. ` +
          'Give ACCORD_DATABASE_URL a role that is only a member of accord_app and accord_system.',
      );
    }
  }

  async close(): Promise<void> {
    const { tenants, system } = this.#pools;
    await Promise.all([tenants.pool.end(), system.pool.end()]);
    for (const { watchdog } of [tenants, system]) watchdog.close();
  }
}

const setTenant = (tenant: string) => `select set_config('accord.tenant', ${pg.escapeLiteral(tenant)}, true)`;
