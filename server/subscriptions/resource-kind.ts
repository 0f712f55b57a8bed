/** The kind EventSubscription: its object name is its id in the API. */
import { definitionOf, type EventSubscriptionManifest } from '../../crds/index.ts';
import { refusalBy } from '../room/manifest-checks.ts';
import { claimOf, type KindCondition, type ObjectSecret, type ResourceKind } from '../room/resource-kind.ts';
import { tenantsOfChangedTypes } from '../tenants/index.ts';
import {
  deleteSubscription,
  putSubscription,
  type SubscriptionServices,
  transferSubscription,
  warningsOf,
} from './actions.ts';
import type { Warning } from './filters.ts';
import { checkSubscription } from './rules.ts';
import type { SubscriptionSpec } from './schema.ts';
import { generateSigningSecret } from './secrets.ts';
import { deliverySettings, type SettingsServices } from './settings.ts';
import { filteredOf, loadSubscriptions, readSubscription } from './store.ts';

const AUTH_SECRET = 'spec.auth.secretRef';
const authKeys = { bearer: 'token', basic: 'password', oauth2: 'client_secret' } as const;
const KEY = 'signing_secret';

type KindServices = SubscriptionServices & SettingsServices;

const subscriptionKind: ResourceKind<KindServices, EventSubscriptionManifest> = {
  definition: definitionOf('EventSubscription'),
  order: 70,
  claims: (manifest) => claimOf(manifest, manifest.metadata.name),
  find: (services, { tenant, name }) => services.database.read(tenant, (tx) => readSubscription(tx, tenant, name)),
  put(services, writer, { tenant, name }, manifest, { values }) {
    const [signing] = signingSecretOf(name, manifest.spec).map(({ field }) => values[field]);
    return putSubscription(services, writer, tenant, name, manifest.spec, {
      secrets: { signing, auth: values[AUTH_SECRET] },
    });
  },
  objectSecrets: ({ metadata, spec }) => [...signingSecretOf(metadata.name, spec), ...authSecretOf(spec)],
  async conditions(services, { tenant, name }) {
    const settings = await services.database.read(tenant, (tx) => deliverySettings(services, tx, tenant, name));
    const row = await services.database.read(tenant, (tx) => readSubscription(tx, tenant, name));
    if (settings === undefined || row === undefined) return [];
    const warnings = await services.database.read(tenant, (tx) => warningsOf(services, tx, tenant, row.spec));
    const isSecretMissing = !settings.enabled && !row.spec.paused;
    return [...(isSecretMissing ? [secretMissing] : []), ...filtersKnown(row.spec, warnings)];
  },
  async conditionsChanged({ database }, withinMs) {
    const tenants = await database.system((tx) => tenantsOfChangedTypes(tx, withinMs));
    return tenants.length === 0 ? [] : database.system((tx) => filteredOf(tx, tenants));
  },
  transfer: (services, writer, { tenant, name }, to) => transferSubscription(services, writer, tenant, name, to),
  remove: (services, writer, { tenant, name }) => deleteSubscription(services, writer, tenant, name),
  async exported(tx, { tenant, only }) {
    const rows = await loadSubscriptions(tx, tenant, only);
    return rows.map(({ id: name, spec, owner }) => {
      const { auth, ...rest } = spec;
      const isManifests = spec.secretRef !== undefined || spec.generateSecret !== undefined;
      const needsSecret = auth !== undefined && auth.type !== 'none' && auth.secretRef === undefined;
      const comments = [
        ...(isManifests ? [] : ['Its signing secret is not exported: applying this generates another one.']),
        ...(needsSecret
          ? [`The Secret ${name}-auth needs the key ${authKeys[auth.type as keyof typeof authKeys]}.`]
          : []),
      ];
      return {
        ...{ name, isObjectName: true as const, owner },
        spec: {
          ...{ tenantRef: { name: tenant }, ...rest },
          ...(auth === undefined
            ? {}
            : { auth: needsSecret ? { ...auth, secretRef: { name: `${name}-auth` } } : auth }),
          ...(isManifests ? {} : { generateSecret: { name: `${name}-signing` } }),
        },
        ...(comments.length === 0 ? {} : { comments }),
      };
    });
  },
  checks: {
    acceptance: ({ spec }, { before }) =>
      // Which types there are, and which addresses are allowed, the installation knows.
      refusalBy(() => checkSubscription(spec, { types: undefined, allow: undefined }, before.length)),
  },
};

const secretMissing: KindCondition = {
  ...{ type: 'SecretAvailable', status: 'False', reason: 'SecretNotFound' },
  message: 'Nothing is sent: a secret of the subscription cannot be read here, or none was generated.',
};

/** Types may come after the subscription, in whatever order manifests are applied: it is stored, and its status says what it lacks. */
function filtersKnown({ filters }: SubscriptionSpec, warnings: readonly Warning[]): KindCondition[] {
  if (filters === undefined) return [];
  const details = warnings.map(({ pointer, detail }) => `/spec${pointer}: ${detail}`).join(' ');
  const is = { type: 'FiltersKnown', isEvent: true } as const;
  if (warnings.length > 0) return [{ ...is, status: 'False', reason: 'TypeNotFound', message: details }];
  return [{ ...is, status: 'True', reason: 'TypesFound', message: 'The tenant has the types of the filters.' }];
}

function signingSecretOf(name: string, { secretRef, generateSecret: wanted }: SubscriptionSpec): ObjectSecret[] {
  if (secretRef !== undefined) return [{ name: secretRef.name, field: 'spec.secretRef', key: KEY }];
  if (wanted === undefined) return [];
  const generate = () => ({ subscription: name, [KEY]: generateSigningSecret() });
  return [{ name: wanted.name, field: 'spec.generateSecret', key: KEY, generate }];
}

function authSecretOf({ auth }: SubscriptionSpec): ObjectSecret[] {
  if (auth?.secretRef === undefined || auth.type === 'none') return [];
  return [{ name: auth.secretRef.name, field: AUTH_SECRET, key: authKeys[auth.type] }];
}

export const resourceKinds = [subscriptionKind];
