/** Replays: sending many events again, and ending that. Each is audited. */
import { randomUUID } from 'node:crypto';
import { authorOf } from '../core/author.ts';
import type { Transaction } from '../core/db/database.ts';
import { utc } from '../core/instants.ts';
import type { Writer } from '../core/ownership.ts';
import { problem } from '../core/problems.ts';
import { lastEventBefore, readCounter, typesNamed } from '../events/index.ts';
import { type RecordWritten, write } from '../writes/index.ts';
import { requireSubscription } from './actions.ts';
import type { DeliveryActionServices } from './delivery-actions.ts';
import { touchLane } from './lane-store.ts';
import { subscriptionProblem } from './problems.ts';
import { endReplay, insertReplay, type ReplayRow, readReplay } from './replay-store.ts';

type ReplayAsked = {
  since?: string;
  until?: string;
  fromSequence?: number;
  toSequence?: number;
  eventTypes?: readonly string[];
  failedOnly?: boolean;
};

/**
 * Sends events of a range again, beside the live ones.
 * @throws Problem subscription_not_found, replay_running, invalid_request
 */
export async function startReplay(
  services: DeliveryActionServices,
  writer: Writer,
  tenant: string,
  id: string,
  asked: ReplayAsked,
): Promise<RecordWritten<ReplayRow>> {
  if ((asked.since === undefined) === (asked.fromSequence === undefined)) {
    throw problem('invalid_request', { detail: 'The body needs one of since and fromSequence.' });
  }
  requireForward(asked);
  const types = asked.eventTypes && typesNamed(asked.eventTypes, [...services.types.keys()], '/eventTypes');
  const written = await write(services, authorOf(tenant, writer), { locks: 'records' }, async (unit) => {
    await requireSubscription(unit.tx, tenant, id);
    const range = await rangeOf(unit.tx, tenant, asked);
    const at = utc(services.clock.now());
    const one = { id: randomUUID(), ...range, types, failedOnly: asked.failedOnly === true, at };
    const row = await insertReplay(unit.tx, { tenant, id }, one);
    if (row === undefined) throw subscriptionProblem('replay_running');
    await touchLane(unit.tx, { tenant, id });
    unit.audit({ kind: 'event_subscription', name: id, action: 'replay', detail: { ...asked } });
    return row;
  });
  services.hint(tenant);
  return written;
}

/** A range that ends before it begins is a slip: it would be answered as started, and send nothing. @throws Problem invalid_request */
function requireForward({ since, until, fromSequence, toSequence }: ReplayAsked): void {
  const refuse = (pointer: string, detail: string) => {
    throw problem('invalid_request', { detail: `${pointer}: ${detail}`, errors: [{ pointer, detail }] });
  };
  if (fromSequence !== undefined && toSequence !== undefined && toSequence < fromSequence)
    refuse('/toSequence', 'Must not be less than fromSequence.');
  if (since !== undefined && until !== undefined && utc(until) <= utc(since))
    refuse('/until', 'Must be later than since.');
}

async function rangeOf(tx: Transaction, tenant: string, { since, until, fromSequence, toSequence }: ReplayAsked) {
  const counter = await readCounter(tx, tenant);
  const first = since === undefined ? (fromSequence as number) - 1 : await lastEventBefore(tx, tenant, utc(since));
  const end = until === undefined ? counter.last : await lastEventBefore(tx, tenant, utc(until));
  return { cursor: Math.max(first, counter.removed), last: Math.min(end, toSequence ?? counter.last) };
}

/**
 * Ends a replay. What is on its way to the endpoint goes on; one that has ended stays as it is.
 * @throws Problem subscription_not_found, replay_not_found
 */
export async function cancelReplay(
  services: DeliveryActionServices,
  writer: Writer,
  tenant: string,
  { id, replay }: { id: string; replay: string },
): Promise<ReplayRow> {
  const { result } = await write(services, authorOf(tenant, writer), { locks: 'records' }, async (unit) => {
    const { tx } = unit;
    await requireSubscription(tx, tenant, id);
    const isEnded = await endReplay(tx, { tenant, id }, replay, utc(services.clock.now()));
    if (isEnded) {
      await touchLane(tx, { tenant, id });
      unit.audit({ kind: 'event_subscription', name: id, action: 'cancel_replay', detail: { replayId: replay } });
    }
    return requireReplay(tx, tenant, { id, replay });
  });
  services.hint(tenant);
  return result;
}

/** @throws Problem replay_not_found */
export async function requireReplay(
  tx: Transaction,
  tenant: string,
  { id, replay }: { id: string; replay: string },
): Promise<ReplayRow> {
  const row = await readReplay(tx, { tenant, id }, replay);
  if (row === undefined) throw subscriptionProblem('replay_not_found');
  return row;
}
