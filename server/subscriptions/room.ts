import { countOfManifests } from '../core/db/owned.ts';
import { utc } from '../core/instants.ts';
import { parseCidrs } from '../core/outbound/addresses.ts';
import { eventsRoom } from '../events/index.ts';
import { allEventTypes } from '../room/catalogue.ts';
import { newEvent } from '../room/events.ts';
import { type BaseServices, defineRoom, lateBound, type Use } from '../room/room.ts';
import { snapshotRoom } from '../snapshot/index.ts';
import { writesRoom } from '../writes/index.ts';
import { bodyOf } from './bodies.ts';
import { registerDeliveryRoutes } from './delivery-routes.ts';
import { removeAttempts } from './delivery-store.ts';
import { subscriptionsCheck } from './doctor.ts';
import { subscriptionDisabled, subscriptionEvents, subscriptionRecovered } from './events.ts';
import { erasingDeliveries } from './lanes/erasing.ts';
import { type Configured, createDeliveries, type Deliveries } from './lanes/index.ts';
import { subscriptionProblem } from './problems.ts';
import { registerReplayRoutes } from './replay-routes.ts';
import { resourceKinds } from './resource-kind.ts';
import { registerSubscriptionRoutes } from './routes.ts';
import type { DeliverySettings, EntityTypes } from './schema.ts';
import { deliverySettings, type SettingsServices } from './settings.ts';

export const subscriptionsRoom = defineRoom({
  name: 'subscriptions',
  tables: ['event_subscription', 'event_lane', 'delivery_open', 'delivery_attempt', 'event_replay'],
  create(base, use) {
    const { config, clock, encrypter, baseUrl, rooms, outbound } = base;
    const types = allEventTypes(rooms);
    const configured = configuredBy({ clock, encrypter, baseUrl, types });
    const deliveries = deliveriesOf(base, use, configured);
    if (base.writesOnly === undefined) followConfiguration(base, use, deliveries);
    const { waitForRevision: served } = use(snapshotRoom);
    const entityTypes = lateBound<() => EntityTypes>('the types of actors and resources');
    return {
      ...use(writesRoom),
      ...{ clock, encrypter, baseUrl, outbound, types, allow: parseCidrs(config.ACCORD_OUTBOUND_ALLOW) },
      ...{ configured: configured as unknown as Configured, deliveries },
      ...{ entityTypes: entityTypes.call, provideEntityTypes: entityTypes.provide },
      hint: (tenant: string) => deliveries.lanes.hint([tenant]),
      // An answer says that pausing counts: what is being sent here has heard of it before.
      async waitForRevision(tenant: string, revision: number): Promise<void> {
        await Promise.all([served(tenant, revision), deliveries.configChanged(tenant)]);
      },
    };
  },
  resourceKinds,
  routes(app, services) {
    registerSubscriptionRoutes(app, services);
    registerDeliveryRoutes(app, services);
    registerReplayRoutes(app, services);
  },
  openapiTag: 'Event subscriptions',
  tenantRows: {
    countOfManifests: (tx, tenant) => countOfManifests(tx, tenant, 'event_subscription'),
    removeAfter: removeAttempts,
  },
  erasing: () => erasingDeliveries,
  doctor: ({ database }) => [subscriptionsCheck({ database })],
  tasks: ({ deliveries }) => deliveries.tasks,
  events: subscriptionEvents,
  problems: subscriptionProblem,
  close: ({ deliveries }) => deliveries.close(),
});

function deliveriesOf(
  { database, clock, observe, outbound, baseUrl, server, eventHints }: BaseServices,
  use: Use,
  configured: Configured<DeliverySettings>,
) {
  const { readers } = use(eventsRoom);
  return createDeliveries({ database, clock, observe, outbound, baseUrl, server, eventHints, readers }, configured);
}

/** Pausing counts at once, on whichever server the lane is: the notification says `tenant:revision`. */
function followConfiguration({ observe }: BaseServices, use: Use, { configChanged }: Deliveries): void {
  use(snapshotRoom).snapshots.subscribe({
    channel: 'accord_config',
    received(payload) {
      const tenant = payload.slice(0, payload.lastIndexOf(':'));
      configChanged(tenant).catch((error) =>
        observe({ kind: 'background_failed', task: 'changed subscriptions', error }),
      );
    },
    // What was missed is seen before the next event is sent.
    missed() {},
  });
}

/** What lanes deliver by. */
function configuredBy(services: SettingsServices): Configured<DeliverySettings> {
  const about = ({ endpoint, since }: { endpoint: string; since: string | undefined }, subscription: string) => ({
    ...{ requestor: 'system', subscription, endpoint },
    failingSince: since ?? utc(services.clock.now()),
  });
  return {
    settingsOf: (tx, tenant, id) => deliverySettings(services, tx, tenant, id),
    bodyOf,
    disabled: (tenant, id, why) =>
      newEvent(subscriptionDisabled, tenant, services.clock.now(), { ...about(why, id), reason: why.reason }),
    recovered: (tenant, id, why) => newEvent(subscriptionRecovered, tenant, services.clock.now(), about(why, id)),
  };
}
