/**
 * Owns the decision log: which decisions of a tenant are kept, and writing them in batches behind the answers. A
 * decision never waits for its record; when Postgres is slower than the decisions, the oldest waiting records are
 * dropped and counted, never the decisions.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import type { Observe } from '../core/observe.ts';
import type { TenantSpec } from '../tenants/index.ts';
import { type DecisionRecord, insertDecisions } from './store.ts';

const FLUSH_MS = 100;
const BATCH = 500;

export class DecisionLog {
  readonly #database: Database;
  readonly #observe: Observe;
  #waiting: DecisionRecord[] = [];
  #flushing: Promise<void> | undefined;

  constructor(database: Database, observe: Observe) {
    this.#database = database;
    this.#observe = observe;
  }

  /** Keeps the record if the tenant's setting says so. @param draw a number in [0, 1), for sampling */
  add(setting: TenantSpec['decisionLog'], record: DecisionRecord, draw: number = Math.random()): void {
    if (!keeps(setting, record.answer.outcome === 'deny', draw)) return;
    if (this.#waiting.length >= limits.decisionLogQueueMax) {
      this.#waiting.shift();
      this.#observe({ kind: 'decision_log_dropped', count: 1 });
    }
    this.#waiting.push(record);
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = undefined;
    });
  }

  /** Writes what waits. */
  async close(): Promise<void> {
    while (this.#flushing) await this.#flushing;
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      if (this.#waiting.length < BATCH) await sleep(FLUSH_MS);
      const batch = this.#waiting.splice(0, BATCH);
      try {
        await this.#database.system((tx) => insertDecisions(tx, batch));
      } catch (error) {
        this.#observe({ kind: 'background_failed', task: 'decision log', error });
        this.#observe({ kind: 'decision_log_dropped', count: batch.length });
      }
    }
  }
}

/** Whether a decision is kept. Absent: off. */
export function keeps(setting: TenantSpec['decisionLog'], denied: boolean, draw: number): boolean {
  switch (setting?.mode) {
    case 'all':
      return true;
    case 'denies':
      return denied;
    case 'sampled':
      return draw < (setting.rate ?? 0);
    default:
      return false;
  }
}
