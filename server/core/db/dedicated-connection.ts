/**
 * A connection outside the pools, for what lasts as long as a session: LISTEN, a session-level lock. A half-open TCP
 * connection never errors by itself, so every question has a time for its answer, also the one that ends the connection.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { streamOf } from './query-watchdog.ts';

type Options = {
  /** In the words of an error: "the listening connection". */
  name: string;
  client: pg.Client;
  /** Between two questions whether it is alive, and for each answer. */
  heartbeatMs: number;
  /** Aborted when it is to end. */
  signal: AbortSignal;
};

export class DedicatedConnection {
  readonly #options: Options;
  /** Those who wait for something, while it is alive. A promise of its end would keep what each of them waited for. */
  readonly #waiting = new Set<(reason: Error) => void>();
  #lost: Error | undefined;
  readonly #aborted = () => this.#lose(new Error('closed'));

  constructor(options: Options) {
    const { client, signal, name } = options;
    this.#options = options;
    client.on('error', (error) => this.#lose(error));
    client.on('end', () => this.#lose(new Error(`${name} ended`)));
    signal.addEventListener('abort', this.#aborted, { once: true });
  }

  /** @throws when the connection is lost or to end before the promise is done */
  whileAlive<T>(promise: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.add(reject);
      if (this.#lost !== undefined) reject(this.#lost);
      promise.then(resolve, reject).finally(() => this.#waiting.delete(reject));
    });
  }

  #lose(reason: Error): void {
    this.#lost ??= reason;
    for (const reject of this.#waiting) reject(this.#lost);
    this.#waiting.clear();
  }

  async connect(): Promise<void> {
    await this.whileAlive(this.#options.client.connect());
  }

  /** @throws when no answer comes in time */
  async ask<T>(question: (client: pg.Client) => Promise<T>): Promise<T> {
    const { client, heartbeatMs, name } = this.#options;
    const answered = new AbortController();
    const silent = sleep(heartbeatMs, undefined, { signal: answered.signal }).then(() => {
      throw new Error(`${name} is silent`);
    });
    silent.catch(() => {});
    return this.whileAlive(Promise.race([question(client), silent])).finally(() => answered.abort());
  }

  /** Asks again and again whether it is alive, until it is not. @throws why */
  async watch(): Promise<never> {
    const { heartbeatMs, signal } = this.#options;
    for (;;) {
      await this.whileAlive(sleep(heartbeatMs, undefined, { signal }));
      await this.ask((client) => client.query('select 1'));
    }
  }

  /** Says goodbye, and leaves when nobody answers. */
  async end(): Promise<void> {
    const { client, signal, heartbeatMs } = this.#options;
    signal.removeEventListener('abort', this.#aborted);
    const impatient = setTimeout(() => streamOf(client).destroy(), heartbeatMs);
    await client.end().catch(() => {});
    clearTimeout(impatient);
  }
}
