/**
 * Requests that a tenant's configuration makes this server send: the guard against being used to reach what only
 * this server can reach. The address is judged at connect time, after the name was resolved, so that a name cannot
 * mean one thing to a check and another to the connection.
 */
import { X509Certificate } from 'node:crypto';
import type { LookupAddress } from 'node:dns';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import type { Dispatcher } from 'undici';
import { parseCidrs } from './addresses.ts';
import { FairDnsResolver, type Resolve } from './fair-dns-resolver.ts';
import { guardedLookup, hostOf, literalOf, OutboundError, parseUrl, refusal, resolveName } from './guard.ts';
import { proxyOf, refusalOfName } from './proxy.ts';

export type OutboundOptions = {
  /** ACCORD_OUTBOUND_ALLOW: ranges outside the public internet that may be reached. */
  allow: string;
  /** Where this process listens, asked at each request: these ports of this machine are refused whatever `allow` says. */
  ownListeners: () => readonly { port: number }[];
  /** ACCORD_CA_BUNDLE as text (PEM): authorities that are trusted beside Node's own. */
  ca?: string;
  /** ACCORD_HTTPS_PROXY and ACCORD_NO_PROXY. */
  proxy?: { url: string; except: string };
  /** How names are resolved; node:dns unless a test brings its own zone. */
  resolve?: Resolve;
};

/** @param tenant on whose behalf: names are looked up for tenants in turn */
type RequestBounds = { tenant: string; maxBytes: number; timeoutMs: number };

type OutboundRequest = {
  /** @default GET */
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS';
  headers?: Readonly<Record<string, string>>;
  body?: string | Buffer;
};
type OutboundAnswer = {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
};

/** Kept connections to one origin: of a lane, because one of several tenants that hangs would take those of the others. */
export type OutboundPool = {
  /**
   * Sends a request and reads the answer, at most `maxBytes` of it: what is more is cut off. No redirects, no cookies.
   * @param signal aborts it
   * @throws OutboundError when the address is refused, or there is no whole answer in time
   */
  send(request: OutboundRequest, signal?: AbortSignal): Promise<OutboundAnswer>;
  /** Closes the connections; what is under way is aborted. */
  close(): Promise<void>;
};

/** @param connections at most; each has one request at a time, and is judged anew after a minute */
type PoolBounds = RequestBounds & { connections: number };

export type Outbound = {
  /**
   * Sends a request and reads the whole answer, whatever its status. No redirects, no cookies, a connection of its own.
   * @throws OutboundError when the address is refused, there is no answer, or a bound is exceeded
   */
  send(url: string, request: OutboundRequest, bounds: RequestBounds): Promise<OutboundAnswer>;
  /**
   * GETs a JSON document.
   * @throws OutboundError as send does, and when the answer is not a 200 with JSON
   */
  fetchJson(url: string, bounds: RequestBounds): Promise<unknown>;
  /** Looks a host name up for connections that are not HTTP, tenants in turn. @throws the resolver's error, or the signal's reason */
  resolve(tenant: string, hostname: string, signal: AbortSignal): Promise<LookupAddress[]>;
  /** Connections for many requests to one URL. Nothing is sent yet. @throws OutboundError for a URL that is none */
  pool(url: string, bounds: PoolBounds): OutboundPool;
  /** Aborts what is in flight and refuses what comes later. */
  close(): void;
};

/** The API server of Kubernetes answers 406 for its key set unless the type of key sets (RFC 7517) is among them. */
const JSON_TYPES = 'application/json, application/jwk-set+json';

/** @throws Error when `allow` holds something that is not a CIDR range */
export function createOutbound(options: OutboundOptions): Outbound {
  const allow = parseCidrs(options.allow);
  const resolver = new FairDnsResolver(options.resolve ?? resolveName);
  const closing = new AbortController();
  const tls = options.ca === undefined ? {} : { secureContext: trusting(options.ca) };
  const proxy = options.proxy === undefined ? undefined : proxyOf(options.proxy);
  /** How a URL is connected to. @param signalOf of a new connection's look-up */
  const guarded = (url: URL, { tenant, timeoutMs }: RequestBounds, signalOf: () => AbortSignal) => {
    const refusalOf = (address: string) => refusal(url, address, allow, options.ownListeners());
    const find = (hostname: string) => resolver.find(tenant, hostname, signalOf());
    const through = proxy?.isFor(url) ? proxy : undefined;
    const literal = literalOf(url);
    const name = literal === undefined ? hostOf(url) : undefined;
    return {
      /** @throws OutboundError for a literal address, or a name that is not given to a proxy */
      judge() {
        const refused = literal === undefined ? undefined : refusalOf(literal);
        const internal = through && name !== undefined ? refusalOfName(name) : undefined;
        const why = refused ?? internal;
        if (why !== undefined) throw new OutboundError(url.href, why);
      },
      async connect(
        direct: (options: object, connect: object) => Promise<Dispatcher>,
        kept: object = { pipelining: 0 },
      ): Promise<Dispatcher> {
        if (through) return through.agent({ ...unbounded, ...kept }, tls, name);
        return direct(unbounded, { ...tls, timeout: timeoutMs, lookup: guardedLookup(find, refusalOf) });
      },
    };
  };
  const outbound: Outbound = {
    async fetchJson(url, bounds) {
      return jsonOf(url, await outbound.send(url, { headers: { accept: JSON_TYPES } }, bounds));
    },
    async send(text, request, bounds) {
      const url = parseUrl(text);
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(bounds.timeoutMs)]);
      const { judge, connect } = guarded(url, bounds, () => signal);
      judge();
      // No keep-alive: the next request is judged again.
      const client = await connect((options, connecting) =>
        loadUndici().then(({ Client }) => new Client(url.origin, { ...options, pipelining: 0, connect: connecting })),
      );
      try {
        const answer = await exchange(client, url, request, { ...bounds, signal });
        if (answer.isCut) throw new OutboundError(url.href, `the answer is longer than ${bounds.maxBytes} bytes`);
        return answer;
      } catch (error) {
        throw asOutbound(error, text, bounds);
      } finally {
        await client.destroy();
      }
    },
    pool(text, bounds) {
      const url = parseUrl(text);
      const { judge, connect } = guarded(url, bounds, () => connectionSignal(closing.signal, bounds));
      const kept = { connections: bounds.connections, pipelining: 1, clientTtl: KEPT_MS, keepAliveTimeout: IDLE_MS };
      let dispatcher: Promise<Dispatcher> | undefined;
      const open = () =>
        connect(
          (options, connecting) =>
            loadUndici().then(({ Pool }) => new Pool(url.origin, { ...options, ...kept, connect: connecting })),
          kept,
        );
      return {
        async send(request, aborted) {
          const bound = boundedBy([closing.signal, ...(aborted ? [aborted] : [])], bounds.timeoutMs);
          try {
            judge();
            dispatcher ??= open();
            return await exchange(await dispatcher, url, request, { ...bounds, signal: bound.signal });
          } catch (error) {
            throw asOutbound(error, text, bounds);
          } finally {
            bound.end();
          }
        },
        async close() {
          await (await dispatcher?.catch(() => undefined))?.destroy();
          dispatcher = undefined;
        },
      };
    },
    resolve: (tenant, hostname, signal) => resolver.find(tenant, hostname, AbortSignal.any([closing.signal, signal])),
    close: () => closing.abort(new Error('the server is shutting down')),
  };
  return outbound;
}

/** Loaded with the first request: it takes 0.2 s, and most processes send none. */
const loadUndici = () => import('undici');

/** The signal bounds the whole request. */
const unbounded = { headersTimeout: 0, bodyTimeout: 0, allowH2: false };

/** A live connection stays where it is, whatever its name means by now; after this another one is opened, and judged. */
const KEPT_MS = 60_000;
const IDLE_MS = 10_000;

function connectionSignal(closing: AbortSignal, { timeoutMs }: RequestBounds): AbortSignal {
  return AbortSignal.any([closing, AbortSignal.timeout(timeoutMs)]);
}

/**
 * Aborted with the first of some signals, or after a time. AbortSignal.timeout and AbortSignal.any live on behind the request that
 * they were for, which of thousands of requests a second was a fifth of the CPU.
 */
function boundedBy(signals: readonly AbortSignal[], timeoutMs: number): { signal: AbortSignal; end(): void } {
  const aborting = new AbortController();
  const timer = setTimeout(() => aborting.abort(new DOMException('no answer in time', 'TimeoutError')), timeoutMs);
  const abort = () => aborting.abort(signals.find(({ aborted }) => aborted)?.reason);
  for (const signal of signals) signal.addEventListener('abort', abort);
  if (signals.some(({ aborted }) => aborted)) abort();
  return {
    signal: aborting.signal,
    end() {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', abort);
    },
  };
}

function asOutbound(error: unknown, url: string, bounds: RequestBounds): OutboundError {
  if (error instanceof OutboundError) return error;
  return new OutboundError(url, describe(error, bounds), { cause: error });
}

/** @throws Error for what holds no certificate, which Node would take without a word */
function trusting(ca: string): SecureContext {
  try {
    new X509Certificate(ca);
  } catch (cause) {
    throw new Error(`ACCORD_CA_BUNDLE contains no certificate: ${(cause as Error).message}`, { cause });
  }
  return createSecureContext({ ca: [...getCACertificates('default'), ca] });
}

async function exchange(
  client: Dispatcher,
  url: URL,
  { method = 'GET', headers = {}, body }: OutboundRequest,
  { maxBytes, signal }: RequestBounds & { signal: AbortSignal },
): Promise<OutboundAnswer & { isCut: boolean }> {
  const path = url.pathname + url.search;
  const response = await client.request({ method, origin: url.origin, path, headers, body: body ?? null, signal });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    chunks.push(bytes > maxBytes ? chunk.subarray(0, chunk.length - (bytes - maxBytes)) : chunk);
    if (bytes > maxBytes) break; // which ends the connection
  }
  const { statusCode: status, headers: answered } = response;
  return { status, headers: answered, body: Buffer.concat(chunks), isCut: bytes > maxBytes };
}

function jsonOf(url: string, { status, body }: OutboundAnswer): unknown {
  if (status !== 200) throw new OutboundError(url, `answered ${status}${redirected(status)}`);
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (cause) {
    throw new OutboundError(url, 'the answer is not JSON', { cause });
  }
}

function redirected(status: number): string {
  return status >= 300 && status < 400 ? ' (redirects are not followed)' : '';
}

function describe(error: unknown, bounds: RequestBounds): string {
  const { name, message, code, errors } = error as Error & { code?: string; errors?: Error[] };
  const late = name === 'TimeoutError' || code === 'UND_ERR_CONNECT_TIMEOUT';
  if (late) return `no complete answer within ${bounds.timeoutMs} ms`;
  // A name with several addresses, none of which answered: the error itself says nothing.
  return message || errors?.map((one) => one.message).join(', ') || code || name;
}
