import { countOfManifests } from '../core/db/owned.ts';
import { parseCidrs } from '../core/outbound/addresses.ts';
import { allEventTypes } from '../room/catalogue.ts';
import { defineRoom } from '../room/room.ts';
import { snapshotRoom } from '../snapshot/index.ts';
import { writesRoom } from '../writes/index.ts';
import { subscriptionEvents } from './events.ts';
import { subscriptionProblem } from './problems.ts';
import { resourceKinds } from './resource-kind.ts';
import { registerSubscriptionRoutes } from './routes.ts';

export const subscriptionsRoom = defineRoom({
  name: 'subscriptions',
  tables: ['event_subscription'],
  create({ config, clock, encrypter, baseUrl, rooms }, use) {
    return {
      ...use(writesRoom),
      ...{ clock, encrypter, baseUrl, types: allEventTypes(rooms), allow: parseCidrs(config.ACCORD_OUTBOUND_ALLOW) },
      waitForRevision: use(snapshotRoom).waitForRevision,
    };
  },
  resourceKinds,
  routes: registerSubscriptionRoutes,
  openapiTag: 'Event subscriptions',
  tenantRows: { countOfManifests: (tx, tenant) => countOfManifests(tx, tenant, 'event_subscription') },
  events: subscriptionEvents,
  problems: subscriptionProblem,
});
