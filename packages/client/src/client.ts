import { type Decision, isAllowed, type Question } from './decision.ts';
import { AccordError, AccordResponseError } from './errors.ts';
import { keyedOperations } from './generated/keyed.ts';
import { type TokenOption, type TokenSource, tokenSource } from './token.ts';
import type { CallOptions, DataOf, Method, PathOf, Rest } from './types.ts';
import { sleep, waitBefore, within } from './waiting.ts';

export type ClientOptions = {
  /** The address of the server, such as https://accord.example. */
  baseUrl: string;
  /** The code of the tenant, for every path that has one. */
  tenant: string;
  token: TokenOption;
  /** Milliseconds for each attempt, its body included. Default 10,000. */
  timeoutMs?: number;
  /** How often a request is sent at most, where it may be sent twice. 1: never again. Default 3. */
  attempts?: number;
  /** Instead of the global fetch. */
  fetch?: typeof fetch;
};

/** A successful answer. */
export type Answer<Data> = { data: Data; status: number; headers: Headers };

type Loose = CallOptions & { path?: Record<string, unknown>; query?: Record<string, unknown>; body?: unknown };

/** Operations that change nothing, although they are POST. */
const reading = /^POST (\/authz\/\{tenant\}|\/\{tenant\}\/access\/v1)(\/|$)/;

export type AccordClient = ReturnType<typeof createClient>;

/** @throws TypeError for options that no request could be made with */
export function createClient(options: ClientOptions) {
  const { tenant, timeoutMs = 10_000, attempts = 3 } = options;
  const base = baseOf(options.baseUrl);
  // Looked up at each request, so that what instruments it later is used; and never called as a method.
  const fetcher: typeof fetch = (input, init) => (options.fetch ?? globalThis.fetch)(input, init);
  if (!Number.isInteger(attempts) || attempts < 1) throw new TypeError('attempts must be 1 or more');
  if (!(timeoutMs > 0)) throw new TypeError('timeoutMs must be more than 0');
  const source = tokenSource(options.token, `${base}/${segment('tenant', tenant)}/oidc`, timeoutMs, fetcher);

  /**
   * Calls an operation of docs/openapi.json by its method and path. It is sent again, after 429, 503 and when no answer
   * came, also to the request for a token, where that is safe: GET, decisions, and operations that take an Idempotency-Key, which the client makes.
   * @throws AccordResponseError when the answer is an error; AccordNetworkError, AccordTimeoutError, AccordTokenError
   */
  async function call<M extends Method, P extends PathOf<M>>(
    method: M,
    path: P,
    ...[request]: Rest<M, P>
  ): Promise<Answer<DataOf<M, P>>> {
    const operation = `${method} ${path as string}`;
    const loose = (request ?? {}) as Loose;
    const url = `${base}${fill(path as string, { tenant, ...loose.path })}${queryOf(loose.query)}`;
    const headers = new Headers(loose.headers);
    const keyed = keyedOperations.has(operation);
    if (keyed && !headers.has('idempotency-key')) headers.set('idempotency-key', crypto.randomUUID());
    const init = { method, headers, ...bodyOf(loose.body, headers) };
    const one = { operation, url, init, source, fetcher, timeoutMs: loose.timeoutMs ?? timeoutMs };
    const times = method === 'GET' || keyed || reading.test(operation) ? attempts : 1;
    for (let attempt = 1; ; attempt++) {
      try {
        return (await attemptOf(one, loose.signal)) as Answer<DataOf<M, P>>;
      } catch (error) {
        const wait = attempt < times ? waitBefore(error, attempt) : undefined;
        if (wait === undefined) throw error;
        await sleep(wait, loose.signal);
      }
    }
  }

  /** The decision, whatever it is. @throws as `call` does */
  async function decide(question: Question, more: CallOptions = {}): Promise<Decision> {
    return (await call('POST', '/authz/{tenant}', { ...more, body: question })).data as Decision;
  }

  /**
   * Whether the answer is an explicit allow without obligations; an object or another word is not.
   * @throws as `call` does when there is no decision: treat that as a refusal
   */
  async function allowed(question: Question, more: CallOptions = {}): Promise<boolean> {
    return isAllowed(await decide(question, more));
  }

  return { call, decide, allowed };
}

type One = {
  operation: string;
  url: string;
  init: { method: string; headers: Headers; body?: string };
  source: TokenSource;
  fetcher: typeof fetch;
  timeoutMs: number;
};

/** One attempt; a second one with a new token when the server refuses the kept one, because then it did nothing. */
async function attemptOf(one: One, signal?: AbortSignal): Promise<Answer<unknown>> {
  const token = await one.source.get(one.timeoutMs, signal);
  const answer = await send(one, token, signal);
  if (answer.status !== 401 || !one.source.refused(token)) return outcomeOf(one.operation, answer);
  return outcomeOf(one.operation, await send(one, await one.source.get(one.timeoutMs, signal), signal));
}

type Raw = { status: number; headers: Headers; text: string };

function send({ operation, url, init, fetcher, timeoutMs }: One, token: string, signal?: AbortSignal): Promise<Raw> {
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${token}`);
  return within(operation, timeoutMs, signal, async (stop) => {
    const response = await fetcher(url, { ...init, headers, signal: stop, redirect: 'error' });
    return { status: response.status, headers: response.headers, text: await response.text() };
  });
}

function outcomeOf(operation: string, { status, headers, text }: Raw): Answer<unknown> {
  if (status < 200 || status > 299) throw new AccordResponseError(operation, status, headers, text);
  if (text === '') return { data: undefined, status, headers };
  // Newline-delimited JSON of exports, and texts of documents, are given as they came.
  if (!/^application\/(\w+\+)?json\b/.test(headers.get('content-type') ?? '')) return { data: text, status, headers };
  try {
    return { data: JSON.parse(text), status, headers };
  } catch (cause) {
    throw new AccordError(`${operation} was answered ${status} with a body that is not JSON`, { cause });
  }
}

function baseOf(url: string): string {
  const { protocol, search, hash, href } = new URL(url);
  if (!/^https?:$/.test(protocol) || search || hash) throw new TypeError(`baseUrl must be an http address: ${url}`);
  return href.replace(/\/+$/, '');
}

function fill(path: string, values: Record<string, unknown>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => segment(name, values[name]));
}

/** URLs resolve the segments . and .., which would make another path of it. */
function segment(name: string, value: unknown): string {
  const text = value === undefined || value === null ? '' : String(value);
  if (text === '' || text === '.' || text === '..')
    throw new TypeError(`${name} cannot be ${JSON.stringify(text)} in a path`);
  return encodeURIComponent(text);
}

function queryOf(query: Record<string, unknown> = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one));
  }
  return search.size === 0 ? '' : `?${search}`;
}

function bodyOf(body: unknown, headers: Headers): { body?: string } {
  if (body === undefined) return {};
  if (!headers.has('content-type')) headers.set('content-type', 'application/json');
  return { body: typeof body === 'string' && !isJson(headers) ? body : JSON.stringify(body) };
}

const isJson = (headers: Headers) => headers.get('content-type') === 'application/json';
