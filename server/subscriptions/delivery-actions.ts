/** What people ask of deliveries: sending one again, and testing an endpoint. Each is audited. */
import { randomUUID } from 'node:crypto';
import { authorOf } from '../core/author.ts';
import type { Clock } from '../core/clock.ts';
import { utc } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import type { Writer } from '../core/ownership.ts';
import { type EventRow, readEventsOf } from '../events/index.ts';
import type { EventType } from '../room/events.ts';
import { type WriteServices, write } from '../writes/index.ts';
import { requireSubscription } from './actions.ts';
import { openOnce, readDeliveries } from './delivery-store.ts';
import { touchLane } from './lane-store.ts';
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
    return (await endpoint.send([testEvent(services)], 1, aborted)) as Attempt;
  } finally {
    await endpoint.close();
  }
}

function testEvent({ clock }: DeliveryActionServices): EventRow {
  const at = utc(clock.now());
  const body = { requestor: 'accord', test: true };
  return { sequence: 0, at, time: at, id: randomUUID(), type: 'TEST', key: 'test', body };
}
