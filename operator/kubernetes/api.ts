/**
 * Speaks to the Kubernetes API server: one place that authenticates, bounds sizes and times, waits where the server
 * asks for it, and tells what went wrong. Whoever calls knows paths and bodies.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { type Clock, systemClock } from '../../server/core/clock.ts';
import { limits } from '../../server/core/limits.ts';
import type { Observe } from '../../server/core/observe.ts';
import { type Access, Connection } from './connection.ts';
import { ApiError, refusal, silence } from './errors.ts';

export { ApiError } from './errors.ts';

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

type ApiRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute, such as `/api/v1/namespaces/a/secrets/b`; names in it are encoded already. */
  path: string;
  query?: Query;
  /** Becomes JSON. */
  body?: unknown;
  /** application/json unless said otherwise; a PATCH says which kind it is. */
  contentType?: string;
  /** What the answer is to be, where not all of the object is needed. */
  accept?: string;
  signal?: AbortSignal;
  /** For the whole, waiting where the server asks for it included; 15 s unless said otherwise. */
  timeoutMs?: number;
};

type ApiOptions = { kubeconfig?: string | undefined; clock?: Clock; observe?: Observe; random?: () => number };

type Asked = Pick<ApiRequest, 'method' | 'path' | 'query'> & { headers: Record<string, string>; body?: string };
type Answer = Dispatcher.ResponseData;

const REQUEST_MS = 15_000;
/** Until the first byte of an answer. */
const OPEN_MS = 30_000;

export class KubernetesApi {
  /** For people, as the kubeconfig has it. */
  readonly server: string;
  /** The pod's own, or the context's, or `default`. */
  readonly namespace: string;
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #observe: Observe | undefined;
  readonly #random: () => number;

  /**
   * Reads the configuration; nothing is sent yet.
   * @throws {Error} a sentence, when the kubeconfig cannot be used
   */
  static async load(options: ApiOptions = {}): Promise<KubernetesApi> {
    return new KubernetesApi(await Connection.load(options.kubeconfig, options.clock ?? systemClock), options);
  }

  private constructor(connection: Connection, { clock = systemClock, observe, random = Math.random }: ApiOptions) {
    this.#connection = connection;
    this.#clock = clock;
    this.#observe = observe;
    this.#random = random;
    this.server = connection.party.server;
    this.namespace = connection.namespace;
  }

  /**
   * Asks, and reads the JSON of the answer.
   * @throws {ApiError} an answer that is no success, or none within timeoutMs
   */
  async request<T>(request: ApiRequest): Promise<T> {
    const timeoutMs = request.timeoutMs ?? REQUEST_MS;
    const { signal, done } = deadline(timeoutMs, request.signal);
    const { method, path, query, body } = request;
    const headers: Record<string, string> = {};
    if (request.accept !== undefined) headers.accept = request.accept;
    if (body !== undefined) headers['content-type'] = request.contentType ?? 'application/json';
    const asked: Asked = { method, path, headers };
    if (query) asked.query = query;
    if (body !== undefined) asked.body = JSON.stringify(body);
    try {
      const answer = await this.#send(asked, 'requests', signal, this.#clock.monotonic() + timeoutMs);
      const text = await read(answer, limits.kubernetesAnswerBytesMax);
      if (text === undefined) {
        throw new ApiError(0, 'AnswerTooLarge', `The answer to ${method} ${path} is too large to be read.`);
      }
      return JSON.parse(text) as T;
    } catch (error) {
      throw silence(this.#connection.party, `${method} ${path}`, signal.aborted ? signal.reason : error);
    } finally {
      done();
    }
  }

  /**
   * Asks for an answer that goes on, such as a watch, on connections of its own. It goes on until the server ends it or
   * the signal: the reader decides how long silence may last.
   * @throws {ApiError} here and while it is read
   */
  async stream(request: Pick<ApiRequest, 'path' | 'query' | 'signal'>): Promise<AsyncIterable<Uint8Array>> {
    const timeoutMs = OPEN_MS;
    const { signal, done } = deadline(timeoutMs, request.signal);
    const asked: Asked = { method: 'GET', path: request.path, headers: {} };
    if (request.query) asked.query = request.query;
    const what = `GET ${request.path}`;
    try {
      const answer = await this.#send(asked, 'streams', signal, this.#clock.monotonic() + timeoutMs);
      return this.#chunks(answer.body, what);
    } catch (error) {
      throw silence(this.#connection.party, what, signal.aborted ? signal.reason : error);
    } finally {
      done();
    }
  }

  /** Ends every connection; requests under way fail. */
  close(): Promise<void> {
    return this.#connection.close();
  }

  async *#chunks(body: AsyncIterable<Uint8Array>, what: string): AsyncIterable<Uint8Array> {
    try {
      yield* body;
    } catch (error) {
      throw silence(this.#connection.party, what, error);
    }
  }

  /** @param until monotonic ms: what would be waited for longer than this is not waited for */
  async #send(asked: Asked, pool: 'requests' | 'streams', signal: AbortSignal, until: number): Promise<Answer> {
    let refreshed = false;
    for (let tries = 1; ; tries++) {
      const access = await abortable(this.#connection.access(), signal);
      const answer = await this.#once(asked, pool, access, signal);
      if (answer.statusCode < 300) return answer;
      const error = await this.#refused(asked, answer);
      if (error.status === 401 && !refreshed) {
        refreshed = true;
        this.#connection.refuse(access);
        continue;
      }
      const waitMs = this.#waitOf(asked, error);
      if (waitMs === undefined || tries >= limits.kubernetesTriesMax) throw error;
      if (this.#clock.monotonic() + waitMs > until) throw error;
      this.#observe?.({ kind: 'kubernetes_throttled', request: `${asked.method} ${asked.path}`, waitMs });
      await sleep(waitMs, undefined, { signal });
    }
  }

  #once(asked: Asked, pool: 'requests' | 'streams', access: Access, signal: AbortSignal): Promise<Answer> {
    const { origin, prefix } = this.#connection;
    return access.pools[pool].request({
      origin,
      path: `${prefix}${asked.path}${searchOf(asked.query)}`,
      method: asked.method,
      headers: { accept: 'application/json', 'user-agent': 'accord', ...asked.headers, ...access.headers },
      ...(asked.body === undefined ? {} : { body: asked.body }),
      signal,
      headersTimeout: OPEN_MS,
      bodyTimeout: pool === 'streams' ? 0 : OPEN_MS,
    });
  }

  async #refused(asked: Asked, answer: Answer): Promise<ApiError> {
    const text = (await read(answer, limits.kubernetesRefusalBytesMax)) ?? '';
    const after = answer.headers['retry-after'];
    const seconds = typeof after === 'string' && /^\d{1,6}$/.test(after) ? Number(after) : undefined;
    const { party } = this.#connection;
    return refusal(party, `${asked.method} ${asked.path}`, answer.statusCode, text, seconds && seconds * 1000);
  }

  /** 429 was not done, so it may be asked again; of other refusals that is certain of readings only. */
  #waitOf(asked: Asked, error: ApiError): number | undefined {
    const isReading = asked.method === 'GET' && error.status >= 500 && error.retryAfterMs !== undefined;
    if (error.status !== 429 && !isReading) return undefined;
    const waitMs = Math.max(error.retryAfterMs ?? 1000, limits.kubernetesRetryMsMin);
    return Math.ceil(waitMs * (1 + this.#random() / 4));
  }
}

/** A signal that ends with the time or with another one; `done` when what it bounds has come. */
function deadline(ms: number, outer: AbortSignal | undefined): { signal: AbortSignal; done(): void } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new DOMException('out of time', 'TimeoutError')), ms);
  const signal = outer ? AbortSignal.any([outer, controller.signal]) : controller.signal;
  return { signal, done: () => clearTimeout(timer) };
}

/** A plugin for credentials may never answer. */
async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([promise, aborted.promise]).finally(() => signal.removeEventListener('abort', abort));
}

/** Undefined where it is longer than `max` bytes. */
async function read({ body }: Answer, max: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > max) return undefined; // leaving the loop ends the connection
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function searchOf(query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? '' : `?${search}`;
}
