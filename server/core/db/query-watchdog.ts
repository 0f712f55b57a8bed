/**
 * Ending connections on which Postgres owes an answer for too long: a half-open TCP connection or a stopped process
 * ends nothing itself, and what waits would wait for ever.
 *
 * One look at all connections of a pool instead of pg's `query_timeout`, which assigns a function literal to a property of
 * each query: V8 puts such functions among the old objects, and each then kept its query, with all that it held, until the next
 * full collection (2 KB of a decision over relationships; scavenges took 2 to 3 ms instead of 0.8).
 */
import type { Socket } from 'node:net';
import type pg from 'pg';

type Owing = { answers: number; since: number };

export class QueryWatchdog {
  readonly #owing = new Map<pg.PoolClient, Owing>();
  readonly #timer: NodeJS.Timeout;

  /** @param limitMs how long Postgres may be silent while it owes an answer; it may take a quarter or a second longer */
  constructor(limitMs: number) {
    const everyMs = Math.min(1000, limitMs / 4);
    let last = performance.now();
    this.#timer = setInterval(() => {
      const now = performance.now();
      // After a stop of this process itself, the answers may have come and not been read.
      if (now - last < 2 * everyMs) this.#end(now - limitMs, limitMs);
      last = now;
    }, everyMs).unref();
  }

  /** From here on an answer is owed. */
  asked(client: pg.PoolClient): void {
    const owing = this.#owing.get(client);
    if (owing) owing.answers++;
    else this.#owing.set(client, { answers: 1, since: performance.now() });
  }

  /** An answer has come. */
  answered(client: pg.PoolClient): void {
    const owing = this.#owing.get(client);
    if (owing === undefined) return;
    owing.answers--;
    owing.since = performance.now();
    if (owing.answers === 0) this.#owing.delete(client);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #end(before: number, limitMs: number): void {
    for (const [client, { since }] of this.#owing) {
      if (since >= before) continue;
      this.#owing.delete(client);
      // The code of a socket that got no answer: what was asked may be asked again later (errors.ts).
      const silent = Object.assign(new Error(`Postgres did not answer for ${limitMs} ms`), { code: 'ETIMEDOUT' });
      streamOf(client).destroy(silent);
    }
  }
}

/** The socket of a connection, of which pg's types tell nothing. */
export function streamOf(client: pg.ClientBase): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream;
}
