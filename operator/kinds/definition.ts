/** ConsentDefinition: its name in the API is a field of the spec, and its status says what time has made of it. */
import { bounds, type ConsentDefinitionManifest } from '../../crds/index.ts';
import { type Kind, tenantRefOf } from './kind.ts';

export const definitionKind: Kind<ConsentDefinitionManifest> = {
  claims: (manifest) => {
    const tenant = tenantRefOf(manifest);
    const { name } = manifest.spec;
    return tenant !== undefined && typeof name === 'string' && name !== '' ? { tenant, name } : undefined;
  },
  find: (rooms, { tenant, name }) => rooms.findDefinition(tenant, name),
  put: (rooms, writer, { tenant }, manifest) => rooms.putDefinition(writer, tenant, manifest.spec),
  transfer: (rooms, writer, { tenant, name }, to) => rooms.transferDefinition(writer, tenant, name, to),
  remove: (rooms, writer, { tenant, name }) => rooms.archiveDefinition(writer, tenant, name),
  describe: async (rooms, { tenant, name }) => {
    const state = (await rooms.findDefinition(tenant, name))?.state;
    return state && { ...state, active: state.active.slice(0, bounds.consentActiveMax) };
  },
};
