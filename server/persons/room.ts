import { accountsRoom } from '../accounts/index.ts';
import { consentsRoom } from '../consents/index.ts';
import { invitationsRoom } from '../invitations/index.ts';
import { keysRoom } from '../keys/index.ts';
import { linkHook, oidcRoom } from '../oidc/index.ts';
import { defineRoom } from '../room/room.ts';
import { registerPersonRoutes } from './routes.ts';

export const personsRoom = defineRoom({
  name: 'persons',
  tables: [],
  create({ baseUrl, encrypter, portal = {} }, use) {
    const oidc = use(oidcRoom);
    return {
      ...{ baseUrl, encrypter, accounts: use(accountsRoom), keys: use(keysRoom), invitations: use(invitationsRoom) },
      ...{ portal, oidc, consents: use(consentsRoom), linking: linkHook(oidc) },
    };
  },
  routes: registerPersonRoutes,
  openapiTag: 'Accounts',
});
