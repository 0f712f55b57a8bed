/** Delivering events: lanes of subscriptions, their replays, and what the configuration tells them. */
import type { Database, Transaction } from '../../core/db/database.ts';
import { Lanes } from '../../core/lanes/lanes.ts';
import { limits } from '../../core/limits.ts';
import type { Observe } from '../../core/observe.ts';
import type { Task } from '../../room/tasks.ts';
import { dropAttempts } from '../delivery-store.ts';
import { clearHealth, deleteLane, eventLanes, insertLane, type Lane, readStatus, readVersions } from '../lane-store.ts';
import { removeEndedReplays } from '../replay-store.ts';
import { DeliveryLane, type LaneServices } from './lane.ts';
import { replay } from './replay.ts';
import type { Configured, DeliverySettings } from './settings.ts';

export type { Configured, DeliverySettings } from './settings.ts';
export { ONCE } from './step.ts';

type DeliveryServices = LaneServices & {
  observe: Observe;
  /** Tells of new events. */
  readers: { watchAll(watcher: (tenants?: readonly string[]) => void): () => void };
};

export type Deliveries = {
  lanes: Lanes;
  tasks: readonly Task[];
  /** To be told when the configuration of a tenant was changed. */
  configChanged(tenant: string): Promise<void>;
  /** Closes the connections to the database. */
  close(): Promise<void>;
};

/** Of transactions of lanes: they wait for one another, and never for those of requests. */
const POOL_MAX = 4;
const HOUR_MS = 3_600_000;

/** `replayed`: the version of the lane that had nothing more to replay; whoever begins a replay makes another one. */
type Running = { live: DeliveryLane; replaying: Promise<void> | undefined; replayed: number | undefined };

export function createDeliveries<Settings extends DeliverySettings>(
  { database: shared, observe, readers, ...services }: DeliveryServices,
  configured: Configured<Settings>,
): Deliveries {
  const open = () => shared.separate('deliveries', { poolMax: POOL_MAX });
  let database: Database | undefined;
  const running = new Map<string, Running>();
  const keyOf = ({ tenant, id }: Lane) => `${tenant}/${id}`;
  const laneServices: LaneServices = {
    ...services,
    get database() {
      database ??= open();
      return database;
    },
  };
  const lanes = new Lanes({
    ...{ name: 'delivering events', table: eventLanes, me: services.server, clock: services.clock, observe },
    database: laneServices.database,
    async work(lane) {
      let one = running.get(keyOf(lane));
      if (one === undefined) {
        one = {
          live: new DeliveryLane(laneServices, configured as unknown as Configured, lane),
          replaying: undefined,
          replayed: undefined,
        };
        running.set(keyOf(lane), one);
      }
      const { live } = one;
      const nextMs = await live.work();
      if (live.active === undefined || live.active.version === one.replayed) return nextMs;
      one.replaying ??= replay(laneServices, lane, live)
        .then((version) => {
          one.replayed = version;
        })
        .catch((error) => observe({ kind: 'background_failed', task: `replaying events of ${keyOf(lane)}`, error }))
        .finally(() => {
          one.replaying = undefined;
          // It goes on by what the lane works by now, unless that is paused or blocked.
          const goesOn = live.isOutdated || (live.active !== undefined && live.blockedMs === 0);
          if (one.replayed === undefined && goesOn && !lane.ending.aborted) lanes.hint([lane.tenant]);
        });
      return nextMs;
    },
    async ended(lane) {
      const one = running.get(keyOf(lane));
      running.delete(keyOf(lane));
      await one?.replaying;
      await one?.live.close();
    },
  });
  /** Somebody changed the configuration of a tenant: what is being sent stops where a lane works by something else now. */
  async function configChanged(tenant: string): Promise<void> {
    const those = [...running.values()].filter(({ live }) => live.lane.tenant === tenant);
    if (those.length === 0) return;
    const versions = await laneServices.database.read(tenant, (tx) => readVersions(tx, tenant));
    for (const { live } of those) live.changedTo(versions.get(live.lane.id));
    if (those.some(({ live }) => live.isOutdated)) lanes.hint([tenant]);
  }
  return { lanes, tasks: tasksOf(lanes, readers, laneServices), configChanged, close: async () => database?.close() };
}

function tasksOf(lanes: Lanes, readers: DeliveryServices['readers'], services: LaneServices): Task[] {
  return [
    {
      name: 'delivering events',
      everyMs: limits.lanePollMs,
      async run(signal) {
        const unwatch = readers.watchAll((tenants) => lanes.hint(tenants));
        await lanes.run(signal);
        unwatch();
        return undefined;
      },
    },
    {
      name: 'removing old attempts of deliveries',
      everyMs: HOUR_MS,
      firstMs: 60_000,
      async run() {
        await services.database.system((tx) => dropAttempts(tx, limits.deliveryDaysKept));
        await services.database.system((tx) => removeEndedReplays(tx, limits.deliveryDaysKept));
        return undefined;
      },
    },
  ];
}

/** In the transaction that makes a subscription: it gets the events from now on. */
export function startLane(tx: Transaction, tenant: string, subscription: string): Promise<void> {
  return insertLane(tx, { tenant, id: subscription });
}

/** In the transaction that deletes a subscription. What was tried stays until retention removes it. */
export function removeLane(tx: Transaction, tenant: string, subscription: string): Promise<void> {
  return deleteLane(tx, { tenant, id: subscription });
}

/** In a transaction that changes a subscription: a disabled one begins again, and what waits for a retry is due now. */
export function resetHealth(tx: Transaction, tenant: string, subscription: string): Promise<void> {
  return clearHealth(tx, { tenant, id: subscription });
}

export type LaneStatus = {
  state: 'active' | 'failing' | 'paused' | 'disabled';
  /** Events that were not delivered yet: at most so many, because some may be of other types. */
  waiting: number;
  /** The number of the newest event that was looked at. */
  cursor: number;
  failingSince?: string;
  blockedUntil?: string;
  disabledAt?: string;
  disabledReason?: string;
};

/** @param isPaused as the subscription says it @returns undefined when there is no such subscription */
export async function laneStatus(
  tx: Transaction,
  tenant: string,
  { id: subscription, isPaused }: { id: string; isPaused: boolean },
): Promise<LaneStatus | undefined> {
  const row = await readStatus(tx, { tenant, id: subscription });
  if (row === undefined) return undefined;
  const { cursor, waiting, failing_since, blocked_until, disabled_at, disabled_reason } = row;
  return {
    state: disabled_at !== null ? 'disabled' : isPaused ? 'paused' : failing_since !== null ? 'failing' : 'active',
    ...{ waiting, cursor },
    ...(failing_since === null ? {} : { failingSince: failing_since }),
    ...(blocked_until === null ? {} : { blockedUntil: blocked_until }),
    ...(disabled_at === null ? {} : { disabledAt: disabled_at }),
    ...(disabled_reason === null ? {} : { disabledReason: disabled_reason }),
  };
}
