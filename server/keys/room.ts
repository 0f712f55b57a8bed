import { defineRoom } from '../room/room.ts';
import { snapshotRoom } from '../snapshot/index.ts';
import { ensureKeys, openInstallationKey } from './actions.ts';
import { PublishedKeys } from './published.ts';
import { registerKeyRoutes } from './routes.ts';

export const keysRoom = defineRoom({
  name: 'keys',
  tables: ['signing_key', 'installation_key'],
  /** @throws MasterKeyError when the master key does not open what the database holds */
  async create({ database, encrypter, clock, baseUrl }, use) {
    const installationKey = await openInstallationKey({ database, encrypter });
    const { snapshots } = use(snapshotRoom);
    const published = new PublishedKeys(database);
    snapshots.subscribe({
      channel: 'accord_keys',
      received: (tenant) => published.forget(tenant),
      missed: () => published.forget(),
    });
    return { database, encrypter, clock, baseUrl, installationKey, published };
  },
  routes: registerKeyRoutes,
  openapiTag: 'Authorization server',
  tenantRows: {
    async ensure(services, write) {
      return (await ensureKeys(services, write)) ? { kind: 'key', name: 'access', action: 'create' } : undefined;
    },
  },
});
