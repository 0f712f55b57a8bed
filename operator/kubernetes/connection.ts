/**
 * Where the API server is, as whom we speak to it, and the connections to it. The kubeconfig and the ways to get
 * credentials are client-node's; the connections are ours, because client-node 2.0.1 makes a dispatcher, and with it a TLS
 * connection, for each request.
 */
import { createHash } from 'node:crypto';
import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import { type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { Clock } from '../../server/core/clock.ts';
import { limits } from '../../server/core/limits.ts';
import type { Party } from './errors.ts';

type Pools = { readonly requests: Dispatcher; readonly streams: Dispatcher };
export type Access = { readonly headers: Readonly<Record<string, string>>; readonly pools: Pools };

/** As node:https takes them; client-node fills them from files, plugins and the kubeconfig. */
type Tls = Pick<RequestOptions, 'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'rejectUnauthorized' | 'servername'>;

/** Before they are evaluated again. */
const CREDENTIALS_MS = 5000;
const CONNECT_MS = 10_000;
/** Of a connection that nothing uses. */
const KEEP_ALIVE_MS = 60_000;

export class Connection {
  readonly party: Party;
  readonly namespace: string;
  readonly origin: string;
  /** Before every path; some servers are behind a prefix. */
  readonly prefix: string;
  readonly #read: () => KubeConfig;
  readonly #clock: Clock;
  #config: KubeConfig;
  #access: Promise<Access> | undefined;
  #accessAt = 0;
  #current: Access | undefined;
  #pools: { pools: Pools; digest: string } | undefined;

  /**
   * @param file a kubeconfig; without it KUBECONFIG, the user's own, or the pod's service account, in this order
   * @throws {Error} a sentence, when there is none or it names no server
   */
  static async load(file: string | undefined, clock: Clock): Promise<Connection> {
    // Not before it is needed: it takes 80 MiB and a second.
    const client = await import('@kubernetes/client-node');
    return new Connection(() => readConfig(new client.KubeConfig(), file), clock);
  }

  private constructor(read: () => KubeConfig, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
    this.#config = read();
    const context = this.#config.getContextObject(this.#config.getCurrentContext());
    const server = this.#config.getCurrentCluster()?.server ?? '';
    const url = new URL(server);
    this.origin = url.origin;
    this.prefix = url.pathname.replace(/\/$/, '');
    this.namespace = context?.namespace?.trim() || 'default';
    this.party = { server, context: this.#config.getCurrentContext(), user: context?.user ?? '' };
  }

  /** Credentials and connections as they are now. Evaluated again after a few seconds: tokens and certificates change. */
  access(): Promise<Access> {
    const now = this.#clock.monotonic();
    if (this.#access === undefined || now - this.#accessAt > CREDENTIALS_MS) {
      this.#accessAt = now;
      const access = this.#evaluate();
      this.#access = access;
      access.catch(() => {
        if (this.#access === access) this.#access = undefined;
      });
    }
    return this.#access;
  }

  /** The credentials were refused: reads the kubeconfig again, past everything that client-node remembers. */
  refuse(access: Access): void {
    if (this.#current !== access) return; // somebody was refused before us
    this.#current = undefined;
    this.#access = undefined;
    try {
      this.#config = this.#read();
    } catch {
      // Somebody is writing it; the one that we have may do yet.
    }
  }

  async close(): Promise<void> {
    await this.#pools?.pools.streams.destroy();
    await this.#pools?.pools.requests.destroy();
  }

  async #evaluate(): Promise<Access> {
    const options: RequestOptions = {};
    await this.#config.applyToHTTPSOptions(options);
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(options.headers ?? {})) headers[name] = String(value).trim();
    if (options.auth) headers.Authorization = `Basic ${Buffer.from(options.auth).toString('base64')}`;
    this.#current = { headers, pools: this.#poolsFor(tlsOf(options)) };
    return this.#current;
  }

  /** The same ones until a certificate changes: each connection costs a handshake and a file descriptor. */
  #poolsFor(tls: Tls): Pools {
    const digest = createHash('sha256').update(JSON.stringify(tls)).digest('hex');
    if (this.#pools?.digest === digest) return this.#pools.pools;
    const before = this.#pools?.pools;
    const pools = {
      requests: this.#pool(tls, limits.kubernetesRequestConnectionsMax),
      streams: this.#pool(tls, limits.kubernetesStreamConnectionsMax),
    };
    this.#pools = { pools, digest };
    // Requests end as they would have; whoever reads a stream begins a new one.
    void before?.requests.close();
    void before?.streams.destroy();
    return pools;
  }

  #pool(tls: Tls, connections: number): Dispatcher {
    const common = {
      connections,
      // With HTTP/2 all would hang on one connection, and end with it.
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
    };
    const proxy = this.#config.getCurrentCluster()?.proxyUrl;
    if (proxy) return new ProxyAgent({ uri: proxy, requestTls: tls, ...common });
    const connect = {
      ...tls,
      timeout: CONNECT_MS,
      keepAlive: true,
      // Before load balancers and NAT forget the connection, which the fastest do after a minute.
      keepAliveInitialDelay: 30_000,
    };
    return new Pool(this.origin, { ...common, connect });
  }
}

function tlsOf(options: RequestOptions): Tls {
  const { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername } = options;
  const all = { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== null));
}

function readConfig(config: KubeConfig, file: string | undefined): KubeConfig {
  const name = file === undefined ? 'The kubeconfig' : `The kubeconfig ${file}`;
  try {
    if (file === undefined) config.loadFromDefault();
    else config.loadFromFile(file);
  } catch (error) {
    // The parser of YAML quotes the file after the first line, and there are secrets in it.
    throw new Error(`${name} cannot be used: ${String((error as Error).message).split('\n', 1)[0]}`);
  }
  const current = config.getCurrentContext();
  if (!current) throw new Error(`${name} cannot be used: it has no current-context.`);
  const context = config.getContextObject(current);
  if (!context) throw new Error(`${name} cannot be used: it has no context ${current}.`);
  const cluster = config.getCurrentCluster();
  if (!cluster)
    throw new Error(`${name} cannot be used: it has no cluster ${context.cluster}, which ${current} names.`);
  if (file === undefined && current === 'loaded-context' && cluster.server === 'http://localhost:8080') {
    throw new Error(
      'No kubeconfig found: KUBECONFIG is not set, the default file does not exist, and this is not a pod with a service account.',
    );
  }
  if (!config.getCurrentUser()) {
    throw new Error(`${name} cannot be used: it has no user ${context.user}, which ${current} names.`);
  }
  if (!URL.canParse(cluster.server)) {
    throw new Error(`${name} cannot be used: the server of cluster ${cluster.name} is not a URL.`);
  }
  return config;
}
