/** The kinds ActorType, ResourceType and RelationshipType: their names in the API are fields of the spec. */
import type { ActorTypeManifest, RelationshipTypeManifest, ResourceTypeManifest } from '../../crds/index.ts';
import { claimOf, type ResourceKind } from '../room/resource-kind.ts';
import {
  deleteEntityType,
  deleteRelationshipType,
  putEntityType,
  putRelationshipType,
  type TypeServices,
  transferEntityType,
  transferRelationshipType,
} from './actions.ts';
import { entityTypeOfManifest, parseTypeKey, relationshipTypeOfManifest, typeKeyOf } from './rules.ts';
import type { EntityKind } from './schema.ts';
import { loadEntityTypes, loadRelationshipTypes } from './store.ts';

function entityKind<Of extends ActorTypeManifest | ResourceTypeManifest>(
  entity: EntityKind,
  about: Pick<ResourceKind<TypeServices, Of>, 'kind' | 'plural' | 'order'>,
): ResourceKind<TypeServices, Of> {
  return {
    ...about,
    claims: (manifest) => claimOf(manifest, manifest.spec.name),
    find: async (types, { tenant, name }) => {
      const rows = await types.database.read(tenant, (tx) => loadEntityTypes(tx, tenant, entity));
      return rows.find((row) => row.name === name);
    },
    put: (types, writer, { tenant }, { spec }) =>
      putEntityType(types, writer, tenant, { kind: entity, name: spec.name, spec: entityTypeOfManifest(spec) }),
    transfer: (types, writer, { tenant, name }, to) =>
      transferEntityType(types, writer, tenant, { kind: entity, name }, to),
    remove: (types, writer, { tenant, name }) => deleteEntityType(types, writer, tenant, { kind: entity, name }),
  };
}

const actorTypeKind = entityKind<ActorTypeManifest>('actor', { kind: 'ActorType', plural: 'actortypes', order: 20 });

const resourceTypeKind = entityKind<ResourceTypeManifest>('resource', {
  ...{ kind: 'ResourceType', plural: 'resourcetypes', order: 30 },
});

const relationshipTypeKind: ResourceKind<TypeServices, RelationshipTypeManifest> = {
  kind: 'RelationshipType',
  plural: 'relationshiptypes',
  order: 40,
  claims: (manifest) => claimOf(manifest, manifest.spec.from, manifest.spec.name, manifest.spec.to),
  // One that is retired is not there.
  find: async (types, { tenant, name }) => {
    const rows = await types.database.read(tenant, (tx) => loadRelationshipTypes(tx, tenant));
    return rows.find(
      (row) => !row.retired && typeKeyOf({ from: row.from_type, name: row.name, to: row.to_type }) === name,
    );
  },
  put: (types, writer, { tenant }, { spec }, { peers }) =>
    putRelationshipType(types, writer, tenant, spec, relationshipTypeOfManifest(spec), {
      peers: (name) => {
        const peer = peers(name);
        return peer && { writer: peer.writer, spec: relationshipTypeOfManifest(peer.manifest.spec) };
      },
    }),
  transfer: (types, writer, { tenant, name }, to) =>
    transferRelationshipType(types, writer, tenant, parseTypeKey(name), to),
  remove: (types, writer, { tenant, name }) => deleteRelationshipType(types, writer, tenant, parseTypeKey(name)),
};

export const resourceKinds = [actorTypeKind, resourceTypeKind, relationshipTypeKind];
