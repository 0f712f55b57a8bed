/**
 * What a room is: one descriptor that says all that the rest of the server must know of it. server/rooms.ts lists them in
 * order; services, routes, the snapshot, erasing, tasks, metrics and the generated pages iterate over that list.
 */

import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import type { Database } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import type { FairScheduler } from '../core/fair-scheduler.ts';
import type { Meters, Recorders } from '../core/metrics.ts';
import type { Observe } from '../core/observe.ts';
import type { Outbound } from '../core/outbound/outbound.ts';
import type { Problems } from '../core/problems.ts';
import type { App, CountMore } from '../http/fastify.ts';
import type { DoctorCheck } from './doctor.ts';
import type { RoomErasing } from './erasing.ts';
import type { EventHints, EventType } from './events.ts';
import type { ResourceKind } from './resource-kind.ts';
import type { Task } from './tasks.ts';
import type { TenantRows } from './tenant-rows.ts';
import type { AnySnapshotPart } from './tenant-snapshot.ts';

/** What the process knows of the portal's web application. */
export type PortalOptions = {
  /** Where it was built. @default portal/dist of the source tree or of the image */
  readonly directory?: string;
  /** Whether it is being built now, or what was said when that failed. */
  readonly building?: () => 'building' | Readonly<{ failed: string }> | undefined;
  /** Whether somebody at this machine may log in by a link: only `accord start` on loopback. */
  readonly logInLinks?: boolean;
  /** What prints such a link for this instance. @default npx accord log-in */
  readonly logInCommand?: string;
  /** Where the mails of `accord start` are shown. */
  readonly mailbox?: () => string | undefined;
};

/** Services that every room may use. */
export type BaseServices = {
  readonly config: Config;
  readonly clock: Clock;
  readonly observe: Observe;
  readonly database: Database;
  readonly encrypter: Encrypter;
  readonly outbound: Outbound;
  /** {base_url}: what callers reach the APIs by, and what issuers are named after. */
  readonly baseUrl: string;
  /** This process, a UUID: as accord.server knows it. */
  readonly server: string;
  readonly portal?: PortalOptions | undefined;
  /** Of new hashes of passwords. No configuration states it: a program that does is a test. */
  readonly passwordCost?: Readonly<{ memoryKib: number; passes: number }> | undefined;
  /** Turns of the main thread, tenant by tenant. */
  readonly scheduler: FairScheduler;
  /** Told of each commit that emitted events. */
  readonly eventHints: EventHints;
  /** All of this process, in order. */
  readonly rooms: readonly Room[];
  /** The rooms that are created on it write as an operator does, and nobody asks them for decisions. */
  readonly writesOnly?: true;
};

/** The services of a room. While rooms are being created, only of those before. @throws Error for a room that is not there (yet) */
export type Use = <Services>(room: Room<string, Services>) => Services;

/** What HTTP gives to routes. */
export type HttpServices = { countMore: CountMore };

export type Room<Name extends string = string, Services = unknown> = {
  readonly name: Name;
  /** Those of the schema accord that the room alone reads and writes. */
  readonly tables: readonly string[];
  /** Creates the services of the room from those of every room and from the rooms before it. */
  create(base: BaseServices, use: Use): Services | Promise<Services>;
  /**
   * The operator writes with the room: it is created again over a database that refuses the writes of a former leader. So
   * is a room that has kinds of custom resources.
   */
  readonly writtenByOperator?: boolean;
  /** Its kinds of custom resources, which the operator reconciles. */
  readonly resourceKinds?: readonly ResourceKind<NoInfer<Services>>[];
  routes?(app: App, services: NoInfer<Services>, http: HttpServices): void;
  /** Of its routes' OpenAPI operations, unless a route states others. */
  readonly openapiTag?: string;
  /** What it adds to a tenant's snapshot. */
  readonly snapshot?: AnySnapshotPart;
  readonly tenantRows?: TenantRows;
  /** How it erases a person. */
  erasing?(services: NoInfer<Services>): RoomErasing;
  /** What a server does again and again. */
  tasks?(services: NoInfer<Services>): readonly Task[];
  /** What `accord doctor` looks at. */
  doctor?(services: NoInfer<Services>): readonly DoctorCheck[];
  /** Creates its series and maps observations to them. */
  metrics?(services: NoInfer<Services>, meters: Meters): Recorders | undefined;
  /** What its actions emit. */
  readonly events?: readonly EventType[];
  readonly problems?: Problems;
  /** Ends what is under way, in the reverse order of creation. */
  close?(services: NoInfer<Services>): Promise<void>;
};

export type ServicesOf<R> = R extends Room<string, infer Services> ? Services : never;

/** A room, with the types of its name and of its services kept. */
export function defineRoom<const Name extends string, Services>(room: Room<Name, Services>): Room<Name, Services> {
  return room;
}

/**
 * Creates rooms in order.
 * @param fallback what rooms that are not created here are taken from
 */
export async function createRooms(base: BaseServices, rooms: readonly Room[], fallback?: Use): Promise<Use> {
  const created = new Map<Room, unknown>();
  const use: Use = <Services>(room: Room<string, Services>) => {
    if (created.has(room)) return created.get(room) as Services;
    if (fallback !== undefined) return fallback(room);
    throw new Error(`the room ${room.name} is not there; it must stand before those that use it in server/rooms.ts`);
  };
  for (const room of rooms) created.set(room, await room.create(base, use));
  return use;
}

/** What rooms add to a tenant's snapshot. */
export function snapshotPartsOf(rooms: readonly Room[]): AnySnapshotPart[] {
  return rooms.flatMap(({ snapshot }) => snapshot ?? []);
}

/** What rooms keep of tenants, the last room first: rooms make records of what those before them hold. */
export function tenantRowsOf(rooms: readonly Room[]): TenantRows[] {
  return rooms.flatMap(({ tenantRows }) => tenantRows ?? []).reverse();
}

/** A function that a room needs of a later one, which provides it when it is created. */
type LateBound<F> = { readonly call: F; provide(by: F): void };

/** @param what for the error of a call before it is provided */
export function lateBound<F extends (...args: never[]) => unknown>(what: string): LateBound<F> {
  let provided: F | undefined;
  const call = (...args: Parameters<F>) => {
    if (provided === undefined) throw new Error(`no room provides ${what}`);
    return provided(...args);
  };
  return {
    call: call as F,
    provide(by) {
      provided = by;
    },
  };
}
