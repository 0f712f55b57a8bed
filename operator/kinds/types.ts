/** ActorType, ResourceType and RelationshipType: their names in the API are fields of the spec. */
import type { ActorTypeManifest, RelationshipTypeManifest, ResourceTypeManifest } from '../../crds/index.ts';
import type { ThingKind } from '../../server/types/index.ts';
import { type Kind, type LooseManifest, tenantRefOf } from './kind.ts';

const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';

function thingKind(kind: ThingKind): Kind<ActorTypeManifest | ResourceTypeManifest> {
  return {
    claims: (manifest) => {
      const tenant = tenantRefOf(manifest);
      const { name } = manifest.spec;
      return tenant !== undefined && isName(name) ? { tenant, name } : undefined;
    },
    find: (rooms, { tenant, name }) => rooms.findThingType(tenant, kind, name),
    put: (rooms, writer, { tenant }, manifest) => rooms.putThingType(writer, tenant, kind, manifest.spec),
    transfer: (rooms, writer, { tenant, name }, to) => rooms.transferThingType(writer, tenant, kind, name, to),
    remove: (rooms, writer, { tenant, name }) => rooms.deleteThingType(writer, tenant, kind, name),
  };
}

export const actorTypeKind = thingKind('actor');
export const resourceTypeKind = thingKind('resource');

export const relationshipTypeKind: Kind<RelationshipTypeManifest> = {
  claims: (manifest: LooseManifest) => {
    const tenant = tenantRefOf(manifest);
    const { from, name, to } = manifest.spec;
    const names = [from, name, to];
    return tenant !== undefined && names.every(isName) ? { tenant, name: names.join(':') } : undefined;
  },
  find: (rooms, { tenant, name }) => rooms.findRelationshipType(tenant, name),
  put: (rooms, writer, { tenant }, manifest, { peers }) =>
    rooms.putRelationshipType(writer, tenant, manifest.spec, peers),
  transfer: (rooms, writer, { tenant, name }, to) => rooms.transferRelationshipType(writer, tenant, name, to),
  remove: (rooms, writer, { tenant, name }) => rooms.deleteRelationshipType(writer, tenant, name),
};
