/**
 * The decision log: which decisions of a tenant are kept, and writing them in batches behind the answers. A
 * decision never waits for its record. When Postgres is slower than the decisions, waiting records are dropped and
 * counted, the oldest of the tenant that holds most; tenants are written in turn. While Postgres is away, a batch is tried
 * again and again, and the others wait.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { jittered, nextDelayMs } from '../core/backoff.ts';
import type { Database } from '../core/db/database.ts';
import { troubleOf } from '../core/db/errors.ts';
import { Drain } from '../core/drain.ts';
import { FairQueue } from '../core/fair-queue.ts';
import { limits } from '../core/limits.ts';
import type { Observe } from '../core/observe.ts';
import { insertEvents } from '../events/index.ts';
import type { Pseudonymizer } from '../pseudonyms/index.ts';
import type { EventHints } from '../room/events.ts';
import type { TenantSpec } from '../tenants/index.ts';
import { withoutErased } from './erasing.ts';
import { eventOf } from './events.ts';
import { answerText } from './schema.ts';
import { type DecisionRecord, insertDecisions } from './store.ts';

const FLUSH_MS = 100;
const BATCH = 500;
const BATCH_CHARS = 4 * 1024 * 1024;
const RETRY = { minMs: 100, maxMs: 5000 };
/** Of one batch, when the process ends. */
const CLOSING_ATTEMPTS = 2;

type Waiting = { record: DecisionRecord; chars: number };

export class DecisionLog {
  readonly #database: Database;
  readonly #observe: Observe;
  readonly #pseudonymizer: Pseudonymizer;
  readonly #eventHints: EventHints;
  readonly #waiting = new FairQueue<string, Waiting>({
    countMax: limits.decisionLogQueueMax,
    sizeMax: limits.decisionLogQueueCharsMax,
    sizeOf: ({ chars }) => chars,
  });
  /** Records of each tenant that were dropped since it was last told. */
  readonly #dropped = new Map<string, number>();
  readonly #closing = new AbortController();
  readonly #flushing = new Drain(
    () => this.#waiting.count > 0,
    () => this.#flush(),
  );

  constructor(database: Database, observe: Observe, pseudonymizer: Pseudonymizer, eventHints: EventHints) {
    this.#database = database;
    this.#observe = observe;
    this.#pseudonymizer = pseudonymizer;
    this.#eventHints = eventHints;
  }

  /** Keeps the record if the tenant's setting says so. @param draw a number in [0, 1), for sampling */
  add(setting: TenantSpec['decisionLog'], record: DecisionRecord, draw: number = Math.random()): void {
    if (!keeps(setting, record.answer.outcome === 'deny', draw)) return;
    // A request may have 256 KiB and an answer 64 KiB: counting records alone would let them fill gigabytes.
    const { request, answer, documents, libraries } = record;
    const others =
      documents === undefined && libraries === undefined ? 0 : JSON.stringify([documents, libraries]).length;
    const chars = JSON.stringify(request).length + answerText(answer).length + others;
    for (const tenant of this.#waiting.push(record.tenant, { record, chars })) this.#drop(tenant, 1);
    void this.#flushing.run();
  }

  /** Writes what waits, or drops it when Postgres is away. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#flushing.running;
  }

  async #flush(): Promise<void> {
    while (this.#waiting.count > 0) {
      if (this.#waiting.count < BATCH) await sleep(FLUSH_MS);
      await this.#write(this.#waiting.take(BATCH, BATCH_CHARS).map(({ record }) => record));
      this.#tellDropped();
    }
  }

  async #write(batch: readonly DecisionRecord[]): Promise<void> {
    let delayMs = 0;
    for (let attempt = 1; ; attempt++) {
      try {
        // A person may have been erased since the attempt before.
        await this.#database.system(async (tx) => {
          const records = await withoutErased(this.#pseudonymizer, tx, batch);
          await Promise.all([insertDecisions(tx, records), insertEvents(tx, records.map(eventOf))]);
        });
        this.#eventHints.committed();
        return;
      } catch (error) {
        this.#observe({ kind: 'background_failed', task: 'decision log', error });
        if (troubleOf(error) === undefined) return this.#dropAll(batch);
        if (this.#closing.signal.aborted && attempt >= CLOSING_ATTEMPTS) {
          // Nor would the others be written.
          this.#dropAll(batch);
          return this.#dropAll(this.#waiting.take(Infinity, Infinity).map(({ record }) => record));
        }
      }
      this.#tellDropped();
      delayMs = nextDelayMs(delayMs, RETRY);
      await sleep(jittered(delayMs), undefined, { signal: this.#closing.signal }).catch(() => {});
    }
  }

  #dropAll(records: readonly DecisionRecord[]): void {
    for (const { tenant } of records) this.#drop(tenant, 1);
  }

  #drop(tenant: string, count: number): void {
    this.#dropped.set(tenant, (this.#dropped.get(tenant) ?? 0) + count);
  }

  /** Once for each tenant and batch: a flood must not become one of log lines. */
  #tellDropped(): void {
    for (const [tenant, count] of this.#dropped) this.#observe({ kind: 'decision_log_dropped', tenant, count });
    this.#dropped.clear();
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
