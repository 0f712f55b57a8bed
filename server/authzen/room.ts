/** Registers the AuthZEN room. */
import { authzRoom } from '../authz/index.ts';
import { createSealer } from '../core/sealer.ts';
import { defineRoom } from '../room/room.ts';
import { type AuthzenServices, registerAuthzenRoutes } from './routes.ts';

export const authzenRoom = defineRoom({
  name: 'authzen',
  tables: [],
  create({ sealer, baseUrl }, use): AuthzenServices {
    const pageTokens = createSealer(sealer.digest(new Uint8Array(), ['key of page tokens']));
    return { ...use(authzRoom), baseUrl, pageTokens };
  },
  routes: (app, services, { countMore }) => registerAuthzenRoutes(app, services, countMore),
  openapiTag: 'AuthZEN',
});
