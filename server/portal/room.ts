import { accountsRoom } from '../accounts/index.ts';
import { clientsRoom } from '../clients/index.ts';
import { hasGuide } from '../http/guide.ts';
import { keysRoom } from '../keys/index.ts';
import { membersRoom } from '../members/index.ts';
import { oidcRoom } from '../oidc/index.ts';
import { defineRoom } from '../room/room.ts';
import { snapshotRoom } from '../snapshot/index.ts';
import { tenantsRoom } from '../tenants/index.ts';
import { registerPortalRoutes } from './routes.ts';
import { ensurePortalTenant } from './tenant.ts';

const CHECK_MS = 3_600_000;

export const portalRoom = defineRoom({
  name: 'portal',
  tables: ['page_session', 'portal_membership', 'portal_log_in_link'],
  create({ baseUrl, encrypter, config, portal = {} }, use) {
    return {
      ...{ portal, environment: config.ACCORD_ENVIRONMENT, hasGuide: hasGuide(baseUrl) },
      ...{ baseUrl, encrypter, accounts: use(accountsRoom), keys: use(keysRoom), members: use(membersRoom) },
      ...{
        tenants: use(tenantsRoom),
        clients: use(clientsRoom),
        oidc: use(oidcRoom),
        snapshots: use(snapshotRoom).snapshots,
      },
    };
  },
  routes: registerPortalRoutes,
  openapiTag: 'Portal',
  tasks: (services) => [
    {
      name: 'portal tenant',
      everyMs: CHECK_MS,
      async run() {
        await ensurePortalTenant(services);
        return undefined;
      },
    },
  ],
});
