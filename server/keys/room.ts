import { defineRoom } from '../room/room.ts';
import { snapshotRoom } from '../snapshot/index.ts';
import { tenantsRoom } from '../tenants/index.ts';
import { ensureKeys, forgetExpiredDenials, openInstallationKey, rotateOldKeys } from './actions.ts';
import { signingKeysCheck } from './doctor.ts';
import { erasingTokens } from './erasing.ts';
import { signingKeyRotated } from './events.ts';
import { keyProblem } from './problems.ts';
import { PublishedKeys } from './published.ts';
import { registerKeyRoutes } from './routes.ts';

const ROTATION_MS = 3_600_000;
/** A server that starts has other work first. */
const FIRST_ROTATION_MS = 60_000;
const SWEEP_MS = 600_000;

export const keysRoom = defineRoom({
  name: 'keys',
  tables: ['denied_token', 'signing_key', 'installation_key'],
  /** @throws MasterKeyError when the master key does not open what the database holds */
  async create({ database, encrypter, clock, baseUrl }, use) {
    const installationKey = await openInstallationKey({ database, encrypter });
    const { snapshots, waitForRevision } = use(snapshotRoom);
    const published = new PublishedKeys(database);
    snapshots.subscribe({
      channel: 'accord_keys',
      received: (tenant) => published.forget(tenant),
      missed: () => published.forget(),
    });
    const { write } = use(tenantsRoom);
    return { database, encrypter, clock, baseUrl, installationKey, published, write, waitForRevision };
  },
  routes: registerKeyRoutes,
  openapiTag: 'Authorization server',
  erasing: () => erasingTokens,
  events: [signingKeyRotated],
  problems: keyProblem,
  doctor: (services) => [signingKeysCheck(services)],
  tasks: (services) => [
    {
      name: 'rotating signing keys',
      ...{ everyMs: ROTATION_MS, firstMs: FIRST_ROTATION_MS },
      run: async () => {
        await rotateOldKeys(services);
        return undefined;
      },
    },
    {
      name: 'forgetting denied tokens that have expired',
      everyMs: SWEEP_MS,
      run: async () => {
        await forgetExpiredDenials(services);
        return undefined;
      },
    },
  ],
  tenantRows: {
    async ensure(services, write) {
      return (await ensureKeys(services, write)) ? { kind: 'key', name: 'access', action: 'create' } : undefined;
    },
  },
});
