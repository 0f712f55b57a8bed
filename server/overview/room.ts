import { defineRoom } from '../room/room.ts';
import { registerOverviewRoutes } from './routes.ts';

export const overviewRoom = defineRoom({
  name: 'overview',
  tables: [],
  create: ({ config, database, clock }) => ({
    ...{ database, clock },
    callerRequestsPerSecond: config.ACCORD_RATE_LIMIT,
  }),
  routes: registerOverviewRoutes,
  openapiTag: 'Overview',
});
