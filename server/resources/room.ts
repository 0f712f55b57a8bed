import { defineRoom } from '../room/room.ts';
import { registerResourceRoutes } from './routes.ts';

export const resourcesRoom = defineRoom({
  name: 'resources',
  // The operator writes them.
  tables: ['resource', 'operator_term'],
  create: ({ database, clock, rooms }) => ({ database, clock, rooms }),
  routes: registerResourceRoutes,
  openapiTag: 'Resources',
});
