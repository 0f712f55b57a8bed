/** The kind TrustedIssuer: its object name is its name in the API. */
import type { IssuerManifest } from '../../crds/index.ts';
import { claimOf, type ResourceKind } from '../room/resource-kind.ts';
import { deleteIssuer, type IssuerServices, putIssuer, transferIssuer } from './actions.ts';
import { loadIssuers } from './store.ts';

const issuerKind: ResourceKind<IssuerServices, IssuerManifest> = {
  kind: 'TrustedIssuer',
  plural: 'trustedissuers',
  order: 10,
  claims: (manifest) => claimOf(manifest, manifest.metadata.name),
  find: async (issuers, { tenant, name }) => {
    const rows = await issuers.database.read(tenant, (tx) => loadIssuers(tx, tenant));
    return rows.find((row) => row.name === name);
  },
  put: (issuers, writer, { tenant, name }, manifest) => putIssuer(issuers, writer, tenant, name, manifest.spec),
  transfer: (issuers, writer, { tenant, name }, to) => transferIssuer(issuers, writer, tenant, name, to),
  remove: (issuers, writer, { tenant, name }) => deleteIssuer(issuers, writer, tenant, name),
};

export const resourceKinds = [issuerKind];
