import { authzRoom } from '../authz/index.ts';
import { createEncrypter } from '../core/encrypter.ts';
import { defineRoom } from '../room/room.ts';
import { type AuthzenServices, registerAuthzenRoutes } from './routes.ts';

export const authzenRoom = defineRoom({
  name: 'authzen',
  tables: [],
  create({ encrypter, baseUrl }, use): AuthzenServices {
    const pageTokens = createEncrypter(encrypter.digest(new Uint8Array(), ['key of page tokens']));
    return { ...use(authzRoom), baseUrl, pageTokens };
  },
  routes: (app, services, { countMore }) => registerAuthzenRoutes(app, services, countMore),
  openapiTag: 'AuthZEN',
});
