/**
 * A process that numbers events and delivers them to ENDPOINT, as a server does, without what else a server does: it starts in less
 * time, so that it can be killed more often. Tells its parent when it works.
 */
import { systemClock as clock } from '../../server/core/clock.ts';
import { Database } from '../../server/core/db/database.ts';
import { createOutbound } from '../../server/core/outbound/outbound.ts';
import { cloudEvent } from '../../server/events/envelope.ts';
import { EventMover } from '../../server/events/mover.ts';
import { EventReaders } from '../../server/events/readers.ts';
import { EventHints, type NewEvent } from '../../server/room/events.ts';
import { runTasks } from '../../server/room/tasks.ts';
import { createDeliveries } from '../../server/subscriptions/lanes/index.ts';

type Given = { DATABASE_URL: string; ENDPOINT: string; SERVER: string };
const { DATABASE_URL: url, ENDPOINT: endpoint, SERVER: server } = process.env as Given;
const observe = () => {};
const database = new Database({ url, poolMax: 4, applicationName: 'killed', observe });
const readers = new EventReaders({ database, observe });
const mover = new EventMover({ database, clock, observe }, (tenants) => readers.wake(tenants));
const outbound = createOutbound({ allow: '127.0.0.0/8', ownListeners: () => [] });
const eventOf = (tenant: string, id: string, type: string): NewEvent => {
  return { tenant, type, time: clock.now(), key: `subscription/${id}`, data: { requestor: 'system' } };
};
const deliveries = createDeliveries(
  {
    ...{ database, clock, observe, outbound, readers, server },
    ...{ eventHints: new EventHints(), baseUrl: 'https://accord.test' },
  },
  {
    settingsOf: async (_tx, tenant) => ({
      ...{ endpoint: `${endpoint}/${tenant}`, enabled: true, types: new Set(['NOTE']), matches: () => true },
      ...{ batch: false, maxPerSecond: 1000, numberOfRetries: 9, auth: { type: 'none' as const } },
      signingSecrets: [`whsec_${Buffer.alloc(32, 1).toString('base64')}`],
    }),
    bodyOf: (_settings, [event]) => ({
      contentType: 'application/cloudevents+json',
      text: JSON.stringify(cloudEvent('https://accord.test', event as NonNullable<typeof event>)),
    }),
    disabled: (tenant, id) => eventOf(tenant, id, 'SUBSCRIPTION_DISABLED'),
    recovered: (tenant, id) => eventOf(tenant, id, 'SUBSCRIPTION_RECOVERED'),
  },
);
const [delivering] = deliveries.tasks as [(typeof deliveries.tasks)[0]];
const numbering = { name: 'numbering events', everyMs: 100, run: () => mover.move().then(() => undefined) };
runTasks([delivering, numbering], observe);
process.on('disconnect', () => process.exit());
process.send?.('works');
