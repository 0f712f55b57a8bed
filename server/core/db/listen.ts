/**
 * LISTEN: one connection that notices when it is dead and says so when it is back. Notifications are hints; `missed` is
 * where a subscriber catches up on all that it may not have heard.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { jittered, nextDelayMs } from '../backoff.ts';
import type { Observe } from '../observe.ts';
import { DedicatedConnection } from './dedicated-connection.ts';

/** One that hears of a channel. Any number may hear of the same one: each notification goes to all of them. */
export type Subscription = {
  channel: string;
  received: (payload: string) => void;
  /** Notifications may have been missed: after every (re)connect, once LISTEN is in force. */
  missed: () => void;
};

type ListenOptions = {
  client: () => pg.Client;
  subscriptions: readonly Subscription[];
  observe: Observe;
  heartbeatMs?: number;
};

export type Listener = { close(): Promise<void> };

const HEARTBEAT_MS = 5000;
const RECONNECT = { minMs: 100, maxMs: 5000 };

/** Starts listening in the background and goes on until closed, whatever happens to the connection. */
export function listen(options: ListenOptions): Listener {
  const abort = new AbortController();
  const running = run(options, abort.signal);
  return {
    async close() {
      abort.abort();
      await running;
    },
  };
}

async function run(options: ListenOptions, signal: AbortSignal): Promise<void> {
  let delayMs = 0;
  let lostAt: number | undefined;
  const { heartbeatMs = HEARTBEAT_MS, observe } = options;
  while (!signal.aborted) {
    const client = options.client();
    const connection = new DedicatedConnection({ name: 'the listening connection', client, heartbeatMs, signal });
    try {
      await begin(connection, client, options);
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
