import { countOfManifests } from '../core/db/owned.ts';
import { defineRoom } from '../room/room.ts';
import { byTenant, snapshotPart, type TenantHead } from '../room/tenant-snapshot.ts';
import { snapshotRoom } from '../snapshot/index.ts';
import { writesRoom } from '../writes/index.ts';
import { clientProblem } from './problems.ts';
import { resourceKinds } from './resource-kind.ts';
import { registerClientRoutes } from './routes.ts';
import { clientOf } from './rules.ts';
import type { ClientRow, Clients, SecretRow } from './schema.ts';
import { loadClients, loadSecrets, readClient } from './store.ts';

declare module '../room/tenant-snapshot.ts' {
  interface SnapshotFields {
    clients: Clients;
  }
}

export const clientsRoom = defineRoom({
  name: 'clients',
  tables: ['oauth_client_secret', 'oauth_client'],
  create({ encrypter }, use) {
    return { ...use(writesRoom), encrypter, waitForRevision: use(snapshotRoom).waitForRevision };
  },
  resourceKinds,
  routes: registerClientRoutes,
  openapiTag: 'Clients',
  snapshot: snapshotPart({
    key: 'clients',
    kinds: ['tenant', 'oauth_client'],
    async loadAll(tx) {
      const clients = byTenant(await loadClients(tx));
      const secrets = byTenant(await loadSecrets(tx));
      return (head) => clientsOf(head, clients(head.tenant), secrets(head.tenant));
    },
    async load(tx, head) {
      const [clients, secrets] = await Promise.all([loadClients(tx, head.tenant), loadSecrets(tx, head.tenant)]);
      return clientsOf(head, clients, secrets);
    },
    view: (clients) => ({ clients: [...clients.keys()] }),
  }),
  tenantRows: {
    /** @throws Problem client_id_is_audience when an audience that is added is a client's id */
    async ensure(_services, { tx, tenant, spec }) {
      for (const audience of spec.audiences) {
        if ((await readClient(tx, tenant, audience)) === undefined) continue;
        throw clientProblem('client_id_is_audience', {
          errors: [{ pointer: '/audiences', detail: `${audience} is the id of a client` }],
        });
      }
      return undefined;
    },
    countOfManifests: (tx, tenant) => countOfManifests(tx, tenant, 'oauth_client'),
  },
  problems: clientProblem,
});

function clientsOf({ spec }: TenantHead, clients: readonly ClientRow[], secrets: readonly SecretRow[]): Clients {
  const of = Map.groupBy(secrets, ({ client_id: id }) => id);
  return new Map(clients.map((row) => [row.client_id, clientOf(row, of.get(row.client_id) ?? [], spec)]));
}
