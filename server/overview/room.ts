import { defineRoom } from '../room/room.ts';
import { registerOverviewRoutes } from './routes.ts';

export const overviewRoom = defineRoom({
  name: 'overview',
  tables: [],
  create: ({ database, clock }) => ({ database, clock }),
  routes: registerOverviewRoutes,
  openapiTag: 'Overview',
});
