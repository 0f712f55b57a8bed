/**
 * A URL that names several servers, of which one is the primary, in the ways of libpq: `postgres://u:p@a:5432,b/db`, or
 * `?host=a,b&port=5432,5433`. node-postgres takes one server, and does not ask it what it is. Here they are tried in turn, first
 * the one that was the primary last, and one that takes no writes is left.
 */
import pg from 'pg';
import { ConfigError } from '../config.ts';

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/;
const ATTRIBUTE = 'target_session_attrs';

/**
 * @returns a URL for each server; `isChecked`: they are asked whether they take writes
 * @throws ConfigError for a kind of server that nothing here can be done with
 */
export function urlsOf(url: string): { urls: [string, ...string[]]; isChecked: boolean } {
  const [, begin = '', authority = '', path = '', query = ''] = PARTS.exec(url) ?? [];
  const parameters = new URLSearchParams(query);
  const wanted = parameters.get(ATTRIBUTE);
  if (wanted !== null && wanted !== 'read-write' && wanted !== 'primary')
    throw new ConfigError(`${ATTRIBUTE} in a database URL must be read-write or primary, not ${wanted}`);
  const inQuery = parameters.get('host');
  const hosts = (inQuery ?? authority).split(',');
  if (hosts.length === 1 && wanted === null) return { urls: [url], isChecked: false };
  const ports = parameters.get('port')?.split(',');
  parameters.delete(ATTRIBUTE);
  const urls = hosts.map((host, index) => {
    const own = new URLSearchParams(parameters);
    if (inQuery !== null) own.set('host', host);
    if (ports !== undefined) own.set('port', ports[index] ?? (ports[0] as string));
    return `${begin}${inQuery === null ? host : ''}${path}${own.size > 0 ? `?${own}` : ''}`;
  });
  return { urls: urls as [string, ...string[]], isChecked: true };
}

export class Hosts {
  readonly #urls: readonly [string, ...string[]];
  readonly #isChecked: boolean;
  #at = 0;

  /** @throws ConfigError */
  constructor(url: string) {
    ({ urls: this.#urls, isChecked: this.#isChecked } = urlsOf(url));
  }

  /** How many servers there are: so often it may help to connect again. */
  get count(): number {
    return this.#urls.length;
  }

  /** A client that is not connected. When its `connect()` fails, also because the server takes no writes, the next client asks the next server. */
  client(options: pg.ClientConfig): pg.Client {
    const url = this.#urls[this.#at] as string;
    const client = new pg.Client({ ...options, connectionString: url });
    if (!this.#isChecked) return client;
    const connect = client.connect.bind(client);
    const connected = async () => {
      try {
        await connect();
        await assertWritable(client);
      } catch (error) {
        if (url === this.#urls[this.#at]) this.#at = (this.#at + 1) % this.#urls.length;
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
}

async function assertWritable(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    `select pg_is_in_recovery() or current_setting('default_transaction_read_only')::boolean as refuses`,
  );
  if (!rows[0].refuses) return;
  const { host, port } = client;
  throw Object.assign(new Error(`${host}:${port} takes no writes: it is a standby, or read-only`), { code: '25006' });
}

/** A client of the first server that takes writes; its errors while nobody asks are dropped. @throws the error of the last one */
export async function connect(url: string, options: pg.ClientConfig): Promise<pg.Client> {
  const hosts = new Hosts(url);
  for (let left = hosts.count; ; ) {
    const client = hosts.client(options);
    client.on('error', () => {});
    try {
      await client.connect();
      return client;
    } catch (error) {
      left -= 1;
      if (left === 0) throw error;
    }
  }
}
