/**
 * Whose host name is looked up next. getaddrinfo holds one of libuv's four threads for as long as a tenant's name
 * server likes, and verifying signatures needs those threads too: so few run at once, one of a tenant, tenants in turn.
 */
import type { LookupAddress } from 'node:dns';
import { FairQueue } from '../fair-queue.ts';
import { limits } from '../limits.ts';

export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

type Waiting = { hostname: string; signal: AbortSignal; done: (found: Promise<LookupAddress[]>) => void };

export class FairDnsResolver {
  readonly #resolve: Resolve;
  readonly #waiting = new FairQueue<string, Waiting>();
  readonly #busy = new Set<string>();
  #running = 0;
  /** Of those that run: nobody waits for their answer any more. They still hold a thread. */
  #late = 0;

  constructor(resolve: Resolve) {
    this.#resolve = resolve;
  }

  /** @param signal when the caller gives up @throws its reason, or the resolver's error */
  find(tenant: string, hostname: string, signal: AbortSignal): Promise<LookupAddress[]> {
    return new Promise((done) => {
      this.#waiting.push(tenant, { hostname, signal, done });
      this.#start();
    });
  }

  #start(): void {
    while (this.#running - this.#late < limits.dnsLookupsMax && this.#running < limits.dnsThreadsMax) {
      const next = this.#waiting.shift((tenant) => !this.#busy.has(tenant));
      if (next === undefined) return;
      next.item.done(this.#run(next.key, next.item));
    }
  }

  async #run(tenant: string, { hostname, signal }: Waiting): Promise<LookupAddress[]> {
    let isLate = false;
    const onLate = () => {
      isLate = true;
      this.#late++;
      this.#start();
    };
    this.#busy.add(tenant);
    this.#running++;
    try {
      signal.throwIfAborted();
      signal.addEventListener('abort', onLate, { once: true });
      return await this.#resolve(hostname);
    } finally {
      signal.removeEventListener('abort', onLate);
      if (isLate) this.#late--;
      this.#running--;
      this.#busy.delete(tenant);
      this.#start();
    }
  }
}
