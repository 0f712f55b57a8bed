/**
 * One operator of a source works on a database: it holds a session-level advisory lock on a connection of its own. When
 * the connection is lost so is the lock, and with it the right to write, until it is held again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Database } from '../server/core/db/database.ts';
import type { Observe } from '../server/core/observe.ts';
import type { Leadership, LeadershipCallbacks } from './leadership.ts';
import { askAlive, tryLock } from './store.ts';

type LockOptions = {
  database: Pick<Database, 'client'>;
  source: string;
  observe: Observe;
  /** Between two tries. */
  retryMs?: number;
  heartbeatMs?: number;
};

const RETRY_MS = 1000;
const HEARTBEAT_MS = 5000;

type Holding = Required<LockOptions> & LeadershipCallbacks;

/** Leads while it holds the lock. */
export function leadByLock(options: LockOptions): Leadership {
  return (callbacks) => {
    const abort = new AbortController();
    const running = run({ retryMs: RETRY_MS, heartbeatMs: HEARTBEAT_MS, ...options, ...callbacks }, abort.signal);
    return {
      async close() {
        abort.abort();
        await running;
      },
    };
  };
}

async function run(options: Holding, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const client = options.database.client();
    const lost = Promise.withResolvers<never>();
    lost.promise.catch(() => {});
    client.on('error', lost.reject);
    client.on('end', () => lost.reject(new Error('the connection that holds the operator lock ended')));
    try {
      await Promise.race([client.connect(), lost.promise]);
      await acquire(client, options, signal, lost.promise);
      await Promise.race([options.held(), lost.promise]);
      await keep(client, options, signal, lost.promise);
    } catch (error) {
      if (!signal.aborted) options.observe({ kind: 'background_failed', task: 'operator lock', error });
    } finally {
      options.lost();
      await client.end().catch(() => {});
    }
    await sleep(options.retryMs, undefined, { signal }).catch(() => {});
  }
}

async function acquire(client: pg.Client, options: Holding, signal: AbortSignal, lost: Promise<never>): Promise<void> {
  let told = false;
  for (;;) {
    if (await Promise.race([tryLock(client, options.source), lost])) return;
    if (!told)
      options.waiting(`Another operator reconciles ${options.source} into this database; waiting until it stops.`);
    told = true;
    await sleep(options.retryMs, undefined, { signal });
  }
}

/** A half-open connection never errors by itself: ask, and give up when no answer comes. */
async function keep(client: pg.Client, options: Holding, signal: AbortSignal, lost: Promise<never>): Promise<void> {
  for (;;) {
    await Promise.race([sleep(options.heartbeatMs, undefined, { signal }), lost]);
    const silence = new AbortController();
    const silent = sleep(options.heartbeatMs, undefined, { signal: silence.signal }).then(() => {
      throw new Error('the connection that holds the operator lock is silent');
    });
    silent.catch(() => {});
    await Promise.race([askAlive(client), silent, lost]).finally(() => silence.abort());
  }
}
