/**
 * The operator: follows a source of manifests and makes the rooms say the same. It is the second door beside HTTP; it
 * calls the same actions. Owns accord.resource.
 */
import type { Clock } from '../server/core/clock.ts';
import type { Database } from '../server/core/db/database.ts';
import { listen } from '../server/core/db/listen.ts';
import { limits } from '../server/core/limits.ts';
import type { Observe } from '../server/core/observe.ts';
import { conditionOf, isReady } from './conditions.ts';
import { Desk, type StatusChange } from './desk.ts';
import { IssuerKeys } from './issuer-keys.ts';
import { kindNames } from './kinds/index.ts';
import type { Leadership } from './leadership.ts';
import { Programmed } from './programmed.ts';
import { Queue, type Timers } from './queue.ts';
import { isDatabaseAway } from './reasons.ts';
import { reconcile } from './reconcile.ts';
import { Records } from './records.ts';
import type { OperatorServices } from './services.ts';
import type { Key, ResourceStatus, Source, SourceProblem } from './source.ts';
import type { InvitationFiles } from './welcome.ts';

export type { StatusChange } from './desk.ts';
export type { FileObject, ParsedFile } from './files/parse.ts';
export { parseFile } from './files/parse-file.ts';
export { Parser } from './files/parser.ts';
export { FileSource } from './files/source.ts';
export { listTree, readManifests } from './files/tree.ts';
export { kindNames } from './kinds/index.ts';
export type { Leadership } from './leadership.ts';
export { leadByLock } from './lock.ts';
export { createOperatorMetrics, type OperatorMetrics } from './metrics.ts';
export { refusalOf } from './reasons.ts';
export type { OperatorServices } from './services.ts';
export type { ResourceStatus, Source, SourceProblem } from './source.ts';
export { describeKey } from './source.ts';
export type { InvitationFiles } from './welcome.ts';

export type OperatorOptions = {
  source: Source;
  services: OperatorServices;
  database: Database;
  clock: Clock;
  observe: Observe;
  /** Where the first invitations of tenants go in a source without Secrets; absent, nobody is invited there. */
  invitations?: InvitationFiles;
  /** Who of several operators writes. */
  lead: Leadership;
  /** ACCORD_MAX_STALENESS: a server that was silent for longer is not waited for. */
  maxStalenessMs: number;
  onStatus?: (change: StatusChange) => void;
  onProblems?: (problems: readonly SourceProblem[]) => void;
  /** Why this one does not write: another operator is at work, or what it needs is away. */
  onWaiting?: (message: string) => void;
  concurrency?: number;
  resyncMs?: number;
  /** A key was looked at: for how long, and how it went. */
  onWorked?: (result: Worked, ms: number) => void;
};

export type Worked = 'settled' | 'waiting' | 'failed';

export type Summary = { resources: StatusChange[]; problems: readonly SourceProblem[] };

export type OperatorState = {
  leading: boolean;
  /** Keys in flight or waiting for their turn. */
  queued: number;
  resources: { kind: string; ready: boolean; count: number }[];
};

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
  state(): OperatorState;
  close(): Promise<void>;
};

// More than a tenant may have transactions at once: the others' go on meanwhile.
const CONCURRENCY = 8;
/** One question about all that waits for servers, which is answered by their acknowledgements before as a rule. */
const POLL_MS = 250;
const RESYNC_MS = 600_000;
const LATE_AFTER_MS = 1000;
const ISSUER_KEYS_POLL_MS = 5000;

/** Starts to follow the source and to reconcile, in the background. */
export function startOperator(options: OperatorOptions): Operator {
  const { source, database, clock, observe } = options;
  const records = new Records(database, source.name);
  const desk = new Desk({ ...options, records });
  const timers = timersOf(clock);
  const first = new FirstRound((key) => desk.queue.has(key));
  desk.onUnblocked = (keys) => first.again(keys);
  desk.programmed = new Programmed({
    ...{ database, timers, observe, maxStalenessMs: options.maxStalenessMs },
    pollMs: Math.min(POLL_MS, options.maxStalenessMs / 5),
    lateAfterMs: LATE_AFTER_MS,
    look: (key) => desk.queue.add(key, 'settle'),
  });
  desk.issuerKeys = new IssuerKeys({
    ...{ database, timers, observe, maxStalenessMs: options.maxStalenessMs },
    pollMs: Math.min(ISSUER_KEYS_POLL_MS, options.maxStalenessMs),
    changed: (tenant, name) => lookAtIssuer(desk, tenant, name),
  });
  desk.queue = new Queue({
    work: async (key) => {
      const startedAt = clock.monotonic();
      let result: Worked = 'failed';
      try {
        result = await reconcile(desk, key);
        first.worked(key, result);
      } finally {
        options.onWorked?.(result, clock.monotonic() - startedAt);
      }
    },
    failed: (key, error, retryInMs) => {
      first.failed(key);
      observe({ kind: 'reconcile_failed', resource: key, error, retryInMs });
      if (isDatabaseAway(error)) tellDatabaseAway(desk, key);
    },
    groupOf: (key) => turnOf(desk, key),
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
  let isLeading = false;
  const leading = options.lead({
    held: async () => {
      await started;
      await desk.queue.quiet();
      first.begin(await desk.begin());
      isLeading = true;
      desk.issuerKeys.start();
      desk.queue.resume();
    },
    lost: () => {
      isLeading = false;
      desk.issuerKeys.stop();
      desk.queue.pause();
    },
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
      return { resources: statesOf(records), problems: source.problems() };
    },
    resync,
    idle: () => desk.queue.idle,
    state: () => ({ leading: isLeading, queued: desk.queue.depth, resources: countResources(records) }),
    async close() {
      clearInterval(timer);
      await source.close();
      await desk.queue.close();
      await Promise.all([leading.close(), listener.close(), desk.programmed.close(), desk.issuerKeys.close()]);
    },
  };
}

/**
 * In whose turn a key is taken: its tenant's, once it was let in there. Until then it is its namespace's: whoever may not
 * name a tenant must not stand in its queue, nor get a turn for each tenant that a manifest names.
 */
export function turnOf({ source, records }: Pick<Desk, 'source' | 'records'>, key: Key): string {
  const [object, record] = [source.get(key), records.get(key)];
  const namespace = object?.namespace ?? record?.namespace ?? '';
  const isLetIn = record !== undefined && record.object !== '';
  if (source.namespaceLabels !== undefined && namespace !== '' && !isLetIn) return `namespace ${namespace}`;
  return `tenant ${(isLetIn ? record.tenant : (object?.claims?.tenant ?? record?.tenant)) ?? ''}`;
}

function statesOf(records: Records) {
  return [...records.all()].map((record) => ({ target: record, tenant: record.tenant, status: record.status }));
}

function lookAtIssuer({ records, queue }: Desk, tenant: string, name: string): void {
  for (const key of records.keysOf(tenant)) {
    const record = records.get(key);
    if (record?.kind === 'TrustedIssuer' && record.name === name) queue.add(key, 'settle');
  }
}

/**
 * Knows when all that was there at the start has been done once. What waited for something else is done when that came and
 * it was looked at again; what fails again and again does not keep the rest waiting.
 */
class FirstRound {
  readonly #done = Promise.withResolvers<void>();
  readonly done = this.#done.promise;
  readonly #isQueued: (key: Key) => boolean;
  readonly #failures = new Map<Key, number>();
  #all: ReadonlySet<Key> = new Set();
  #left: Set<Key> | undefined;

  /** @param isQueued whether a key is to be looked at again */
  constructor(isQueued: (key: Key) => boolean) {
    this.#isQueued = isQueued;
  }

  begin(keys: readonly Key[]): void {
    if (this.#left !== undefined) return;
    this.#all = new Set(keys);
    this.#left = new Set(keys);
    this.#settle();
  }

  worked(key: Key, result: 'settled' | 'waiting'): void {
    if (result !== 'settled' || this.#isQueued(key)) return;
    this.#left?.delete(key);
    this.#settle();
  }

  failed(key: Key): void {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    if (failures < limits.reconcileFirstTriesMax) return;
    this.#left?.delete(key);
    this.#settle();
  }

  /** These are looked at again, because something that they waited for came. */
  again(keys: Iterable<Key>): void {
    for (const key of keys) if (this.#all.has(key)) this.#left?.add(key);
  }

  #settle(): void {
    if (this.#left?.size !== 0) return;
    this.#done.resolve();
    this.#all = new Set();
  }
}

function countResources(records: Records): OperatorState['resources'] {
  const counts = new Map(kindNames.flatMap((kind) => [`${kind} true`, `${kind} false`].map((group) => [group, 0])));
  for (const { kind, status } of records.all()) {
    const group = `${kind} ${isReady(status)}`;
    counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  return [...counts].map(([group, count]) => {
    const [kind = '', ready] = group.split(' ');
    return { kind, ready: ready === 'true', count };
  });
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
