import { KeyedSemaphore } from '../core/keyed-semaphore.ts';
import { limits } from '../core/limits.ts';
import { defineRoom } from '../room/room.ts';
import { graphqlProblem } from './problems.ts';
import { registerGraphqlRoutes } from './routes.ts';

const { graphqlPoolMax, graphqlStatementMs } = limits;

export const graphqlRoom = defineRoom({
  name: 'graphql',
  tables: [],
  // Connections of its own, which are opened when they are needed: what members look at holds up nobody's decisions.
  create: ({ database }) => ({
    database: database.separate('graphql', { poolMax: graphqlPoolMax, statementTimeoutMs: graphqlStatementMs }),
    turns: new KeyedSemaphore(graphqlPoolMax / 2),
  }),
  routes: (app, services, { countMore }) => registerGraphqlRoutes(app, services, countMore),
  openapiTag: 'GraphQL',
  problems: graphqlProblem,
  close: ({ database }) => database.close(),
});
