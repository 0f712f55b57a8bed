import { defineRoom } from '../room/room.ts';
import { writesRoom } from '../writes/index.ts';
import { registerPeopleRoutes } from './routes.ts';

export const peopleRoom = defineRoom({
  name: 'people',
  tables: [],
  create({ database, encrypter, clock }, use) {
    return { ...use(writesRoom), database, encrypter, clock };
  },
  routes: registerPeopleRoutes,
  openapiTag: 'People',
});
