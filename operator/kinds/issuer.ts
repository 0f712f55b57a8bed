/** TrustedIssuer: its object name is its name in the API. */
import type { IssuerManifest } from '../../crds/index.ts';
import { type Kind, tenantRefOf } from './kind.ts';

export const issuerKind: Kind<IssuerManifest> = {
  claims: (manifest) => {
    const tenant = tenantRefOf(manifest);
    return tenant === undefined ? undefined : { tenant, name: manifest.metadata.name };
  },
  find: (rooms, { tenant, name }) => rooms.findIssuer(tenant, name),
  put: (rooms, writer, { tenant, name }, manifest) => rooms.putIssuer(writer, tenant, name, manifest.spec),
  transfer: (rooms, writer, { tenant, name }, to) => rooms.transferIssuer(writer, tenant, name, to),
  remove: (rooms, writer, { tenant, name }) => rooms.deleteIssuer(writer, tenant, name),
};
