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
  /** Told of each connection whether it hears; undefined: that could not be tried. */
  probed?: (isHeard: boolean | undefined) => void;
};

type State = { isDeaf: boolean };

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
  const state: State = { isDeaf: false };
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

async function run(options: ListenOptions, state: State, signal: AbortSignal): Promise<void> {
  let delayMs = 0;
  let lostAt: number | undefined;
  const { heartbeatMs = HEARTBEAT_MS, observe } = options;
  while (!signal.aborted) {
    const client = options.database.client();
    const connection = new DedicatedConnection({ name: 'the listening connection', client, heartbeatMs, signal });
    try {
      await begin(connection, client, options);
      if (lostAt !== undefined) observe({ kind: 'listen_reconnected', afterMs: performance.now() - lostAt });
      lostAt = undefined;
      delayMs = 0;
      for (const { channel, missed } of options.subscriptions) guarded(options, channel, missed);
      await probe(connection, client, options, state);
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

/** Asks whether a notification of another connection arrives; one that arrives late counts, too. */
async function probe(connection: DedicatedConnection, client: pg.Client, options: ListenOptions, state: State) {
  const { database, observe, probed } = options;
  const channel = `accord_probe_${randomUUID()}`;
  const heard = Promise.withResolvers<true>();
  client.on('notification', (notification) => {
    if (notification.channel !== channel) return;
    state.isDeaf = false;
    heard.resolve(true);
  });
  await connection.ask((asked) => asked.query(`listen ${pg.escapeIdentifier(channel)}`));
  const told = database.notify(channel).then(
    () => true,
    () => false, // of the other connections' trouble, which says nothing of this one
  );
  if (!(await connection.whileAlive(told))) return probed?.(undefined);
  const waited = new AbortController();
  const late = sleep(HEARING_MS_MAX, false, { signal: waited.signal }).catch(() => false);
  try {
    const isHeard = await connection.whileAlive(Promise.race([heard.promise, late]));
    state.isDeaf = !isHeard;
    if (!isHeard) observe({ kind: 'listen_deaf' });
    probed?.(isHeard);
  } finally {
    waited.abort();
  }
}
