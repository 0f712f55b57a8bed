/** The servers that a URL names (urls.ts): tried in turn, starting with the last known primary. */
import pg from 'pg';
import { urlsOf, type Wanted } from './urls.ts';

/** For a connection to be opened, and for the answer of a server to what it is. */
export const CONNECT_MS_MAX = 5000;

export class Hosts {
  readonly #urls: readonly [string, ...string[]];
  readonly #wanted: Wanted;
  #failures = 0;

  /** @throws Error for a URL that is wrong */
  constructor(url: string) {
    ({ urls: this.#urls, wanted: this.#wanted } = urlsOf(url));
  }

  get count(): number {
    return this.#urls.length;
  }

  /** How often a server could not be connected to, or was a standby: then the next one is asked. */
  get failures(): number {
    return this.#failures;
  }

  /**
   * A client that is not connected, whose errors while nobody asks are dropped. When its `connect()` fails, also because the server is
   * a standby, the next client asks the next server.
   */
  client(options: pg.ClientConfig): pg.Client {
    const failures = this.#failures;
    const connectionString = this.#urls[failures % this.#urls.length] as string;
    const client = new pg.Client({ connectionTimeoutMillis: CONNECT_MS_MAX, ...options, connectionString });
    // Of a connection that ends before anybody has it the error would end the process; what is sent on it fails.
    client.on('error', () => {});
    if (this.#wanted === 'any') return client;
    const connect = client.connect.bind(client);
    const connected = async () => {
      try {
        await connect();
        await this.#assertWanted(client);
      } catch (error) {
        // Others may have failed at the same server.
        if (failures === this.#failures) this.#failures += 1;
        client.end().catch(() => {});
        throw error;
      }
    };
    client.connect = ((callback?: (error: Error | null) => void) => {
      const done = connected();
      return callback === undefined ? done : void done.then(() => callback(null), callback);
    }) as pg.Client['connect'];
    return client;
  }

  async #assertWanted(client: pg.Client): Promise<void> {
    const readOnly =
      this.#wanted === 'read-write' ? `or current_setting('default_transaction_read_only')::boolean` : '';
    const asked = { text: `select pg_is_in_recovery() ${readOnly} as refuses`, query_timeout: CONNECT_MS_MAX };
    const { rows } = await client.query(asked);
    if (!rows[0].refuses) return;
    const { host, port } = client;
    // As a connection that the server refused: the statements of others fail, too (errors.ts).
    throw Object.assign(new Error(`${host}:${port} is a standby, or read-only`), { code: '08004' });
  }
}

/** A client of the first server that is wanted. @throws the error of the last one */
export async function connect(url: string, options: pg.ClientConfig): Promise<pg.Client> {
  const hosts = new Hosts(url);
  for (let left = hosts.count; ; ) {
    const client = hosts.client(options);
    try {
      await client.connect();
      return client;
    } catch (error) {
      left -= 1;
      if (left === 0) throw error;
    }
  }
}
