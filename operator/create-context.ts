/** Makes the state of an operator and joins its parts: who queues a key when something that it waits for has come. */
import type { Clock } from '../server/core/clock.ts';
import { limits } from '../server/core/limits.ts';
import { membersRoom } from '../server/members/index.ts';
import type { ResourceClaim } from '../server/room/resource-kind.ts';
import { tenantsRoom } from '../server/tenants/index.ts';
import { Claims } from './claims.ts';
import { ConditionPoll } from './condition-poll.ts';
import type { ReconcileContext } from './context.ts';
import { HeldDeletions } from './held-deletions.ts';
import type { OperatorOptions } from './index.ts';
import { InitialAdmins } from './initial-admins.ts';
import { Kinds } from './kinds/index.ts';
import { PendingRollouts } from './pending-rollouts.ts';
import { Queue, type Timers } from './queue.ts';
import { Records } from './records.ts';
import { RolloutTracker } from './rollout-tracker.ts';
import type { Key } from './source.ts';
import { StatusWriter } from './status-writer.ts';
import { TenantTracker } from './tenant-tracker.ts';
import { conditionsChanged } from './triggers.ts';
import { WaitList } from './waiting.ts';

// More than a tenant may have transactions at once: the others' go on meanwhile.
const CONCURRENCY = 8;
/** One question about all that waits for servers, which is answered by their acknowledgements before as a rule. */
const POLL_MS = 250;
const LATE_AFTER_MS = 1000;
const CONDITIONS_POLL_MS = 5000;

type Callbacks = {
  work: (key: Key) => Promise<void>;
  failed: (key: Key, error: unknown, retryInMs: number) => void;
  woken: (keys: readonly Key[]) => void;
};

export function createContext(options: OperatorOptions, { work, failed, woken }: Callbacks): ReconcileContext {
  const { source, database, clock, observe, maxStalenessMs, onStatus } = options;
  const { use } = options.services;
  const services = { tenants: use(tenantsRoom), members: use(membersRoom) };
  const kinds = new Kinds(options.services);
  const records = new Records(database, source.name);
  const timers = timersOf(clock);
  const queue = new Queue({
    ...{ work, failed, timers, random: Math.random, concurrency: options.concurrency ?? CONCURRENCY },
    groupOf: (key) => turnOf({ source, records }, key),
    backoff: options.retry ?? { minMs: limits.reconcileRetryMsMin, maxMs: limits.reconcileRetryMsMax },
    agedAfterMs: limits.reconcileAgedAfterMs,
  });
  const requeue = (keys: readonly Key[]) => {
    for (const key of keys) queue.add(key);
  };
  const context: ReconcileContext = {
    ...{ source, services, records, clock, observe, maxStalenessMs, queue, kinds },
    claims: new Claims(),
    waiting: new WaitList(clock, (keys) => {
      woken(keys);
      requeue(keys);
    }),
    tenants: new TenantTracker(source, services),
    deletions: new HeldDeletions({ records, clock, observe, requeue }),
    pending: new PendingRollouts(),
    rollouts: new RolloutTracker({
      ...{ database, timers, clock, observe, maxStalenessMs },
      pollMs: Math.min(POLL_MS, maxStalenessMs / 5),
      lateAfterMs: LATE_AFTER_MS,
      requeue: (key) => queue.add(key, 'normal'),
    }),
    conditionPolls: kinds.names.flatMap((kind) => {
      const { conditionsChanged: read } = kinds.of(kind);
      if (read === undefined) return [];
      const changed = (claim: ResourceClaim) => conditionsChanged(context, kind, claim);
      const pollMs = Math.min(CONDITIONS_POLL_MS, maxStalenessMs);
      return new ConditionPoll({ kind, read, changed, pollMs, timers, observe });
    }),
    initialAdmins: new InitialAdmins({
      ...{ source, services, files: options.invitations },
      retryIn: (key, ms) => queue.addLater(key, ms),
    }),
    secretFiles: options.secretFiles,
    statuses: new StatusWriter({ source, records, clock, observe, onStatus }),
  };
  return context;
}

/**
 * In whose turn a key is taken: its tenant's, once it was let in there. Until then it is its namespace's: whoever may not
 * name a tenant must not stand in its queue, nor get a turn for each tenant that a manifest names.
 */
export function turnOf({ source, records }: Pick<ReconcileContext, 'source' | 'records'>, key: Key): string {
  const [object, record] = [source.get(key), records.get(key)];
  const namespace = object?.namespace ?? record?.namespace ?? '';
  const isAdmitted = record !== undefined && record.object !== '';
  if (source.namespaceLabels !== undefined && namespace !== '' && !isAdmitted) return `namespace ${namespace}`;
  return `tenant ${(isAdmitted ? record.tenant : (object?.claims?.tenant ?? record?.tenant)) ?? ''}`;
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
