/** Building a process's services: the ground floor, and on it the rooms of the list, in order. */
import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from './core/clock.ts';
import { closeInOrder } from './core/close-in-order.ts';
import { type Config, requireVariable } from './core/config.ts';
import { Database } from './core/db/database.ts';
import type { FenceOptions } from './core/db/fence.ts';
import { createEncrypter } from './core/encrypter.ts';
import { FairScheduler } from './core/fair-scheduler.ts';
import { createMetrics, type Metrics } from './core/metrics.ts';
import type { Observe } from './core/observe.ts';
import { createOutbound, type Outbound } from './core/outbound/outbound.ts';
import { observers } from './observers.ts';
import { outboundOptions } from './outside.ts';
import { allEventTypes, allProblems } from './room/catalogue.ts';
import { EventHints } from './room/events.ts';
import {
  type BaseServices,
  createRooms,
  type PortalOptions,
  type Room,
  type ServicesOf,
  type Use,
} from './room/room.ts';
import { rooms as allRooms } from './rooms.ts';
import { type Snapshots, snapshotRoom } from './snapshot/index.ts';

/** Each room's services by its name. */
type RoomServices = { readonly [R in (typeof allRooms)[number] as R['name']]: ServicesOf<R> };

export type Services = BaseServices &
  RoomServices & {
    readonly metrics: Metrics;
    readonly snapshots: Snapshots;
    /** The services of a room, also of one that is not in the product's list. */
    readonly use: Use;
    /** The rooms that the operator writes with, each transaction of them bound to a term: for a writer that is not alone. */
    fenced(fence: FenceOptions): Promise<FencedServices>;
    close(): Promise<void>;
  };

export type FencedServices = Pick<Services, 'database' | 'rooms' | 'use'>;

type ServiceOptions = {
  observe?: Observe;
  clock?: Clock;
  applicationName: string;
  portal?: PortalOptions;
  passwordCost?: BaseServices['passwordCost'];
  /** Rooms that several servers of one process share, with their services: they are neither created nor closed here. */
  given?: ReadonlyMap<Room, unknown>;
  /** @default the product's, which others may follow */
  rooms?: readonly [...typeof allRooms, ...Room[]];
};

/** {base_url}: what callers reach the APIs by, and what issuers are named after. */
export function baseUrlOf(config: Config): string {
  return config.ACCORD_BASE_URL ?? `http://${config.ACCORD_LISTEN}`;
}

/**
 * Connects, checks that the database confines us and that the master key opens what it holds, and builds the rooms.
 * Snapshots are not started here: a process that only operates serves no requests.
 * @throws ConfigError, MasterKeyError, or the database's error
 */
export async function createServices(config: Config, options: ServiceOptions): Promise<Services> {
  const { clock = systemClock, rooms = allRooms, given, applicationName } = options;
  allProblems(rooms);
  allEventTypes(rooms);
  const { observe, attach } = observers(config, options.observe);
  const url = requireVariable(config, 'ACCORD_DATABASE_URL', applicationName);
  const encrypter = createEncrypter(requireVariable(config, 'ACCORD_MASTER_KEY', applicationName));
  const poolMax = config.ACCORD_DATABASE_POOL;
  const { ACCORD_DATABASE_SESSION_URL: sessionUrl } = config;
  const database = new Database({ url, sessionUrl, poolMax, applicationName: `accord-${applicationName}`, observe });
  try {
    await database.assertConfined();
    const base: BaseServices = {
      ...{ config, clock, observe, database, encrypter, rooms, portal: options.portal },
      passwordCost: options.passwordCost,
      ...{ outbound: createOutbound(await outboundOptions(config)), baseUrl: baseUrlOf(config) },
      ...{ server: randomUUID(), scheduler: new FairScheduler(clock), eventHints: new EventHints() },
    };
    const own = rooms.filter((room: Room) => !given?.has(room));
    const use = await createRooms(base, own, given && (((room) => given.get(room)) as Use));
    const metrics = createMetrics(rooms.map((room: Room) => (meters) => room.metrics?.(use(room), meters)));
    attach(metrics);
    const closing: (() => Promise<void>)[] = [() => closeRooms(own, use, observe)];
    return {
      ...base,
      ...(servicesByName(rooms, use) as RoomServices),
      ...{ metrics, use, snapshots: use(snapshotRoom).snapshots },
      async fenced(fence) {
        const { services, close } = await createFenced(base, use, fence);
        closing.push(close);
        return services;
      },
      close: () => closeAll(base, closing),
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

function servicesByName(rooms: readonly Room[], use: Use): Record<string, unknown> {
  return Object.fromEntries(rooms.map((room) => [room.name, use(room)]));
}

async function createFenced(base: BaseServices, fallback: Use, fence: FenceOptions) {
  const database = base.database.fenced(fence);
  const writing = base.rooms.filter(({ writtenByOperator, resourceKinds }) => writtenByOperator || resourceKinds);
  const use = await createRooms({ ...base, database, writesOnly: true }, writing, fallback);
  return { services: { database, rooms: base.rooms, use }, close: () => closeRooms(writing, use, base.observe) };
}

function closeRooms(rooms: readonly Room[], use: Use, observe: Observe): Promise<void> {
  const steps = rooms.toReversed().map((room) => ({ name: room.name, close: async () => room.close?.(use(room)) }));
  return closeInOrder(steps, { observe });
}

/** Requests to the outside first: what rooms end waits for them. */
async function closeAll(
  { outbound, database, observe }: { outbound: Outbound; database: Database; observe: Observe },
  closing: (() => Promise<void>)[],
) {
  outbound.close();
  for (const close of closing.reverse()) await close();
  await closeInOrder([{ name: 'the connections to the database', close: () => database.close() }], { observe });
}
