/**
 * The operator: follows a source of manifests and makes the rooms say the same. It writes through the same actions
 * as the Config API, and keeps what it knows of manifests in accord.resource.
 */
import type { Clock } from '../server/core/clock.ts';
import type { Database } from '../server/core/db/database.ts';
import { listen } from '../server/core/db/listen.ts';
import { limits } from '../server/core/limits.ts';
import type { Observe } from '../server/core/observe.ts';
import { conditionOf, isReady } from './conditions.ts';
import type { ReconcileContext } from './context.ts';
import { createContext } from './create-context.ts';
import type { InvitationFiles } from './initial-admins.ts';
import { InitialSync } from './initial-sync.ts';
import { type Leadership, workWhileLeading } from './leadership.ts';
import { MissedWakeups } from './missed-wakeups.ts';
import { isDatabaseUnavailable } from './reasons.ts';
import { reconcile } from './reconcile.ts';
import type { Records } from './records.ts';
import type { OperatorServices } from './services.ts';
import type { Key, ResourceStatus, Source, SourceProblem } from './source.ts';
import type { StatusChange } from './status-writer.ts';
import { begin, listCompleted, manifestsChanged, resync } from './triggers.ts';
import { longestFirst, type Waiting } from './waiting.ts';

export type { FileObject, ParsedFile } from './files/parse.ts';
export { Parser } from './files/parser.ts';
export { FileSource } from './files/source.ts';
export { listTree, readManifests } from './files/tree.ts';
export type { InvitationFiles } from './initial-admins.ts';
export { kindNames } from './kinds/index.ts';
export type { Leadership } from './leadership.ts';
export { LockLeadership } from './lock.ts';
export { createOperatorMetrics, type OperatorMetrics } from './metrics.ts';
export { refusalOf } from './reasons.ts';
export type { OperatorServices } from './services.ts';
export type { ResourceStatus, Source, SourceProblem } from './source.ts';
export { describeKey } from './source.ts';
export type { StatusChange } from './status-writer.ts';

export type OperatorOptions = {
  source: Source;
  services: OperatorServices;
  database: Database;
  clock: Clock;
  observe: Observe;
  /** Where the first invitations of tenants go in a source without Secrets; absent, nobody is invited there. */
  invitations?: InvitationFiles;
  /** The directory of generated secrets in a source without Secrets; absent, none are generated there. */
  secretFiles?: string;
  /** Who of several operators writes. */
  lead: Leadership;
  /** ACCORD_MAX_STALENESS: a server that was silent for longer is not waited for. */
  maxStalenessMs: number;
  onStatus?: (change: StatusChange) => void;
  onProblems?: (problems: readonly SourceProblem[]) => void;
  /** Why this one does not write: another operator is at work, or what it needs is away. */
  onWaiting?: (message: string) => void;
  concurrency?: number;
  /** Between two tries of what failed, growing. */
  retry?: { minMs: number; maxMs: number };
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
  /** What is in flight, is tried again or waits for something, longest first; at most `limits.waitingShownMax`. */
  waiting(): Waiting[];
  /** Whether nothing is being done or waits for its turn. */
  idle(): boolean;
  state(): OperatorState;
  close(): Promise<void>;
};

const RESYNC_MS = 600_000;

/** Starts to follow the source and to reconcile, in the background. */
export function startOperator(options: OperatorOptions): Operator {
  const { source, clock, observe } = options;
  const initialSync = new InitialSync((key) => context.queue.has(key));
  const context = createContext(options, {
    work: (key) => work(key),
    failed: (key, error, retryInMs) => {
      initialSync.failed(key);
      observe({ kind: 'reconcile_failed', resource: key, error, retryInMs });
    },
    woken: (keys) => initialSync.requeued(keys),
  });
  const { queue, kinds, waiting, rollouts, conditionPolls } = context;
  const isPending = (key: Key) => queue.isPending(key) || rollouts.has(key);
  const missed = new MissedWakeups({ waiting, source, kinds: kinds.names, isPending, observe });
  const work = async (key: Key) => {
    const startedAt = clock.monotonic();
    let result: Worked = 'failed';
    try {
      result = await reconcile(context, key).catch(async (error) => {
        // While the key is in flight: what is written later could overwrite what its next try says.
        if (isDatabaseUnavailable(error)) await reportDatabaseUnavailable(context, key);
        throw error;
      });
      initialSync.reconciled(key, result);
      missed.reconciled(key);
    } finally {
      options.onWorked?.(result, clock.monotonic() - startedAt);
    }
  };
  queue.pause();
  const started = source.start({
    changed: (keys) => manifestsChanged(context, keys),
    synced: () => listCompleted(context),
    problems: (problems) => options.onProblems?.(problems),
  });
  started.catch((error) => observe({ kind: 'source_failed', source: source.name, error }));
  const leading = workWhileLeading(options.lead, {
    begin: async () => {
      await started;
      await queue.quiet();
      const keys = await begin(context);
      return () => {
        initialSync.begin(keys);
        for (const poll of conditionPolls) poll.start();
        queue.resume();
      };
    },
    end: () => {
      for (const poll of conditionPolls) poll.stop();
      queue.pause();
    },
    waiting: (message) => options.onWaiting?.(message),
  });
  const listener = listen({
    database: options.database,
    subscriptions: [
      {
        channel: 'accord_ack',
        received: (payload) => rollouts.acknowledged(payload),
        missed: () => void rollouts.check(),
      },
    ],
    observe,
  });
  const resyncNow = () => {
    if (leading.isLeading) missed.resynced();
    resync(context);
  };
  const timer = setInterval(resyncNow, options.resyncMs ?? RESYNC_MS);
  return {
    async settled() {
      await initialSync.done;
      return { resources: statesOf(context.records), problems: source.problems() };
    },
    resync: resyncNow,
    idle: () => queue.idle,
    waiting: () => longestFirst([...queue.list(clock), ...waiting.list(), ...rollouts.list()], limits.waitingShownMax),
    state: () => ({ leading: leading.isLeading, queued: queue.depth, resources: countResources(context) }),
    async close() {
      clearInterval(timer);
      await source.close();
      await queue.close();
      const polls = conditionPolls.map((poll) => poll.close());
      await Promise.all([leading.close(), listener.close(), rollouts.close(), ...polls]);
    },
  };
}

function statesOf(records: Records) {
  return [...records.all()].map((record) => ({ target: record, tenant: record.tenant, status: record.status }));
}

function countResources({ records, kinds }: ReconcileContext): OperatorState['resources'] {
  const counts = new Map(kinds.names.flatMap((kind) => [`${kind} true`, `${kind} false`].map((group) => [group, 0])));
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
async function reportDatabaseUnavailable({ records, statuses, observe }: ReconcileContext, key: Key): Promise<void> {
  const record = records.get(key);
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
  await statuses.publish(record, record.tenant, status).catch((error) => {
    observe({ kind: 'background_failed', task: 'status', error });
  });
}
