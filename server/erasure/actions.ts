/** The verb that erases a person: begins, lets each room erase its rows portion by portion, and reports. */
import type { Actor } from '../core/auth/schema.ts';
import type { Transaction } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import type { ConfigServing } from '../http/config-api.ts';
import { contactOf } from '../invitations/index.ts';
import {
  beginErasing,
  endErasing,
  lockProgress,
  type Progress,
  pseudonymOf,
  REPLACEMENT_PREFIX,
  writeProgress,
} from '../pseudonyms/index.ts';
import { checkEntity } from '../relationships/index.ts';
import type { Erasing, Kept, Removed, RoomErasing } from '../room/erasing.ts';
import { readTenant } from '../tenants/index.ts';
import { readEntityType } from '../types/index.ts';
import { type AuditedUnit, type RecordWritten, type WriteServices, write } from '../writes/index.ts';
import { keptBeside } from './rules.ts';

export type ErasureServices = WriteServices & {
  encrypter: Encrypter;
  /** In the order in which they erase: what makes records before what records them. */
  rooms: readonly RoomErasing[];
  /** Waits until this server and those that decide serve a revision. */
  waitForRevision: ConfigServing['waitForRevision'];
};

/** Who erases: as the ledger names it, and as the audit does. */
type Eraser = { actor: Actor; clientId?: string; name: string; requestId: string };
/** Whom. `contacts` are addresses of the person, as invitations were sent to. */
type Wanted = { type: string; id: string; contacts: readonly string[] };
/** `revision` is that of the last records that were written. */
export type ErasureReport = { status: 'erased' | 'running'; removed: Removed; kept: Kept[]; revision: string };

/** Its addresses are those of its row. */
type Erasure = { person: Omit<Erasing, 'contacts'>; key: { pseudonym: string; type: string }; by: Eraser };

/**
 * Erases a person from all rooms of a tenant. One that was begun goes on where it was, with the addresses that were named since;
 * one that is done is done again.
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
  checkEntity(wanted, '/params');
  // In attributes and decisions an address stands as somebody wrote it; invitations know it as addresses are compared.
  const contacts = [
    ...new Set(wanted.contacts.flatMap((value, i) => [contactOf(value, `/contacts/${i}/value`), value])),
  ];
  const until = services.clock.monotonic() + forMs;
  const { type, id } = wanted;
  const pseudonym = pseudonymOf(services.encrypter, tenant, id);
  const replacement = REPLACEMENT_PREFIX + pseudonym;
  const beginning = { tenant, by, key: { pseudonym, type }, contacts, replacement };
  // One that is under way has refused before it began.
  const underWay = (await goOn(services, beginning)).result;
  if (underWay === undefined) await refuse(services, beginning, { type, id });
  const isUser = underWay ?? (await begin(services, beginning)).result;
  const erasure = { person: { tenant, type, id, isUser, replacement }, key: { pseudonym, type }, by };
  const kept = [...services.rooms.flatMap((room) => room.keeps), ...keptBeside(replacement)];
  let removed: Removed = {};
  for (;;) {
    const { result, revision } = await eraseSome(services, erasure);
    removed = result.removed ?? removed;
    if (result.done) return { status: 'erased', removed, kept, revision };
    if (services.clock.monotonic() >= until) return { status: 'running', removed, kept, revision };
  }
}

/** What the person could still do ends: tokens that were issued are refused from here on, whatever portions are left. */
async function refuse(
  services: ErasureServices,
  { tenant, by, replacement }: Beginning,
  { type, id }: Pick<Wanted, 'type' | 'id'>,
): Promise<void> {
  const author = { tenant, by: { actor: by.name, requestId: by.requestId } };
  const { revision } = await write(services, author, { locks: 'configuration' }, async (unit) => {
    const person = { tenant, type, id, isUser: await checkActor(unit.tx, tenant, type), replacement };
    for (const room of services.rooms) await room.begin?.(unit, person);
  });
  await services.waitForRevision(tenant, revision);
}

/** @property complete false: the time was up, and there are at least so many */
export type ErasurePreview = { removed: Removed; complete: boolean; kept: Kept[] };

class Counted extends Error {
  readonly preview: Omit<ErasurePreview, 'kept'>;

  constructor(preview: Omit<ErasurePreview, 'kept'>) {
    super('counted');
    this.preview = preview;
  }
}

/**
 * What erasing a person would remove: the rooms erase in a transaction that is rolled back, so that what is counted is what would
 * be erased. Nothing of the person is refused meanwhile, and nothing is recorded.
 * @param forMs for how long at most
 * @throws Problem tenant_not_found, invalid_request
 */
export async function previewErasure(
  services: ErasureServices,
  tenant: string,
  { type, id, contacts: said }: Wanted,
  forMs: number,
): Promise<ErasurePreview> {
  checkEntity({ type, id }, '/params');
  const contacts = [...new Set(said.flatMap((value, i) => [contactOf(value, `/contacts/${i}/value`), value]))];
  const replacement = REPLACEMENT_PREFIX + pseudonymOf(services.encrypter, tenant, id);
  const kept = [...services.rooms.flatMap((room) => room.keeps), ...keptBeside(replacement)];
  const until = services.clock.monotonic() + forMs;
  try {
    await write(services, { tenant }, { locks: 'records' }, async ({ tx }) => {
      const person = { tenant, type, id, isUser: await checkActor(tx, tenant, type), replacement, contacts };
      let removed: Removed = {};
      for (const room of services.rooms) {
        let position: string | undefined;
        do {
          if (services.clock.monotonic() >= until) throw new Counted({ removed, complete: false });
          const some = await room.eraseSome(tx, person, position);
          removed = added(removed, some.removed);
          position = some.next;
        } while (position !== undefined);
      }
      throw new Counted({ removed, complete: true });
    });
  } catch (error) {
    if (error instanceof Counted) return { ...error.preview, kept };
    throw error;
  }
  throw new Error('a preview was not rolled back');
}

type Beginning = {
  tenant: string;
  by: Eraser;
  key: { pseudonym: string; type: string };
  contacts: readonly string[];
  replacement: string;
};

/** @returns whether the actor is a user, when its erasing is under way with these addresses; others write meanwhile */
function goOn(
  services: ErasureServices,
  { tenant, key, contacts }: Beginning,
): Promise<RecordWritten<boolean | undefined>> {
  return write(services, { tenant }, { locks: 'records' }, async ({ tx }) => {
    const isUser = await checkActor(tx, tenant, key.type);
    const before = await lockProgress(tx, tenant, key);
    if (!before) return undefined;
    const known = new Set(contactsIn(services, tenant, key, before));
    return contacts.every((one) => known.has(one)) ? isUser : undefined;
  });
}

/** After it, nothing is written about the person, and questions about it are recorded with the digest. */
function begin(
  services: ErasureServices,
  { tenant, by, key, contacts, replacement }: Beginning,
): Promise<RecordWritten<boolean>> {
  return write(services, { tenant }, { locks: 'erasing' }, async (unit) => {
    const { tx } = unit;
    const isUser = await checkActor(tx, tenant, key.type);
    const before = await lockProgress(tx, tenant, key);
    const known = before ? contactsIn(services, tenant, key, before) : [];
    const all = [...new Set([...known, ...contacts])];
    if (before && all.length === known.length) return isUser;
    if (all.length > 2 * limits.eraseContactsMax) {
      const detail = `An erasure can have at most ${limits.eraseContactsMax} addresses. An erasure of this actor with other addresses is in progress: repeat it until it is complete, then send these addresses.`;
      throw problem('invalid_request', { detail, errors: [{ pointer: '/contacts', detail }] });
    }
    // More addresses than it had: invitations and decisions are looked through again.
    const encrypted = services.encrypter
      .encrypt(Buffer.from(JSON.stringify(all)), placeOf(tenant, key))
      .toString('base64url');
    const progress = { step: 0, removed: before?.removed ?? {}, contacts: encrypted };
    const contactPseudonyms = all.map((contact) => pseudonymOf(services.encrypter, tenant, contact));
    await beginErasing(tx, tenant, { ...key, isUser, now: unit.nowText, progress, contactPseudonyms });
    unit.appendToLedger([entryOf(by, replacement, 'begun', unit.now)]);
    return isUser;
  });
}

const placeOf = (tenant: string, { pseudonym, type }: Erasure['key']) => [
  'erased_actor',
  tenant,
  type,
  pseudonym,
  'contacts',
];

function contactsIn(
  { encrypter }: ErasureServices,
  tenant: string,
  key: Erasure['key'],
  { contacts }: Progress,
): string[] {
  return JSON.parse(encrypter.decrypt(Buffer.from(contacts, 'base64url'), placeOf(tenant, key)).toString()) as string[];
}

/** @returns whether it is a user of consents. @throws Problem tenant_not_found, invalid_request */
async function checkActor(tx: Transaction, tenant: string, type: string): Promise<boolean> {
  const row = await readTenant(tx, tenant);
  if (row === undefined) throw problem('tenant_not_found');
  await checkActorType(tx, tenant, type);
  return row.spec.tokenMapping.defaultActorType === type;
}

/** @throws Problem invalid_request for the type of resources; one that is not there (any more) may have left records */
async function checkActorType(tx: Transaction, tenant: string, type: string): Promise<void> {
  if ((await readEntityType(tx, tenant, type))?.kind !== 'resource') return;
  const detail = `${type} is a resource type. Only actors can be erased; DELETE /{tenant}/resources/{type}/{id} deletes a resource.`;
  throw problem('invalid_request', { detail, errors: [{ pointer: '/params/type', detail }] });
}

function entryOf(
  { actor, clientId, requestId }: Eraser,
  replacement: string,
  outcome: 'begun' | 'erased',
  time: number,
) {
  const client = clientId === undefined ? {} : { clientId };
  return { type: 'erased' as const, actor, ...client, userId: replacement, outcome, requestId, time };
}

/** One portion, counted in the transaction that erases it. @returns no `removed` where another call has ended the erasure */
function eraseSome(
  services: ErasureServices,
  { person, key, by }: Erasure,
): Promise<RecordWritten<{ removed?: Removed; done: boolean }>> {
  const { rooms } = services;
  const { tenant } = person;
  const author = { tenant, by: { actor: by.name, requestId: by.requestId } };
  return write(services, author, { locks: 'records' }, async (unit) => {
    const { tx } = unit;
    const before = await lockProgress(tx, tenant, key);
    if (!before) {
      // Another call has erased the actor, which may have come back since; or the tenant was erased with all its rows.
      if ((await readTenant(tx, tenant)) === undefined) throw problem('tenant_not_found');
      return { done: true };
    }
    const { step, contacts, position } = before;
    const room = rooms[step] as RoomErasing;
    // Another call may have named more addresses since the portion before.
    const whole = { ...person, contacts: contactsIn(services, tenant, key, before) };
    const { removed: some, next } = await room.eraseSome(tx, whole, position);
    const removed = added(before.removed, some);
    const done = next === undefined && step + 1 === rooms.length;
    if (done) {
      await endErasing(tx, tenant, key, unit.nowText);
      recordEnd(unit, { person, by }, removed);
    } else {
      const progress = next === undefined ? { step: step + 1 } : { step, position: next };
      await writeProgress(tx, tenant, key, { ...progress, removed, contacts });
    }
    return { removed, done };
  });
}

function recordEnd(
  unit: AuditedUnit,
  { person: { type, replacement }, by }: Pick<Erasure, 'person' | 'by'>,
  removed: Removed,
): void {
  unit.appendToLedger([entryOf(by, replacement, 'erased', unit.now)]);
  unit.audit({ action: 'erase', kind: 'actor', name: `${type}/${replacement}`, detail: removed });
}

function added(one: Removed, other: Removed): Removed {
  const sum = { ...one };
  for (const [kind, count] of Object.entries(other)) sum[kind] = (sum[kind] ?? 0) + count;
  return sum;
}
