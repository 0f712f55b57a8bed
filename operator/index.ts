/**
 * The operator: follows a source of manifests and makes the rooms say the same. It is the second door beside HTTP; it
 * calls the same actions. Owns accord.resource.
 */
import type { Clock } from '../server/core/clock.ts';
import type { Database } from '../server/core/db/database.ts';
import { listen } from '../server/core/db/listen.ts';
import { limits } from '../server/core/limits.ts';
import type { Observe } from '../server/core/observe.ts';
import { conditionOf } from './conditions.ts';
import { Desk, type StatusChange } from './desk.ts';
import { holdLock } from './lock.ts';
import { Programmed } from './programmed.ts';
import { Queue, type Timers } from './queue.ts';
import { isDatabaseAway } from './reasons.ts';
import { reconcile } from './reconcile.ts';
import { Records } from './records.ts';
import type { Rooms } from './rooms.ts';
import type { Key, ResourceStatus, Source, SourceProblem } from './source.ts';

export type { StatusChange } from './desk.ts';
export { type FileObject, parseFile } from './files/parse.ts';
export { FileSource } from './files/source.ts';
export { listTree } from './files/tree.ts';
export { refusalOf } from './reasons.ts';
export type { Rooms } from './rooms.ts';
export type { Condition, ResourceStatus, Source, SourceProblem } from './source.ts';
export { describeKey } from './source.ts';
export { wireRooms } from './wire.ts';

export type OperatorOptions = {
  source: Source;
  rooms: Rooms;
  database: Database;
  clock: Clock;
  observe: Observe;
  /** ACCORD_MAX_STALENESS: a server that was silent for longer is not waited for. */
  maxStalenessMs: number;
  onStatus?: (change: StatusChange) => void;
  onProblems?: (problems: readonly SourceProblem[]) => void;
  /** Another operator is at work on this database; this one waits. */
  onWaiting?: (message: string) => void;
  concurrency?: number;
  resyncMs?: number;
  /** Between two tries for the lock. */
  lockRetryMs?: number;
};

export type Summary = { resources: StatusChange[]; problems: readonly SourceProblem[] };

export type Operator = {
  /**
   * Resolves when everything that the source first held, and everything that was gone from it, has been reconciled, and
   * every live server decides with it. Start the server first: where none lives, nothing is waited for.
   */
  settled(): Promise<Summary>;
  /** Looks at everything again, as the timer does. */
  resync(): void;
  /** Whether nothing is being done or waits for its turn. */
  idle(): boolean;
  close(): Promise<void>;
};

const CONCURRENCY = 4;
const RESYNC_MS = 600_000;
const LOCK_RETRY_MS = 1000;
const HEARTBEAT_MS = 5000;
const LATE_AFTER_MS = 1000;

/** Starts to follow the source and to reconcile, in the background. */
export function startOperator(options: OperatorOptions): Operator {
  const { source, database, clock, observe } = options;
  const records = new Records(database, source.name);
  const desk = new Desk({ ...options, records });
  const timers = timersOf(clock);
  const first = new FirstRound();
  desk.programmed = new Programmed({
    ...{ database, timers, observe, maxStalenessMs: options.maxStalenessMs },
    pollMs: Math.min(1000, options.maxStalenessMs / 5),
    lateAfterMs: LATE_AFTER_MS,
    look: (key) => desk.queue.add(key),
  });
  desk.queue = new Queue({
    work: async (key) => first.worked(key, await reconcile(desk, key)),
    failed: (key, error, retryInMs) => {
      observe({ kind: 'reconcile_failed', resource: key, error, retryInMs });
      if (isDatabaseAway(error)) tellDatabaseAway(desk, key);
    },
    groupOf: (key) => source.get(key)?.claims?.tenant ?? records.get(key)?.tenant ?? '',
    ...{ timers, random: Math.random, concurrency: options.concurrency ?? CONCURRENCY },
    backoffMs: { min: limits.reconcileRetryMsMin, max: limits.reconcileRetryMsMax },
    agedAfterMs: limits.reconcileAgedAfterMs,
  });
  desk.queue.pause();
  const started = source.start({
    changed: (keys) => desk.changed(keys),
    synced: () => desk.lookForGone(),
    problems: (problems) => options.onProblems?.(problems),
  });
  started.catch((error) => observe({ kind: 'source_failed', source: source.name, error }));
  const lock = holdLock({
    ...{ client: () => database.client(), source: source.name, observe },
    retryMs: options.lockRetryMs ?? LOCK_RETRY_MS,
    heartbeatMs: HEARTBEAT_MS,
    held: async () => {
      await started;
      await desk.queue.quiet();
      first.begin(await desk.begin());
      desk.queue.resume();
    },
    lost: () => desk.queue.pause(),
    waiting: (message) => options.onWaiting?.(message),
  });
  const listener = listen({
    client: () => database.client(),
    channels: { accord_ack: (payload) => desk.programmed.acknowledged(payload) },
    onConnect: () => void desk.programmed.check(),
    observe,
  });
  const resync = () => desk.resync();
  const timer = setInterval(resync, options.resyncMs ?? RESYNC_MS);
  return {
    async settled() {
      await first.done;
      const resources = [...records.all()].map((record) => ({
        target: record,
        tenant: record.tenant,
        status: record.status,
      }));
      return { resources, problems: source.problems() };
    },
    resync,
    idle: () => desk.queue.idle,
    async close() {
      clearInterval(timer);
      await source.close();
      await desk.queue.close();
      await Promise.all([lock.close(), listener.close(), desk.programmed.close()]);
    },
  };
}

/** Knows when all that was there at the start has been done once. */
class FirstRound {
  readonly #done = Promise.withResolvers<void>();
  readonly done = this.#done.promise;
  #left: Set<Key> | undefined;

  begin(keys: readonly Key[]): void {
    this.#left ??= new Set(keys);
    if (this.#left.size === 0) this.#done.resolve();
  }

  worked(key: Key, result: 'settled' | 'waiting'): void {
    if (result === 'settled' && this.#left?.delete(key) && this.#left.size === 0) this.#done.resolve();
  }
}

/** Beside the manifest only: there is no database to store it in. What is served goes on being served. */
function tellDatabaseAway(desk: Desk, key: Key): void {
  const record = desk.records.get(key);
  const ready = record && conditionOf(record.status, 'Ready');
  if (!record || !ready) return;
  const changed = {
    ...ready,
    status: 'Unknown' as const,
    reason: 'DatabaseUnavailable',
    message: 'The database does not answer.',
  };
  const conditions = record.status.conditions?.map((condition) => (condition === ready ? changed : condition)) ?? [];
  const status: ResourceStatus = { ...record.status, conditions };
  desk.publish(record, record.tenant, status).catch((error) => {
    desk.observe({ kind: 'background_failed', task: 'status', error });
  });
}

function timersOf(clock: Clock): Timers {
  return {
    monotonic: () => clock.monotonic(),
    after(ms, call) {
      const timer = setTimeout(call, ms);
      return () => clearTimeout(timer);
    },
  };
}
