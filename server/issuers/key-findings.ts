/**
 * What becomes of what this server finds when it reads issuers' keys: it is written down for the operator, which may
 * not reach what servers reach. Keys that no token has asked for are read here, so that a wrong URL is known before the
 * first user comes. Nothing of this is in the way of a request.
 */
import type { KeysFinding } from '../core/auth/jwks.ts';
import { nextDelayMs } from '../core/backoff.ts';
import type { Database } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { asText } from '../core/text.ts';
import type { Task } from '../room/tasks.ts';
import { readUnchecked, recordFindings } from './store.ts';

type KeyFindingsOptions = {
  database: Database;
  /** As accord.server knows this process. */
  server: string;
  /** Reads the keys of an issuer and reports the result to `found`. */
  look: (tenant: string, issuer: { issuer: string; jwksUri?: string }) => Promise<void>;
  maxStalenessMs: number;
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
  #looking: Promise<number> | undefined;
  #closed = false;

  constructor(options: KeyFindingsOptions) {
    this.#options = options;
  }

  /** Writing findings, and reading keys that were not read yet. */
  tasks(): Task[] {
    let lookMs = LOOK_MS;
    return [
      { name: 'recording issuer keys', everyMs: RECORD_MS, firstMs: RECORD_MS, run: () => this.record() },
      {
        name: 'looking at issuer keys',
        everyMs: LOOK_MS,
        firstMs: LOOK_MS,
        run: async (signal) => {
          const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
          const found = await Promise.race([this.look(), stopped]);
          lookMs = nextLookMs(found ?? 0, lookMs, LOOK_MS);
          return lookMs;
        },
      },
    ];
  }

  found(finding: KeysFinding): void {
    if (this.#closed) return;
    this.#pending.set(`${finding.tenant} ${finding.issuer}`, { ...finding, error: storable(finding.error) });
  }

  async record(): Promise<undefined> {
    if (this.#pending.size === 0) return;
    const findings = [...this.#pending.values()];
    this.#pending = new Map();
    // Findings that are lost when this fails are found again: to other servers those keys are unread.
    await this.#options.database.system((tx) => recordFindings(tx, this.#options.server, findings));
  }

  /**
   * Reads keys that no live server has read, and again those that this one could not have.
   * @returns how many issuers it looked at
   */
  async look(): Promise<number> {
    if (this.#looking !== undefined) return 0;
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<number> {
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
  }

  /** Waits for the current run; requests to issuers are ended by the outbound client. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#looking?.catch(() => {});
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
