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
const BATCH_CHARS = 4 * 1024 * 1024;

type Waiting = { record: DecisionRecord; chars: number };

export class DecisionLog {
  readonly #database: Database;
  readonly #observe: Observe;
  #waiting: Waiting[] = [];
  #waitingChars = 0;
  #flushing: Promise<void> | undefined;

  constructor(database: Database, observe: Observe) {
    this.#database = database;
    this.#observe = observe;
  }

  /** Keeps the record if the tenant's setting says so. @param draw a number in [0, 1), for sampling */
  add(setting: TenantSpec['decisionLog'], record: DecisionRecord, draw: number = Math.random()): void {
    if (!keeps(setting, record.answer.outcome === 'deny', draw)) return;
    // Requests may have 256 KiB each: counting records alone would let them fill gigabytes.
    const chars = JSON.stringify(record.request).length;
    this.#waiting.push({ record, chars });
    this.#waitingChars += chars;
    let dropped = 0;
    while (
      this.#waiting.length - dropped > limits.decisionLogQueueMax ||
      this.#waitingChars > limits.decisionLogQueueCharsMax
    ) {
      this.#waitingChars -= (this.#waiting[dropped] as Waiting).chars;
      dropped++;
    }
    if (dropped > 0) {
      this.#waiting.splice(0, dropped);
      this.#observe({ kind: 'decision_log_dropped', count: dropped });
    }
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
      const batch = this.#take();
      try {
        await this.#database.system((tx) => insertDecisions(tx, batch));
      } catch (error) {
        this.#observe({ kind: 'background_failed', task: 'decision log', error });
        this.#observe({ kind: 'decision_log_dropped', count: batch.length });
      }
    }
  }

  #take(): DecisionRecord[] {
    let [count, chars] = [0, 0];
    while (count < Math.min(BATCH, this.#waiting.length) && (count === 0 || chars < BATCH_CHARS)) {
      chars += (this.#waiting[count++] as Waiting).chars;
    }
    this.#waitingChars -= chars;
    return this.#waiting.splice(0, count).map(({ record }) => record);
  }
}

/** Whether a decision is kept. Absent: off. */
function keeps(setting: TenantSpec['decisionLog'], denied: boolean, draw: number): boolean {
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
