/**
 * Waiting for a revision of a tenant that a caller has seen elsewhere. One reading that begins after the caller
 * came finds whatever was committed before; what is committed later is told by notification. So no caller's number makes
 * a server read again and again: one reading a tenant at a time, further apart the longer they find nothing new.
 */
import { nextDelayMs } from '../core/backoff.ts';
import { limits } from '../core/limits.ts';

type Waiter = { revision: number; settle: (reached: boolean) => void };
type Tenant = {
  /** Since whose coming no reading has begun. */
  unread: Set<Waiter>;
  read: Set<Waiter>;
  /** Between the end of one reading and the begin of the next. */
  pauseMs: number;
  scheduled: boolean;
};

export class RevisionWaiter {
  readonly #options: { current: (tenant: string) => number; read: (tenant: string) => Promise<void> };
  readonly #tenants = new Map<string, Tenant>();

  /** @param options the revision that is served (0: none), and reading a tenant anew */
  constructor(options: { current: (tenant: string) => number; read: (tenant: string) => Promise<void> }) {
    this.#options = options;
  }

  /** Resolves to whether the tenant is served at least at the revision, within `waitMs`. */
  reach(tenant: string, revision: number, waitMs: number): Promise<boolean> {
    if (this.#options.current(tenant) >= revision) return Promise.resolve(true);
    return new Promise((resolve) => {
      const entry = this.#tenants.get(tenant) ?? { unread: new Set(), read: new Set(), pauseMs: 0, scheduled: false };
      this.#tenants.set(tenant, entry);
      const settle = (reached: boolean) => {
        clearTimeout(timer);
        entry.unread.delete(waiter);
        entry.read.delete(waiter);
        this.#drop(tenant, entry);
        resolve(reached);
      };
      const waiter: Waiter = { revision, settle };
      const timer = setTimeout(() => settle(this.#options.current(tenant) >= revision), waitMs);
      entry.unread.add(waiter);
      this.#schedule(tenant, entry);
    });
  }

  /** To be called when a tenant is served anew. */
  arrived(tenant: string): void {
    const entry = this.#tenants.get(tenant);
    if (entry === undefined) return;
    const current = this.#options.current(tenant);
    for (const waiter of [...entry.unread, ...entry.read]) if (current >= waiter.revision) waiter.settle(true);
  }

  #schedule(tenant: string, entry: Tenant): void {
    if (entry.scheduled || entry.unread.size === 0) return;
    entry.scheduled = true;
    if (entry.pauseMs === 0) void this.#read(tenant, entry);
    else setTimeout(() => void this.#read(tenant, entry), entry.pauseMs);
  }

  async #read(tenant: string, entry: Tenant): Promise<void> {
    const before = this.#options.current(tenant);
    const asking = [...entry.unread];
    entry.unread.clear();
    for (const waiter of asking) entry.read.add(waiter);
    if (asking.length > 0) await this.#readFor(tenant, entry, asking);
    const { minRevisionPauseMsMin: minMs, minRevisionPauseMsMax: maxMs } = limits;
    entry.pauseMs = this.#options.current(tenant) > before ? 0 : nextDelayMs(entry.pauseMs, { minMs, maxMs });
    entry.scheduled = false;
    this.#schedule(tenant, entry);
    this.#drop(tenant, entry);
  }

  async #readFor(tenant: string, entry: Tenant, asking: readonly Waiter[]): Promise<void> {
    try {
      await this.#options.read(tenant);
    } catch {
      // The reader reports the error. The remaining waiters need another read.
      for (const waiter of asking) if (entry.read.delete(waiter)) entry.unread.add(waiter);
    }
  }

  /** While a reading is under way or to come, the next caller must know of it. */
  #drop(tenant: string, entry: Tenant): void {
    if (!entry.scheduled && entry.unread.size + entry.read.size === 0) this.#tenants.delete(tenant);
  }
}
