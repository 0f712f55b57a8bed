import { allEventTypes } from '../room/catalogue.ts';
import { defineRoom } from '../room/room.ts';
import { eventsCheck } from './doctor.ts';
import { erasingEvents } from './erasing.ts';
import { EventMover } from './mover.ts';
import { eventProblem } from './problems.ts';
import { EventReaders } from './readers.ts';
import { retention } from './retention.ts';
import { registerEventRoutes } from './routes.ts';
import { removeOfTenant } from './store.ts';

/** For what a server that ended has left, and what one that hinted could not move because another did. */
const POLL_MS = 500;

export const eventsRoom = defineRoom({
  name: 'events',
  tables: ['event_inbox', 'event', 'event_counter', 'event_count'],
  create({ database, clock, observe, baseUrl, eventHints, rooms }) {
    const services = { database, clock, observe };
    const readers = new EventReaders(services);
    const mover = new EventMover(services, (tenants) => readers.wake(tenants));
    eventHints.onCommitted(() => mover.hint());
    return { ...services, readers, mover, baseUrl, types: allEventTypes(rooms) };
  },
  routes: registerEventRoutes,
  openapiTag: 'Events',
  tenantRows: { removeAfter: removeOfTenant },
  erasing: () => erasingEvents,
  tasks: (services) => [
    {
      name: 'numbering events',
      everyMs: POLL_MS,
      async run() {
        await services.mover.move();
        return undefined;
      },
    },
    retention(services),
  ],
  doctor: (services) => [eventsCheck(services)],
  problems: eventProblem,
  async close({ mover, readers }) {
    await Promise.all([mover.close(), readers.close()]);
  },
});
