/**
 * Follows one resource of the API server: a list, then a watch from there, for ever. Whatever ends a watch, another
 * begins where the last one got to; where that is not possible, a new list is compared with what is known.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { delayMsAfter, jittered } from '../../server/core/backoff.ts';
import type { Clock } from '../../server/core/clock.ts';
import { limits } from '../../server/core/limits.ts';
import type { Observe } from '../../server/core/observe.ts';
import { ApiError, type KubernetesApi } from './api.ts';
import { LineDecoder } from './line-decoder.ts';
import { isLater } from './versions.ts';

/** An object as the API server sends it; only what every object has. */
export type RawObject = {
  metadata: {
    name: string;
    namespace?: string;
    uid: string;
    resourceVersion: string;
    generation?: number;
    creationTimestamp?: string;
    deletionTimestamp?: string;
    finalizers?: string[];
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  spec?: unknown;
  status?: unknown;
};

/** Where the objects go. None of it may throw. */
export interface Sink {
  /** @param listed whether a list says so, which is right even if it looks older than what is stored */
  put(object: RawObject, listed: boolean): void;
  remove(object: RawObject): void;
  /** A list is complete: what is stored and was not in it is gone. @param listed `idOf` of each object */
  retain(listed: ReadonlySet<string>): void;
  /** All that came in one go has been stored. @returns how many changed */
  flush(): number;
}

export type ReflectorOptions = {
  api: KubernetesApi;
  /** Such as `policies.accord.dev`, for people. */
  resource: string;
  path: string;
  sink: Sink;
  /** `complete` or `problem` changed. */
  onState: () => void;
  clock: Clock;
  observe: Observe;
  random: () => number;
  /** Silence after which a watch is given up, in ms. */
  idleMs?: number;
};

type List = { kind?: unknown; metadata?: { resourceVersion?: unknown; continue?: unknown }; items?: unknown };
type WatchEvent = { type: string; object: RawObject & { code?: number; reason?: string; message?: string } };

/**
 * The API server sends a bookmark each minute, except of a kind that has not changed since it started (seen with 1.36.3):
 * such a watch is made anew this often too, which costs a request.
 */
const IDLE_MS = 90_000;
const PAGE_ITEMS = 500;
const PAGE_MS = 60_000;
const WATCH_SECONDS = { min: 290, max: 590 };
/** Against what nobody thought of: an event that was lost and not missed. */
const RELIST_MS = { min: 1_800_000, max: 3_600_000 };
/** A watch that ends sooner than this and has said nothing did not work. */
const SHORT_WATCH_MS = 1000;
/** After as many the place where the watch was is not tried again. A server that is away for long says nothing about it. */
const REFUSALS_UNTIL_RELIST = 3;

/** `namespace/name` */
export function idOf({ metadata }: RawObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

export class Reflector {
  readonly resource: string;
  /** Whether what is not stored is not there. */
  complete = false;
  /** Why the resource cannot be followed at present. */
  problem: string | undefined;
  readonly #options: ReflectorOptions;
  readonly #closed = new AbortController();
  readonly #tried = Promise.withResolvers<void>();
  #running: Promise<void> | undefined;
  /** Where the watch is; undefined: a list is needed. */
  #version: string | undefined;
  #listReason = 'start';
  #relistAt = 0;
  #pageItems = PAGE_ITEMS;
  /** In a row, and how many of them were answers, which may be about the place where the watch was. */
  #failures = 0;
  #refusals = 0;
  #retryAfterMs = 0;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.resource = options.resource;
  }

  /** Resolves when it follows the resource, or could not for the first time. It goes on trying. */
  start(): Promise<void> {
    this.#running ??= this.#run();
    return this.#tried.promise;
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#tried.resolve();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { observe, resource, random } = this.#options;
    while (!this.#closed.signal.aborted) {
      let reason: string;
      try {
        if (this.#version === undefined) await this.#list();
        reason = await this.#watch();
      } catch (error) {
        if (this.#closed.signal.aborted) return;
        reason = this.#failed(error);
      }
      this.#tried.resolve();
      if (this.#failures === 0 && this.#options.clock.monotonic() > this.#relistAt) this.#needList('interval');
      const pauseMs = this.#failures === 0 ? 0 : Math.max(backoffMs(this.#failures, random()), this.#retryAfterMs);
      this.#retryAfterMs = 0;
      observe({ kind: 'watch_resumed', resource, reason, pauseMs });
      await sleep(pauseMs, undefined, { signal: this.#closed.signal }).catch(() => {});
    }
  }

  async #list(): Promise<void> {
    const { api, path, sink, clock, observe, resource, random } = this.#options;
    const startedAt = clock.monotonic();
    const listed = new Set<string>();
    let version = '';
    let changed = 0;
    try {
      let next: string | undefined;
      do {
        const query = { limit: this.#pageItems, continue: next };
        const timeoutMs = PAGE_MS;
        const page = pageOf(
          await api.request<List>({ method: 'GET', path, query, timeoutMs, signal: this.#closed.signal }),
        );
        for (const object of page.objects) {
          listed.add(idOf(object));
          sink.put(object, true);
        }
        ({ version, next } = page);
      } while (next !== undefined);
      sink.retain(listed);
    } finally {
      changed = sink.flush();
    }
    this.#version = version;
    this.#relistAt = clock.monotonic() + between(RELIST_MS, random());
    const ms = clock.monotonic() - startedAt;
    observe({ kind: 'relisted', resource, reason: this.#listReason, objects: listed.size, changed, ms });
  }

  /** @returns why it ended */
  async #watch(): Promise<string> {
    const { api, path, clock, random, idleMs = IDLE_MS } = this.#options;
    const startedAt = clock.monotonic();
    const idle = new AbortController();
    const timer = setTimeout(() => idle.abort(), idleMs);
    const query = {
      watch: true,
      allowWatchBookmarks: true,
      resourceVersion: this.#version,
      timeoutSeconds: Math.round(between(WATCH_SECONDS, random())),
    };
    let spoke = false;
    try {
      const signal = AbortSignal.any([this.#closed.signal, idle.signal]);
      const stream = await api.stream({ path, query, signal });
      this.#opened();
      const decoder = new LineDecoder(limits.kubernetesFrameBytesMax);
      for await (const chunk of stream) {
        const lines = decoder.push(chunk);
        if (lines.length === 0) continue;
        timer.refresh();
        this.#hear(lines);
        this.#succeeded();
        spoke = true;
      }
    } catch (error) {
      if (!idle.signal.aborted) throw error;
      return 'silence';
    } finally {
      clearTimeout(timer);
    }
    if (spoke || clock.monotonic() - startedAt > SHORT_WATCH_MS) this.#succeeded();
    else this.#failures += 1;
    return 'end';
  }

  /** A line that is no event ends the watch: the next one gets it again. */
  #hear(lines: readonly string[]): void {
    try {
      for (const line of lines) this.#event(JSON.parse(line) as WatchEvent);
    } finally {
      this.#options.sink.flush();
    }
  }

  #event({ type, object }: WatchEvent): void {
    const { sink } = this.#options;
    if (type === 'ERROR') {
      const { code = 0, reason = '', message = '' } = object;
      throw new ApiError(code, reason, `The API server ended the watch of ${this.resource}: ${message} (${code})`);
    }
    const version = object.metadata.resourceVersion;
    const known = this.#version as string;
    if (type === 'BOOKMARK') {
      // The server knows less than we do: its store was set back. What we have heard may not have been.
      if (isLater(known, version)) throw new ApiError(410, 'Expired', `${this.resource} went back in time`);
    } else if (!isLater(version, known))
      return; // heard already
    else if (type === 'DELETED') sink.remove(object);
    else if (type === 'ADDED' || type === 'MODIFIED') sink.put(object, false);
    else throw new TypeError(`a watch of ${this.resource} has an event of the type ${String(type).slice(0, 40)}`);
    this.#version = version;
  }

  #succeeded(): void {
    this.#failures = 0;
    this.#refusals = 0;
  }

  #opened(): void {
    this.#tell(true, undefined);
    this.#tried.resolve();
  }

  /** @returns the reason in a word or two */
  #failed(error: unknown): string {
    const status = error instanceof ApiError ? error.status : 0;
    const reason = error instanceof ApiError ? error.reason : (error as Error).name;
    this.#failures += 1;
    if (status !== 0 || !(error instanceof ApiError)) this.#refusals += 1;
    if (error instanceof ApiError) this.#retryAfterMs = error.retryAfterMs ?? 0;
    if (reason === 'AnswerTooLarge') this.#pageItems = Math.max(1, this.#pageItems >> 1);
    const isRefused = status === 403 || status === 404;
    if (status === 410 || isRefused || this.#refusals >= REFUSALS_UNTIL_RELIST) this.#needList(reason);
    const message = (error as Error).message;
    // What only breaks off is resumed within a second, and nobody need hear of it.
    if (isRefused) this.#tell(false, message);
    else if (status !== 410 && (!this.complete || this.#failures > 1)) this.#tell(this.complete, message);
    return reason;
  }

  #needList(reason: string): void {
    this.#version = undefined;
    this.#listReason = reason;
  }

  #tell(complete: boolean, problem: string | undefined): void {
    if (this.complete === complete && this.problem === problem) return;
    this.complete = complete;
    this.problem = problem;
    this.#options.onState();
  }
}

/** An answer that could not be had is not an empty one: whatever is no list is refused. */
function pageOf({ kind, metadata, items }: List): { objects: RawObject[]; version: string; next: string | undefined } {
  const version = metadata?.resourceVersion;
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items) || typeof version !== 'string') {
    throw new TypeError('Unexpected response of the API server: not a List.');
  }
  const token = metadata?.continue;
  return { objects: items, version, next: typeof token === 'string' && token !== '' ? token : undefined };
}

function between({ min, max }: { min: number; max: number }, random: number): number {
  return min + random * (max - min);
}

/** @param failures in a row, at least 1 @param random in [0, 1) */
export function backoffMs(failures: number, random: number): number {
  const { kubernetesRetryMsMin, kubernetesRetryMsMax: maxMs } = limits;
  return Math.round(jittered(delayMsAfter(failures, { minMs: 2 * kubernetesRetryMsMin, maxMs }), random));
}
