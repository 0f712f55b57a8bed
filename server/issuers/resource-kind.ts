/** The kind TrustedIssuer: its object name is its name in the API. Its status says whether servers have its keys. */
import { definitionOf, type IssuerManifest } from '../../crds/index.ts';
import { refusalBy } from '../room/manifest-checks.ts';
import { claimOf, type ResourceKind } from '../room/resource-kind.ts';
import { deleteIssuer, type IssuerServices, putIssuer, transferIssuer } from './actions.ts';
import { keysCondition, keysReadWithin } from './key-condition.ts';
import { checkIssuer, exportedIssuer } from './rules.ts';
import { loadIssuers } from './store.ts';

/** No issuer can be at this address (RFC 2606): nobody knows offline at which one the installation will be. */
const NO_ADDRESS = 'https://installation.invalid';

const LOGIN_SECRET = 'spec.login.secretRef';

const issuerKind: ResourceKind<IssuerServices, IssuerManifest> = {
  definition: definitionOf('TrustedIssuer'),
  order: 10,
  claims: (manifest) => claimOf(manifest, manifest.metadata.name),
  find: async (issuers, { tenant, name }) => {
    const rows = await issuers.database.read(tenant, (tx) => loadIssuers(tx, tenant));
    return rows.find((row) => row.name === name);
  },
  put: (issuers, writer, { tenant, name }, manifest, { values }) =>
    putIssuer(issuers, writer, tenant, name, manifest.spec, { loginSecret: values[LOGIN_SECRET] }),
  objectSecrets: ({ spec: { login } }) =>
    login?.secretRef === undefined ? [] : [{ name: login.secretRef.name, field: LOGIN_SECRET, key: 'client_secret' }],
  conditions: async (issuers, claim, options) => [await keysCondition(issuers, claim, options)],
  conditionsChanged: keysReadWithin,
  transfer: (issuers, writer, { tenant, name }, to) => transferIssuer(issuers, writer, tenant, name, to),
  remove: (issuers, writer, { tenant, name }) => deleteIssuer(issuers, writer, tenant, name),
  async exported(tx, { tenant, only }) {
    const rows = await loadIssuers(tx, tenant, only);
    return rows.map(({ name, spec: stored, owner }) => {
      const { spec, ...more } = exportedIssuer(name, stored);
      return {
        ...{ name, isObjectName: true as const, owner },
        ...more,
        spec: { tenantRef: { name: tenant }, ...spec },
      };
    });
  },
  checks: {
    unique: ({ spec }) => ({
      value: spec.issuer,
      message: 'the tenant already trusts this issuer by the manifest in',
    }),
    /** One of the same name or the same issuer is told of as a duplicate. */
    acceptance({ spec, metadata }, { tenant, before }) {
      if (tenant === undefined) return [];
      const rows = before
        .filter((other) => other.spec.issuer !== spec.issuer && other.metadata.name !== metadata.name)
        .map((other) => ({ name: other.metadata.name, spec: other.spec }));
      return refusalBy(() => checkIssuer(spec, rows, tenant, NO_ADDRESS));
    },
  },
};

export const resourceKinds = [issuerKind];
