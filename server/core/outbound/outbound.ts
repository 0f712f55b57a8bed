/**
 * Requests that a tenant's configuration makes this server send: the guard against being used to reach what only
 * this server can reach. The address is judged at connect time, after the name was resolved, so that a name cannot
 * mean one thing to a check and another to the connection.
 */
import { X509Certificate } from 'node:crypto';
import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import type { Dispatcher } from 'undici';
import { type Cidr, isAddressAllowed, isLoopback, isThisMachine, parseCidrs } from './addresses.ts';
import { FairDnsResolver, type Resolve } from './fair-dns-resolver.ts';
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
  /** Aborts what is in flight and refuses what comes later. */
  close(): void;
};

/** Why a document could not be had; the message names the URL and is meant for the operator's log and status. */
class OutboundError extends Error {}

/** The API server of Kubernetes answers 406 for its key set unless the type of key sets (RFC 7517) is among them. */
const JSON_TYPES = 'application/json, application/jwk-set+json';

/** @throws Error when `allow` holds something that is not a CIDR range */
export function createOutbound(options: OutboundOptions): Outbound {
  const allow = parseCidrs(options.allow);
  const resolver = new FairDnsResolver(options.resolve ?? resolveName);
  const closing = new AbortController();
  const tls = options.ca === undefined ? {} : { secureContext: trusting(options.ca) };
  const proxy = options.proxy === undefined ? undefined : proxyOf(options.proxy);
  const outbound: Outbound = {
    async fetchJson(url, bounds) {
      return jsonOf(url, await outbound.send(url, { headers: { accept: JSON_TYPES } }, bounds));
    },
    async send(text, request, bounds) {
      const url = parseUrl(text);
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(bounds.timeoutMs)]);
      const find = (hostname: string) => resolver.find(bounds.tenant, hostname, signal);
      const refusalOf = (address: string) => refusal(url, address, allow, options.ownListeners());
      const literal = url.hostname.replace(/^\[|\]$/g, '');
      // A connection to a literal address never asks the resolver, so it is judged here. The URL parser has already
      // turned every other spelling (0x7f.1, 2130706433, 0177.0.0.1) into the usual one.
      const refused = isIP(literal) ? refusalOf(literal) : undefined;
      if (refused) throw new OutboundError(`${text}: ${refused}`);
      const common = { ...unbounded, pipelining: 0, allowH2: false }; // no keep-alive: the next request is judged again
      const through = proxy?.isFor(url) ? proxy : undefined;
      const name = isIP(literal) === 0 ? literal : undefined;
      const internal = through && name !== undefined ? refusalOfName(name) : undefined;
      if (internal) throw new OutboundError(`${text}: ${internal}`);
      const client: Dispatcher = through
        ? await through.agent(common, tls, name)
        : new (await loadUndici()).Client(url.origin, {
            ...common,
            connect: { ...tls, timeout: bounds.timeoutMs, lookup: guardedLookup(find, refusalOf) },
          });
      try {
        return await exchange(client, url, request, { ...bounds, signal });
      } catch (error) {
        throw error instanceof OutboundError
          ? error
          : new OutboundError(`${text}: ${describe(error, bounds)}`, { cause: error });
      } finally {
        await client.destroy();
      }
    },
    close: () => closing.abort(new Error('the server is shutting down')),
  };
  return outbound;
}

/** Loaded with the first request: it takes 0.2 s, and most processes send none. */
const loadUndici = () => import('undici');

/** The signal bounds the whole request. */
const unbounded = { headersTimeout: 0, bodyTimeout: 0 };

/** @throws Error for what holds no certificate, which Node would take without a word */
function trusting(ca: string): SecureContext {
  try {
    new X509Certificate(ca);
  } catch (cause) {
    throw new Error(`ACCORD_CA_BUNDLE contains no certificate: ${(cause as Error).message}`, { cause });
  }
  return createSecureContext({ ca: [...getCACertificates('default'), ca] });
}

function parseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw new OutboundError(`${text}: is not a URL`);
  if (url.username !== '' || url.password !== '') throw new OutboundError(`${text}: user information is not allowed`);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new OutboundError(`${text}: must be https`);
  const named = /^(localhost|.+\.localhost)$/.test(url.hostname);
  if (url.protocol === 'http:' && !named && !isLoopback(url.hostname)) {
    throw new OutboundError(`${text}: must be https (http is for a loopback host only)`);
  }
  return url;
}

function refusal(
  url: URL,
  address: string,
  allow: readonly Cidr[],
  own: readonly { port: number }[],
): string | undefined {
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  if (own.some((listener) => listener.port === port) && isThisMachine(address, ownAddresses())) {
    return `${address}:${port} is this server itself`;
  }
  if (url.protocol === 'http:' && !isLoopback(address)) return `http is for a loopback host only, not ${address}`;
  return isAddressAllowed(address, allow)
    ? undefined
    : `the address ${address} is not public and ACCORD_OUTBOUND_ALLOW does not name it`;
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map((one) => one.address));
}

/** A resolver that gives the connection only addresses that may be reached. */
function guardedLookup(resolve: Resolve, refusalOf: (address: string) => string | undefined): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (found) => {
        const wanted = found.filter((one) => !options.family || one.family === options.family);
        const allowed = wanted.filter((one) => refusalOf(one.address) === undefined);
        const [first] = allowed;
        if (first === undefined) {
          const why = wanted[0] ? refusalOf(wanted[0].address) : `${hostname} has no address`;
          callback(new OutboundError(`${hostname}: ${why}`), []);
        } else if (options.all) callback(null, allowed);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}

function resolveName(hostname: string): Promise<LookupAddress[]> {
  return new Promise((done, failed) => {
    lookup(hostname, { all: true, order: 'verbatim' }, (error, found) => (error ? failed(error) : done(found)));
  });
}

async function exchange(
  client: Dispatcher,
  url: URL,
  { method = 'GET', headers = {}, body }: OutboundRequest,
  { maxBytes, signal }: RequestBounds & { signal: AbortSignal },
): Promise<OutboundAnswer> {
  const path = url.pathname + url.search;
  const response = await client.request({ method, origin: url.origin, path, headers, body: body ?? null, signal });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new OutboundError(`${url.href}: the answer is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
}

function jsonOf(url: string, { status, body }: OutboundAnswer): unknown {
  if (status !== 200) throw new OutboundError(`${url}: answered ${status}${redirected(status)}`);
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (cause) {
    throw new OutboundError(`${url}: the answer is not JSON`, { cause });
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
