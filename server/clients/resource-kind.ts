/** The kind OAuthClient: its clientId is its name in the API. */
import { definitionOf, type OAuthClientManifest } from '../../crds/index.ts';
import { refusalBy } from '../room/manifest-checks.ts';
import { claimOf, type ObjectSecret, type ResourceKind } from '../room/resource-kind.ts';
import { type ClientServices, deleteClient, putClient, transferClient } from './actions.ts';
import { checkClient, isLive, usesSecret } from './rules.ts';
import type { ClientSpec } from './schema.ts';
import { generateSecret } from './secrets.ts';
import { clientNames, loadClients, loadSecrets, readClient } from './store.ts';

const clientKind: ResourceKind<ClientServices, OAuthClientManifest> = {
  definition: definitionOf('OAuthClient'),
  order: 15,
  claims: (manifest) => claimOf(manifest, manifest.spec.clientId),
  find: (clients, { tenant, name }) => clients.database.read(tenant, (tx) => readClient(tx, tenant, name)),
  put(clients, writer, { tenant }, manifest, { values }) {
    const [wanted] = secretsOf(manifest.spec);
    return putClient(clients, writer, tenant, manifest.spec, { secret: wanted && values[wanted.field] });
  },
  objectSecrets: ({ spec }) => secretsOf(spec),
  async conditions({ database, clock }, { tenant, name }) {
    const [row, secrets] = await database.read(tenant, (tx) =>
      Promise.all([readClient(tx, tenant, name), loadSecrets(tx, tenant, name)]),
    );
    if (row === undefined || !usesSecret(row.spec) || secrets.some(isLive(clock.now()))) return [];
    return [{ type: 'SecretAvailable', status: 'False', reason: 'SecretNotFound', message: noSecret }];
  },
  transfer: (clients, writer, { tenant, name }, to) => transferClient(clients, writer, tenant, name, to),
  remove: (clients, writer, { tenant, name }) => deleteClient(clients, writer, tenant, name),
  async exported(tx, { tenant, only }) {
    const rows = await loadClients(tx, tenant, only);
    return rows.map(({ client_id: name, spec, owner }) => {
      const isManifests = spec.secretRef !== undefined || spec.generateSecret !== undefined;
      const isGenerated = usesSecret(spec) && !isManifests;
      const generated = isGenerated ? { generateSecret: { name: `${objectNameOf(name)}-client` } } : {};
      return {
        ...{ name, owner },
        spec: { tenantRef: { name: tenant }, ...spec, ...generated },
        ...(isGenerated ? { comments: ['Its secrets are not exported: applying this generates another one.'] } : {}),
      };
    });
  },
  exportedNames: clientNames,
  checks: {
    acceptance({ spec }, { tenant, before }) {
      return tenant === undefined ? [] : refusalBy(() => checkClient(spec, before.length, tenant));
    },
  },
};

const noSecret =
  'The client has no secret yet and cannot authenticate: its secretRef cannot be read here, or no secret was generated through the Config API.';

function secretsOf({ clientId, secretRef, generateSecret: wanted }: ClientSpec): ObjectSecret[] {
  const key = 'client_secret';
  if (secretRef !== undefined) return [{ name: secretRef.name, field: 'spec.secretRef', key }];
  if (wanted === undefined) return [];
  const generate = () => ({ client_id: clientId, [key]: generateSecret() });
  return [{ name: wanted.name, field: 'spec.generateSecret', key, generate }];
}

/** What RFC 1123 allows of it. */
function objectNameOf(clientId: string): string {
  return (
    clientId
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '') || 'oauth'
  );
}

export const resourceKinds = [clientKind];
