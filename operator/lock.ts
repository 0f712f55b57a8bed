/**
 * One operator of a source works on a database: it holds a session-level advisory lock on a connection of its own. When
 * the connection is lost so is the lock, and another operator may have it before this one notices. So each time that the lock
 * is held is one term in Postgres (terms.ts), and what is written under an earlier term is refused there.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../server/core/db/database.ts';
import { DedicatedConnection } from '../server/core/db/dedicated-connection.ts';
import type { Term } from '../server/core/db/fence.ts';
import type { Observe } from '../server/core/observe.ts';
import type { Leadership, LeadershipCallbacks } from './leadership.ts';
import { tryLock } from './store.ts';
import { acquireTerm, nextEpoch } from './terms.ts';

type LockOptions = {
  /** Where terms are acquired; not the fenced view. */
  database: Database;
  source: string;
  observe: Observe;
  /** Between two tries. */
  retryMs?: number;
  heartbeatMs?: number;
};

const RETRY_MS = 1000;
const HEARTBEAT_MS = 5000;
/** Whoever has the lock may write: nothing else tells apart those who follow a directory. */
const anyCluster = { cluster: '', adopt: true };

export class LockLeadership {
  readonly #options: Required<LockOptions>;
  readonly #holder = `${hostname()}_${randomUUID()}`;
  #term: Term | undefined;

  constructor(options: LockOptions) {
    this.#options = { retryMs: RETRY_MS, heartbeatMs: HEARTBEAT_MS, ...options };
  }

  /** Leads while it holds the lock. */
  readonly lead: Leadership = (callbacks) => {
    const abort = new AbortController();
    const running = this.#run(callbacks, abort.signal);
    return {
      async close() {
        abort.abort();
        await running;
      },
    };
  };

  /** The term to write under. */
  term(): Term | undefined {
    return this.#term;
  }

  async #run(callbacks: LeadershipCallbacks, signal: AbortSignal): Promise<void> {
    const { database, heartbeatMs, retryMs, observe } = this.#options;
    while (!signal.aborted) {
      const name = 'the connection that holds the operator lock';
      const connection = new DedicatedConnection({ name, client: database.client(), heartbeatMs, signal });
      try {
        await connection.connect();
        await this.#acquire(connection, callbacks, signal);
        this.#term = await connection.whileAlive(this.#acquireTerm());
        await connection.whileAlive(callbacks.started());
        await connection.watch();
      } catch (error) {
        if (!signal.aborted) observe({ kind: 'background_failed', task: 'operator lock', error });
      } finally {
        this.#term = undefined;
        callbacks.stopped();
        await connection.end();
      }
      await sleep(retryMs, undefined, { signal }).catch(() => {});
    }
  }

  async #acquire(connection: DedicatedConnection, callbacks: LeadershipCallbacks, signal: AbortSignal): Promise<void> {
    const { source, retryMs } = this.#options;
    let told = false;
    for (;;) {
      if (await connection.ask((client) => tryLock(client, source))) return;
      if (!told) callbacks.waiting(`Another operator reconciles ${source} into this database; waiting until it stops.`);
      told = true;
      await connection.whileAlive(sleep(retryMs, undefined, { signal }));
    }
  }

  async #acquireTerm(): Promise<Term> {
    const { database, source } = this.#options;
    const epoch = await nextEpoch(database, source, anyCluster);
    await acquireTerm(database, source, { epoch, holder: this.#holder, ...anyCluster });
    return { source, epoch };
  }
}
