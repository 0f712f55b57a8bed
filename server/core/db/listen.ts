/**
 * LISTEN: one connection that notices when it is dead and says so when it is back. Notifications are hints; `missed` is
 * where a subscriber catches up on all that it may not have heard.
 *
 * Through a pooler that shares connections between transactions LISTEN succeeds, and nothing is ever heard. So each connection is asked
 * at its beginning whether it hears what the database is told elsewhere.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { jittered, nextDelayMs } from '../backoff.ts';
import type { Observe } from '../observe.ts';
import type { Database } from './database.ts';
import { DedicatedConnection } from './dedicated-connection.ts';

/** One that hears of a channel. Any number may hear of the same one: each notification goes to all of them. */
export type Subscription = {
  channel: string;
  received: (payload: string) => void;
  /** Notifications may have been missed: after every (re)connect, once LISTEN is in force. */
  missed: () => void;
};

type ListenOptions = {
  database: Pick<Database, 'client' | 'notify'>;
  subscriptions: readonly Subscription[];
  observe: Observe;
  heartbeatMs?: number;
};

export type Listener = {
  /** Notifications do not arrive on the connection: what they would tell is found by the polls. */
  readonly isDeaf: boolean;
  close(): Promise<void>;
};

const HEARTBEAT_MS = 5000;
/** For a notification on its way back, which takes a millisecond. */
const HEARING_MS_MAX = 1000;
const RECONNECT = { minMs: 100, maxMs: 5000 };

/** Starts listening in the background and goes on until closed, whatever happens to the connection. */
export function listen(options: ListenOptions): Listener {
  const abort = new AbortController();
  const state = { isDeaf: false };
  const running = run(options, state, abort.signal);
  return {
    get isDeaf() {
      return state.isDeaf;
    },
    async close() {
      abort.abort();
      await running;
    },
  };
}

async function run(options: ListenOptions, state: { isDeaf: boolean }, signal: AbortSignal): Promise<void> {
  let delayMs = 0;
  let lostAt: number | undefined;
  const { heartbeatMs = HEARTBEAT_MS, observe } = options;
  while (!signal.aborted) {
    const client = options.database.client();
    const connection = new DedicatedConnection({ name: 'the listening connection', client, heartbeatMs, signal });
    try {
      await begin(connection, client, options);
      state.isDeaf = !(await hears(connection, client, options.database));
      if (state.isDeaf) observe({ kind: 'listen_deaf' });
      if (lostAt !== undefined) observe({ kind: 'listen_reconnected', afterMs: performance.now() - lostAt });
      lostAt = undefined;
      delayMs = 0;
      for (const { channel, missed } of options.subscriptions) guarded(options, channel, missed);
      await connection.watch();
    } catch (error) {
      lostAt ??= performance.now();
      if (!signal.aborted) observe({ kind: 'database_lost', error });
    } finally {
      await connection.end();
    }
    delayMs = nextDelayMs(delayMs, RECONNECT);
    if (!signal.aborted) await sleep(jittered(delayMs), undefined, { signal }).catch(() => {});
  }
}

/** One that throws keeps no other from hearing. */
function guarded({ observe }: ListenOptions, channel: string, hear: () => void): void {
  try {
    hear();
  } catch (error) {
    observe({ kind: 'background_failed', task: `hearing ${channel}`, error });
  }
}

async function begin(connection: DedicatedConnection, client: pg.Client, options: ListenOptions): Promise<void> {
  const subscribers = Map.groupBy(options.subscriptions, ({ channel }) => channel);
  client.on('notification', ({ channel, payload = '' }) => {
    for (const { received } of subscribers.get(channel) ?? []) guarded(options, channel, () => received(payload));
  });
  await connection.connect();
  for (const channel of subscribers.keys()) {
    await connection.ask((asked) => asked.query(`listen ${pg.escapeIdentifier(channel)}`));
  }
}

/** Whether a notification of another connection arrives. */
async function hears(
  connection: DedicatedConnection,
  client: pg.Client,
  database: Pick<Database, 'notify'>,
): Promise<boolean> {
  const probe = `accord_probe_${randomUUID()}`;
  const heard = Promise.withResolvers<true>();
  const hear = ({ channel }: pg.Notification) => {
    if (channel === probe) heard.resolve(true);
  };
  client.on('notification', hear);
  const waited = new AbortController();
  try {
    await connection.ask((asked) => asked.query(`listen ${pg.escapeIdentifier(probe)}`));
    await connection.whileAlive(database.notify(probe));
    const late = sleep(HEARING_MS_MAX, false, { signal: waited.signal }).catch(() => false);
    return await connection.whileAlive(Promise.race([heard.promise, late]));
  } finally {
    waited.abort();
    client.off('notification', hear);
    await connection.ask((asked) => asked.query(`unlisten ${pg.escapeIdentifier(probe)}`)).catch(() => {});
  }
}
