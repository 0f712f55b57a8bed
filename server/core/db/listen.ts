/**
 * LISTEN: one connection that notices when it is dead and says so when it is back. Notifications are hints; the
 * `onConnect` callback is where a listener catches up on all that it may have missed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { jittered, nextDelayMs } from '../backoff.ts';
import type { Observe } from '../observe.ts';

type ListenOptions = {
  client: () => pg.Client;
  channels: Record<string, (payload: string) => void>;
  /** After every (re)connect, once LISTEN is in force. */
  onConnect: () => void;
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
  while (!signal.aborted) {
    const client = options.client();
    try {
      await session(client, options, signal, () => {
        if (lostAt !== undefined) options.observe({ kind: 'listen_reconnected', afterMs: performance.now() - lostAt });
        lostAt = undefined;
        delayMs = 0;
      });
    } catch (error) {
      lostAt ??= performance.now();
      if (!signal.aborted) options.observe({ kind: 'database_lost', error });
    } finally {
      await client.end().catch(() => {});
    }
    delayMs = nextDelayMs(delayMs, RECONNECT);
    if (!signal.aborted) await sleep(jittered(delayMs), undefined, { signal }).catch(() => {});
  }
}

async function session(client: pg.Client, options: ListenOptions, signal: AbortSignal, connected: () => void) {
  const lost = Promise.withResolvers<never>();
  lost.promise.catch(() => {});
  client.on('error', lost.reject);
  client.on('end', () => lost.reject(new Error('the listening connection ended')));
  client.on('notification', ({ channel, payload }) => options.channels[channel]?.(payload ?? ''));
  signal.addEventListener('abort', () => lost.reject(new Error('closed')), { once: true });
  await Promise.race([client.connect(), lost.promise]);
  for (const channel of Object.keys(options.channels)) {
    await Promise.race([client.query(`listen ${pg.escapeIdentifier(channel)}`), lost.promise]);
  }
  connected();
  options.onConnect();
  // A half-open TCP connection never errors by itself: ask, and give up when no answer comes.
  const heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS;
  while (!signal.aborted) {
    await Promise.race([sleep(heartbeatMs, undefined, { signal }), lost.promise]);
    const timeout = AbortSignal.timeout(heartbeatMs);
    const silent = new Promise<never>((_, reject) =>
      timeout.addEventListener('abort', () => reject(new Error('the listening connection is silent')), { once: true }),
    );
    silent.catch(() => {});
    await Promise.race([client.query('select 1'), silent, lost.promise]);
  }
}
