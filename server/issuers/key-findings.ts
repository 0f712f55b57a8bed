/**
 * Owns what becomes of what this server finds when it reads issuers' keys: it is written down for the operator, which may
 * not reach what servers reach. Keys that no token has asked for are read here, so that a wrong URL is known before the
 * first user comes. Nothing of this is in the way of a request.
 */
import type { KeysFinding } from '../core/auth/jwks.ts';
import type { Database } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import type { Observe } from '../core/observe.ts';
import { readUnchecked, recordFindings } from './store.ts';

export type KeyFindingsOptions = {
  database: Database;
  /** As accord.server knows this process. */
  server: string;
  /** Reads the keys of an issuer; what comes of it is told to `found`. */
  look: (tenant: string, issuer: { issuer: string; jwksUri?: string }) => Promise<void>;
  maxStalenessMs: number;
  observe: Observe;
};

const RECORD_MS = 1000;
const LOOK_MS = 5000;
/** The look-ups of names, of which few go on at a time, are for tokens first. */
const LOOKS_AT_ONCE = 2;

export class KeyFindings {
  readonly #options: KeyFindingsOptions;
  /** The last one of each issuer: no more than tenants trust. */
  #pending = new Map<string, KeysFinding>();
  #timers: NodeJS.Timeout[] = [];
  #working = new Set<Promise<void>>();
  #looking = false;
  #closed = false;

  constructor(options: KeyFindingsOptions) {
    this.#options = options;
  }

  /** From now on findings are written down, and keys that nobody read are looked at. */
  start(timing: { recordMs?: number; lookMs?: number } = {}): void {
    const { recordMs = RECORD_MS, lookMs = LOOK_MS } = timing;
    this.#timers = [
      setInterval(() => this.#background(() => this.record()), recordMs),
      setInterval(() => this.#background(() => this.look()), lookMs),
    ];
    for (const timer of this.#timers) timer.unref();
  }

  found(finding: KeysFinding): void {
    if (this.#timers.length === 0 || this.#closed) return;
    this.#pending.set(`${finding.tenant} ${finding.issuer}`, { ...finding, error: storable(finding.error) });
  }

  async record(): Promise<void> {
    if (this.#pending.size === 0) return;
    const findings = [...this.#pending.values()];
    this.#pending = new Map();
    // What is lost when this fails is found again: nobody has read those keys, as the others see it.
    await this.#options.database.system((tx) => recordFindings(tx, this.#options.server, findings));
  }

  /** Reads keys that no live server has read, and again those that this one could not have. */
  async look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      const { database, server, maxStalenessMs, look } = this.#options;
      const bounds = { maxStalenessMs, retryMs: limits.issuerLookRetryMs, limit: limits.issuerLooksMax };
      const issuers = await database.system((tx) => readUnchecked(tx, server, bounds));
      const turns = Array.from({ length: LOOKS_AT_ONCE }, async () => {
        for (let one = issuers.pop(); one !== undefined && !this.#closed; one = issuers.pop()) {
          const { tenant, issuer, jwks_uri } = one;
          await look(tenant, { issuer, ...(jwks_uri === null ? {} : { jwksUri: jwks_uri }) });
        }
      });
      await Promise.all(turns);
    } finally {
      this.#looking = false;
    }
  }

  /** Ends what is going on; requests to issuers are ended by whoever makes them. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all(this.#working);
  }

  #background(work: () => Promise<void>): void {
    const done = work()
      .catch((error) => this.#options.observe({ kind: 'background_failed', task: 'issuer keys', error }))
      .finally(() => this.#working.delete(done));
    this.#working.add(done);
  }
}

/** No longer than it may be, and of characters that Postgres holds: what an issuer answers may be quoted. */
function storable(error: string | null): string | null {
  if (error === null) return null;
  return error.slice(0, limits.issuerErrorCharsMax).toWellFormed().replaceAll('\0', '\uFFFD');
}
