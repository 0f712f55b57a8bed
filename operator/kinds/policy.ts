/** Policy: compiled and tested by its room before it replaces what serves. */
import type { PolicyManifest } from '../../crds/index.ts';
import { type Kind, tenantRefOf } from './kind.ts';

export const policyKind: Kind<PolicyManifest> = {
  claims: (manifest) => {
    const tenant = tenantRefOf(manifest);
    const { name } = manifest.spec;
    return tenant !== undefined && typeof name === 'string' && name !== '' ? { tenant, name } : undefined;
  },
  find: (rooms, { tenant, name }) => rooms.findPolicy(tenant, name),
  put: (rooms, writer, { tenant }, manifest, { fresh }) =>
    rooms.putPolicy(writer, tenant, manifest.spec, { tests: fresh }),
  transfer: (rooms, writer, { tenant, name }, to) => rooms.transferPolicy(writer, tenant, name, to),
  remove: (rooms, writer, { tenant, name }) => rooms.deletePolicy(writer, tenant, name),
};
