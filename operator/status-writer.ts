/** Stores the status of a manifest, shows it beside the manifest, and tells whoever watches of what changed. */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../server/core/clock.ts';
import type { Observe } from '../server/core/observe.ts';
import { conditionOf, isReady, type Outcome, statusOf } from './conditions.ts';
import type { Records, ResourceRecord } from './records.ts';
import type { Key, ResourceStatus, Source, StatusTarget } from './source.ts';

/** A status that changed; undefined: the manifest and its rows are gone. */
export type StatusChange = { target: StatusTarget; tenant: string; status: ResourceStatus | undefined };

type StatusWriterOptions = {
  source: Source;
  records: Records;
  clock: Clock;
  observe: Observe;
  onStatus: ((change: StatusChange) => void) | undefined;
};

export class StatusWriter {
  readonly #options: StatusWriterOptions;
  /** What was told last. */
  readonly #published = new Map<Key, ResourceStatus>();

  constructor(options: StatusWriterOptions) {
    this.#options = options;
  }

  /** Stores what became of a manifest and shows it, where it differs from the status before. */
  async finish(record: ResourceRecord, outcome: Outcome, startedAt: number): Promise<void> {
    const { records, clock, observe, source } = this.#options;
    const status = statusOf(outcome, record.status, new Date(clock.now()).toISOString());
    const before = records.get(record.key)?.status ?? {};
    await records.put({ ...record, status });
    await this.publish(record, record.tenant, status);
    if (isDeepStrictEqual(before, status)) return;
    const ready = conditionOf(status, 'Ready');
    const { reason = '', message = '' } = ready ?? {};
    const ms = clock.monotonic() - startedAt;
    observe({ kind: 'reconciled', resource: record.key, ready: isReady(status), reason, message, ms });
    if (conditionOf(before, 'Ready')?.reason !== reason) {
      source.event(record, ready?.status === 'True' ? 'Normal' : 'Warning', reason, message);
    }
    for (const line of outcome.extra ?? []) {
      const was = conditionOf(before, line.type);
      // What is as it should be is said only where it was not.
      if (!line.isEvent || was?.reason === line.reason || (was === undefined && line.status === 'True')) continue;
      source.event(record, line.status === 'True' ? 'Normal' : 'Warning', line.reason, line.message);
    }
  }

  /** Shows a status beside the manifest and to whoever watches. */
  async publish(target: StatusTarget, tenant: string, status: ResourceStatus): Promise<void> {
    // The source compares with what is there: an object made again under its name has no status, and others may overwrite it.
    await this.#options.source.writeStatus(target, status);
    if (isDeepStrictEqual(this.#published.get(target.key), status)) return;
    this.#published.set(target.key, status);
    this.#options.onStatus?.({ target, tenant, status });
  }

  /** Nothing is left of the manifest. */
  gone(record: ResourceRecord, reason: string, startedAt: number): void {
    const { clock, observe, onStatus } = this.#options;
    this.#published.delete(record.key);
    const ms = clock.monotonic() - startedAt;
    const message = 'The manifest was deleted.';
    observe({ kind: 'reconciled', resource: record.key, ready: true, reason, message, ms });
    onStatus?.({ target: record, tenant: record.tenant, status: undefined });
  }
}
