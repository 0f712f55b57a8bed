/**
 * What a TrustedIssuer's status says of its keys. Servers read them, and may reach what the operator does not; they
 * write down what they found in accord.issuer_keys, where the operator looks now and then. It is no part of Ready: an
 * issuer that is away for a while is not a manifest that is wrong.
 */
import type { Database } from '../server/core/db/database.ts';
import { limits } from '../server/core/limits.ts';
import type { Observe } from '../server/core/observe.ts';
import { counted } from '../server/core/text.ts';
import type { ConditionLine } from './conditions.ts';
import type { Timers } from './queue.ts';
import { type Findings, readChangedFindings, readFindings } from './store.ts';

type IssuerKeysOptions = {
  database: Database;
  maxStalenessMs: number;
  pollMs: number;
  timers: Timers;
  observe: Observe;
  /** A server found something else of this issuer's keys than before; told more than once. */
  changed: (tenant: string, name: string) => void;
};

export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  #cancel: (() => void) | undefined;
  #asking: Promise<void> | undefined;
  #polling = false;

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
  }

  /** Begins to look for changes: only whoever leads does. */
  start(): void {
    if (this.#polling) return;
    this.#polling = true;
    this.#next();
  }

  stop(): void {
    this.#polling = false;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  async condition(tenant: string, name: string): Promise<ConditionLine> {
    const { database, maxStalenessMs } = this.#options;
    return conditionOf(await database.systemPipelined((tx) => readFindings(tx, tenant, name, maxStalenessMs)));
  }

  async close(): Promise<void> {
    this.stop();
    await this.#asking;
  }

  #next(): void {
    // After a stop and a start while a poll is under way, its end begins the next one.
    if (!this.#polling || this.#cancel || this.#asking) return;
    this.#cancel = this.#options.timers.after(this.#options.pollMs, () => {
      this.#cancel = undefined;
      this.#asking = this.#ask().finally(() => {
        this.#asking = undefined;
        this.#next();
      });
    });
  }

  async #ask(): Promise<void> {
    const { database, pollMs, changed, observe } = this.#options;
    try {
      // Longer than since the last time: a change bears the time at which its transaction began.
      const rows = await database.systemPipelined((tx) => readChangedFindings(tx, pollMs * 3));
      for (const { tenant, name } of rows) changed(tenant, name);
    } catch (error) {
      if (this.#polling) observe({ kind: 'background_failed', task: 'issuer keys', error });
    }
  }
}

const MINUTES_KEPT = limits.jwksStaleMaxMs / 60_000;

function conditionOf({ servers, failed, errors }: Findings): ConditionLine {
  const type = 'KeysAvailable';
  if (servers === 0) {
    const message = 'No server has fetched the keys of this issuer yet.';
    return { type, status: 'Unknown', reason: 'NotRead', message };
  }
  if (failed === 0)
    return { type, status: 'True', reason: 'KeysRead', message: 'Servers have the keys of this issuer.' };
  const message =
    `${failed} of ${counted(servers, 'server')} failed to fetch the keys of this issuer:\n${errors.join('\n')}\n` +
    `They answer its tokens with 503, unless they fetched keys within the last ${MINUTES_KEPT} minutes.`;
  return { type, status: 'False', reason: 'FetchFailed', message };
}
