/** Readers that wait for events of a tenant: woken by this server's mover, and by those of others. */
import type { Database } from '../core/db/database.ts';
import { type Listener, listen } from '../core/db/listen.ts';
import { limits } from '../core/limits.ts';
import type { Observe } from '../core/observe.ts';
import { eventProblem } from './problems.ts';
import { CHANNEL } from './store.ts';

/** `tenants`: that may have new events; absent: any may. */
type Watcher = (tenants?: readonly string[]) => void;

export class EventReaders {
  readonly #services: { database: Database; observe: Observe };
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #open = new Map<string, number>();
  readonly #ended = new AbortController();
  #listener: Listener | undefined;
  readonly #watchers = new Set<Watcher>();

  constructor(services: { database: Database; observe: Observe }) {
    this.#services = services;
  }

  /** Aborted when the server stops: readers end with what they have. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Counts a reader that may wait. @returns what ends it. @throws Problem event_readers_busy */
  begin(tenant: string): () => void {
    const count = this.#open.get(tenant) ?? 0;
    if (count >= limits.eventReadersMax) throw eventProblem('event_readers_busy');
    this.#listen();
    this.#open.set(tenant, count + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const left = (this.#open.get(tenant) as number) - 1;
      if (left === 0) this.#open.delete(tenant);
      else this.#open.set(tenant, left);
    };
  }

  /** Tells of all tenants' new events from now on. @returns what ends that */
  watchAll(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    this.#listen();
    return () => void this.#watchers.delete(watcher);
  }

  /** Wakes those that wait for one of the tenants. @param tenants absent: any of them may have new events */
  wake(tenants?: readonly string[]): void {
    for (const watcher of this.#watchers) watcher(tenants);
    for (const tenant of tenants ?? [...this.#waiting.keys()]) {
      for (const woken of this.#waiting.get(tenant) ?? []) woken();
    }
  }

  /**
   * Watches a tenant from now on.
   * @returns `next` resolves when there may be new events since it was last called (or since the watch began), when the time is
   *   over, or when the signal is aborted
   */
  watch(tenant: string, signal: AbortSignal): { next(ms: number): Promise<void>; end(): void } {
    let isNew = false;
    let waiting: (() => void) | undefined;
    const woken = () => {
      isNew = true;
      waiting?.();
    };
    const aborted = () => waiting?.();
    signal.addEventListener('abort', aborted);
    const set = this.#waiting.get(tenant) ?? new Set();
    this.#waiting.set(tenant, set.add(woken));
    return {
      async next(ms) {
        if (!isNew && !signal.aborted) {
          const { promise, resolve } = Promise.withResolvers<void>();
          waiting = resolve;
          const timer = setTimeout(resolve, ms);
          await promise;
          clearTimeout(timer);
          waiting = undefined;
        }
        isNew = false;
      },
      end: () => {
        signal.removeEventListener('abort', aborted);
        set.delete(woken);
        if (set.size === 0 && this.#waiting.get(tenant) === set) this.#waiting.delete(tenant);
      },
    };
  }

  /** Ends all that wait. */
  end(): void {
    this.#ended.abort();
  }

  async close(): Promise<void> {
    this.end();
    await this.#listener?.close();
  }

  #listen(): void {
    const { database, observe } = this.#services;
    this.#listener ??= listen({
      database,
      subscriptions: [
        {
          channel: CHANNEL,
          received: (payload) => this.wake(payload === '' ? undefined : (JSON.parse(payload) as string[])),
          missed: () => this.wake(),
        },
      ],
      observe,
    });
  }
}
