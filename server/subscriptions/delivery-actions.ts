/** What people ask of deliveries: sending one again, replaying many, and testing an endpoint. Each is audited. */
import { randomUUID } from 'node:crypto';
import { authorOf } from '../core/author.ts';
import type { Clock } from '../core/clock.ts';
import type { Transaction } from '../core/db/database.ts';
import { utc } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import type { Writer } from '../core/ownership.ts';
import { problem } from '../core/problems.ts';
import { type EventRow, lastEventBefore, readCounter, readEventsOf, typesNamed } from '../events/index.ts';
import type { EventType } from '../room/events.ts';
import { type RecordWritten, type WriteServices, write } from '../writes/index.ts';
import { requireSubscription } from './actions.ts';
import { openOnce, readDeliveries } from './delivery-store.ts';
import { insertReplay, type ReplayRow, touchLane } from './lane-store.ts';
import { type Attempt, Endpoint, type EndpointServices } from './lanes/endpoint.ts';
import { type Configured, ONCE } from './lanes/index.ts';
import { subscriptionProblem } from './problems.ts';

export type DeliveryActionServices = WriteServices &
  EndpointServices & {
    clock: Clock;
    types: ReadonlyMap<string, EventType>;
    configured: Configured;
    /** Tells the lanes of this server. */
    hint(tenant: string): void;
  };

/**
 * Sends an event to the endpoint once more, soon.
 * @throws Problem subscription_not_found; delivery_not_found, also when the event is no longer kept
 */
export async function retryDelivery(
  services: DeliveryActionServices,
  writer: Writer,
  tenant: string,
  { id, sequence }: { id: string; sequence: number },
): Promise<void> {
  await write(services, authorOf(tenant, writer), { locks: 'records' }, async (unit) => {
    const { tx } = unit;
    await requireSubscription(tx, tenant, id);
    const [found] = await readDeliveries(tx, { tenant, id }, [sequence]);
    const [event] = await readEventsOf(tx, tenant, [sequence]);
    if (found === undefined || event === undefined) throw subscriptionProblem('delivery_not_found');
    await openOnce(tx, { tenant, id }, sequence, event.at, ONCE);
    await touchLane(tx, { tenant, id });
    unit.audit({ kind: 'event_subscription', name: id, action: 'retry', detail: { sequence } });
  });
  services.hint(tenant);
}

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
 * Sends one event of the example of a type, which is in no log, and waits for what the endpoint answers.
 * @throws Problem subscription_not_found; endpoint_secret_missing
 */
export async function testEndpoint(
  services: DeliveryActionServices,
  writer: Writer,
  tenant: string,
  id: string,
): Promise<Attempt> {
  await write(services, authorOf(tenant, writer), { locks: 'records' }, async (unit) => {
    await requireSubscription(unit.tx, tenant, id);
    unit.audit({ kind: 'event_subscription', name: id, action: 'test' });
  });
  const settings = await services.database.read(tenant, (tx) => services.configured.settingsOf(tx, tenant, id));
  if (settings === undefined) throw subscriptionProblem('subscription_not_found');
  if (settings.signingSecrets.length === 0) throw subscriptionProblem('endpoint_secret_missing');
  const endpoint = new Endpoint(services, services.configured, tenant, settings);
  try {
    const aborted = AbortSignal.timeout(limits.deliveryTimeoutMs * 2);
    return await endpoint.send([testEvent(services)], 1, aborted);
  } finally {
    await endpoint.close();
  }
}

function testEvent({ clock }: DeliveryActionServices): EventRow {
  const at = utc(clock.now());
  const body = { requestor: 'accord', test: true };
  return { sequence: 0, at, time: at, id: randomUUID(), type: 'TEST', key: 'test', body };
}
