/**
 * Owns what becomes of what this server finds when it reads issuers' keys: it is written down for the operator, which may
 * not reach what servers reach. Keys that no token has asked for are read here, so that a wrong URL is known before the
 * first user comes. Nothing of this is in the way of a request.
 */
import type { KeysFinding } from '../core/auth/jwks.ts';
import { nextDelayMs } from '../core/backoff.ts';
import type { Database } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import type { Observe } from '../core/observe.ts';
import { asText } from '../core/text.ts';
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
/** Between looks when the last ones found nothing: each of them reads all issuers. */
const LOOK_MS_MAX = 30_000;
/** The look-ups of names, of which few go on at a time, are for tokens first. */
const LOOKS_AT_ONCE = 2;

export class KeyFindings {
  readonly #options: KeyFindingsOptions;
  /** The last one of each issuer: no more than tenants trust. */
  #pending = new Map<string, KeysFinding>();
  #recording: NodeJS.Timeout | undefined;
  #nextLook: NodeJS.Timeout | undefined;
  #working = new Set<Promise<void>>();
  #looking = false;
  #closed = false;

  constructor(options: KeyFindingsOptions) {
    this.#options = options;
  }

  /** From now on findings are written down, and keys that nobody read are looked at. */
  start(timing: { recordMs?: number; lookMs?: number } = {}): void {
    const { recordMs = RECORD_MS, lookMs = LOOK_MS } = timing;
    this.#recording = setInterval(() => this.#background(() => this.record()), recordMs).unref();
    this.#lookAfter(lookMs, lookMs);
  }

  found(finding: KeysFinding): void {
    if (this.#recording === undefined || this.#closed) return;
    this.#pending.set(`${finding.tenant} ${finding.issuer}`, { ...finding, error: storable(finding.error) });
  }

  async record(): Promise<void> {
    if (this.#pending.size === 0) return;
    const findings = [...this.#pending.values()];
    this.#pending = new Map();
    // What is lost when this fails is found again: nobody has read those keys, as the others see it.
    await this.#options.database.system((tx) => recordFindings(tx, this.#options.server, findings));
  }

  /**
   * Reads keys that no live server has read, and again those that this one could not have.
   * @returns how many issuers it looked at
   */
  async look(): Promise<number> {
    if (this.#looking) return 0;
    this.#looking = true;
    try {
      const { database, server, maxStalenessMs, look } = this.#options;
      const bounds = { maxStalenessMs, retryMs: limits.issuerLookRetryMs, limit: limits.issuerLooksMax };
      const issuers = await database.system((tx) => readUnchecked(tx, server, bounds));
      const found = issuers.length;
      const turns = Array.from({ length: LOOKS_AT_ONCE }, async () => {
        for (let one = issuers.pop(); one !== undefined && !this.#closed; one = issuers.pop()) {
          const { tenant, issuer, jwks_uri } = one;
          await look(tenant, { issuer, ...(jwks_uri === null ? {} : { jwksUri: jwks_uri }) });
        }
      });
      await Promise.all(turns);
      return found;
    } finally {
      this.#looking = false;
    }
  }

  /** Ends what is going on; requests to issuers are ended by whoever makes them. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#recording);
    clearTimeout(this.#nextLook);
    await Promise.all(this.#working);
  }

  #lookAfter(ms: number, msMin: number): void {
    if (this.#closed) return;
    this.#nextLook = setTimeout(() => {
      this.#background(async () => {
        let found = 0;
        try {
          found = await this.look();
        } finally {
          this.#lookAfter(nextLookMs(found, ms, msMin), msMin);
        }
      });
    }, ms).unref();
  }

  #background(work: () => Promise<void>): void {
    const done = work()
      .catch((error) => this.#options.observe({ kind: 'background_failed', task: 'issuer keys', error }))
      .finally(() => this.#working.delete(done));
    this.#working.add(done);
  }
}

/** Twice as long after each look that found nothing, up to LOOK_MS_MAX. */
export function nextLookMs(found: number, ms: number, msMin: number): number {
  return found > 0 ? msMin : nextDelayMs(ms, { minMs: msMin, maxMs: LOOK_MS_MAX });
}

/** No longer than it may be, and of characters that Postgres holds: what an issuer answers may be quoted. */
function storable(error: string | null): string | null {
  return error === null ? null : asText(error.slice(0, limits.issuerErrorCharsMax));
}
