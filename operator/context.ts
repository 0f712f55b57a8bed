/**
 * What a reconcile works with: the source, the rooms' services, the records, and the owners of the state in memory. All of
 * that state can be lost: records and manifests bring it back.
 */
import type { Clock } from '../server/core/clock.ts';
import type { Observe } from '../server/core/observe.ts';
import type { Owner, Writer } from '../server/core/ownership.ts';
import type { Claims } from './claims.ts';
import type { ConditionPoll } from './condition-poll.ts';
import type { HeldDeletions } from './held-deletions.ts';
import type { InitialAdmins } from './initial-admins.ts';
import type { Kinds } from './kinds/index.ts';
import type { PendingRollouts } from './pending-rollouts.ts';
import type { Queue } from './queue.ts';
import type { Records, ResourceRecord } from './records.ts';
import type { RolloutTracker } from './rollout-tracker.ts';
import type { StepServices } from './services.ts';
import type { Source } from './source.ts';
import type { StatusWriter } from './status-writer.ts';
import type { TenantTracker } from './tenant-tracker.ts';
import type { WaitList } from './waiting.ts';

export type ReconcileContext = {
  readonly source: Source;
  readonly services: StepServices;
  readonly kinds: Kinds;
  readonly records: Records;
  readonly clock: Clock;
  readonly observe: Observe;
  /** A server that was silent for longer counts as gone. */
  readonly maxStalenessMs: number;
  readonly queue: Queue;
  /** Who claims a name. */
  readonly claims: Claims;
  /** What waits for what. */
  readonly waiting: WaitList;
  /** What each Tenant allows, and whether it was reconciled. */
  readonly tenants: TenantTracker;
  /** Which deletions wait for somebody to confirm them. */
  readonly deletions: HeldDeletions;
  /** What was written and waits for servers. */
  readonly pending: PendingRollouts;
  readonly rollouts: RolloutTracker;
  readonly conditionPolls: readonly ConditionPoll[];
  readonly initialAdmins: InitialAdmins;
  /** Where generated secrets go in a source without Secrets; absent, none are generated there. */
  readonly secretFiles: string | undefined;
  readonly statuses: StatusWriter;
};

/** How a reconcile ended. `waiting`: servers or another manifest are to answer first, and the key will be looked at again. */
export type Reconciled = 'settled' | 'waiting';

/** As whom a manifest owns rows. */
export function ownerOf(
  { source }: Pick<ReconcileContext, 'source'>,
  { namespace, name, uid }: { namespace: string; name: string; uid: string },
): Owner {
  return { source: source.name, ...(namespace === '' ? {} : { namespace }), name, uid };
}

/** As whom the rows of a manifest are written after it said what they are to be. */
export function writerOf(context: Pick<ReconcileContext, 'source'>, record: ResourceRecord): Writer {
  return { owner: ownerOf(context, record), actor: actorOf(context, record) };
}

/** For the audit log: `operator:kubernetes/fleet/car-read`. */
export function actorOf(
  { source }: Pick<ReconcileContext, 'source'>,
  { namespace, name }: { namespace: string; name: string },
): string {
  return `operator:${source.name}${namespace === '' ? '' : `/${namespace}`}/${name}`;
}
