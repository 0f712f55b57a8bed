/** The verb that erases a person: begins, lets each room erase its rows portion by portion, and reports. */
import { recordAudit } from '../audit/index.ts';
import type { Actor } from '../core/auth/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Database, Transaction } from '../core/db/database.ts';
import { recordRevision } from '../core/db/records.ts';
import type { Erasing, Kept, Removed, RoomErasing } from '../core/erasing.ts';
import { problem } from '../core/problems.ts';
import { contactOf } from '../invitations/index.ts';
import type { Ledger } from '../ledger/index.ts';
import {
  beginErasing,
  holdErasing,
  holdProgress,
  holdWrites,
  type Progress,
  STAND_IN,
  type Tagger,
  tagOf,
  writeProgress,
} from '../pseudonyms/index.ts';
import { checkThing } from '../relationships/index.ts';
import { readTenant, tenantProblem } from '../tenants/index.ts';
import { readThingType } from '../types/index.ts';
import { keptBeside } from './rules.ts';

export type ErasureServices = {
  database: Database;
  clock: Clock;
  tagger: Tagger;
  ledger: Ledger;
  /** In the order in which they erase: what makes records before what records them. */
  rooms: readonly RoomErasing[];
};

/** Who erases: as the ledger names it, and as the audit does. */
export type Eraser = { actor: Actor; clientId?: string; name: string; requestId: string };
/** Whom. `contacts` are addresses of the person, as invitations were sent to. */
export type Wanted = { type: string; id: string; contacts: readonly string[] };
/** `revision` is that of the last records that were written. */
export type ErasureReport = { status: 'erased' | 'running'; removed: Removed; kept: Kept[]; revision: string };

type Erasure = { person: Erasing; key: { tag: string; type: string }; by: Eraser };

/**
 * Erases a person from all rooms of a tenant. One that was begun goes on where it was; one that is done is done again.
 * @param forMs for how long at most; what is left then is `running`, and the next call goes on with it
 * @throws Problem tenant_not_found, invalid_request
 */
export async function eraseActor(
  services: ErasureServices,
  tenant: string,
  by: Eraser,
  wanted: Wanted,
  forMs: number = Number.POSITIVE_INFINITY,
): Promise<ErasureReport> {
  checkThing(wanted, '/params');
  // In attributes and decisions an address stands as somebody wrote it; invitations know it in small letters.
  const contacts = [...new Set(wanted.contacts.flatMap((value) => [contactOf({ type: 'email', value }), value]))];
  const until = services.clock.monotonic() + forMs;
  const tag = tagOf(services.tagger, tenant, wanted.id);
  const standIn = STAND_IN + tag;
  const key = { tag, type: wanted.type };
  const isUser = await begin(services, tenant, by, { ...key, contacts, standIn });
  const { type, id } = wanted;
  const erasure = { person: { tenant, type, id, isUser, contacts, standIn }, key, by };
  const kept = [...services.rooms.flatMap((room) => room.keeps), ...keptBeside(standIn)];
  for (;;) {
    const { removed, done, revision } = await eraseSome(services, erasure);
    if (done) return { status: 'erased', removed, kept, revision };
    if (services.clock.monotonic() >= until) return { status: 'running', removed, kept, revision };
  }
}

type Beginning = { tag: string; type: string; contacts: readonly string[]; standIn: string };

/** From its end on nobody writes about the person, and what is asked about it is recorded with the stand-in. */
function begin(services: ErasureServices, tenant: string, by: Eraser, wanted: Beginning): Promise<boolean> {
  const { database, clock, tagger, ledger } = services;
  const { tag, type, standIn } = wanted;
  return database.tenant(tenant, async (tx) => {
    await holdErasing(tx, tenant);
    const row = await readTenant(tx, tenant);
    if (row === undefined) throw tenantProblem('tenant_not_found');
    await checkActorType(tx, tenant, type);
    const isUser = row.spec.tokenMapping.defaultActorType === type;
    const before = await holdProgress(tx, tenant, { tag, type });
    const contacts = wanted.contacts.map((contact) => tagOf(tagger, tenant, contact));
    const ms = clock.now();
    const same = before && contacts.every((one) => before.contacts.includes(one));
    if (same && before.contacts.length === contacts.length) return isUser;
    // More addresses than it was begun with: the invitations are looked through again.
    const progress = { step: 0, removed: before?.removed ?? {}, contacts };
    await beginErasing(tx, tenant, { tag, type, isUser, now: new Date(ms).toISOString(), progress });
    await ledger.appendIn(tx, tenant, [entryOf(by, standIn, 'begun', ms)]);
    return isUser;
  });
}

/** @throws Problem invalid_request for the type of resources; one that is not there (any more) may have left records */
async function checkActorType(tx: Transaction, tenant: string, type: string): Promise<void> {
  if ((await readThingType(tx, tenant, type))?.kind !== 'resource') return;
  const detail = `${type} is a type of resources. Actors are erased; DELETE /{tenant}/resources/{type}/{id} forgets a resource.`;
  throw problem('invalid_request', { detail, errors: [{ pointer: '/params/type', detail }] });
}

function entryOf({ actor, clientId, requestId }: Eraser, standIn: string, outcome: 'begun' | 'erased', time: number) {
  const client = clientId === undefined ? {} : { clientId };
  return { type: 'erased' as const, actor, ...client, userId: standIn, outcome, requestId, time };
}

/** One portion, counted in the transaction that erases it. */
function eraseSome(
  services: ErasureServices,
  { person, key, by }: Erasure,
): Promise<{ removed: Removed; done: boolean; revision: string }> {
  const { database, rooms, ledger, clock } = services;
  const { tenant, standIn, type } = person;
  return database.tenant(tenant, async (tx) => {
    await holdWrites(tx, tenant);
    const before = await holdProgress(tx, tenant, key);
    if (before === undefined) throw tenantProblem('tenant_not_found'); // erased with all its rows
    const room = before === null ? undefined : rooms[before.step];
    const revision = await recordRevision(tx);
    if (before === null || room === undefined) return { removed: before?.removed ?? {}, done: true, revision };
    const { removed: some, next } = await room.eraseSome(tx, person, before.position);
    const { step, contacts } = before;
    const removed = added(before.removed, some);
    const progress: Progress =
      next === undefined ? { step: step + 1, removed, contacts } : { step, position: next, removed, contacts };
    const done = progress.step === rooms.length;
    await writeProgress(tx, tenant, key, done ? null : progress);
    if (done) {
      await ledger.appendIn(tx, tenant, [entryOf(by, standIn, 'erased', clock.now())]);
      const { name: actor, requestId } = by;
      const about = { kind: 'actor', name: `${type}/${standIn}`, detail: removed };
      await recordAudit(tx, tenant, { actor, action: 'erase', requestId, ...about });
    }
    return { removed, done, revision };
  });
}

function added(one: Removed, other: Removed): Removed {
  const sum = { ...one };
  for (const [kind, count] of Object.entries(other)) sum[kind] = (sum[kind] ?? 0) + count;
  return sum;
}
