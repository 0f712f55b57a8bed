/** The kinds ActorType, ResourceType and RelationshipType: their names in the API are fields of the spec. */
import {
  type ActorTypeManifest,
  definitionOf,
  type RelationshipTypeManifest,
  type ResourceTypeManifest,
} from '../../crds/index.ts';
import { unknownReference } from '../room/manifest-checks.ts';
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
import { entityTypeNames, loadEntityTypes, loadRelationshipTypes, relationshipTypeNames } from './store.ts';

const ENTITY_TYPES = 'ActorType or ResourceType';

function entityKind<Of extends ActorTypeManifest | ResourceTypeManifest>(
  entity: EntityKind,
  about: Pick<ResourceKind<TypeServices, Of>, 'definition' | 'order'>,
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
    async exported(tx, { tenant, only }) {
      const rows = await loadEntityTypes(tx, tenant, entity, only);
      return rows.map(({ name, spec, owner }) => {
        const attributes = Object.entries(spec.attributes ?? {}).map(([attribute, rest]) => ({
          name: attribute,
          ...rest,
        }));
        const some = {
          ...(spec.displayNames === undefined ? {} : { displayNames: spec.displayNames }),
          ...(attributes.length > 0 ? { attributes } : {}),
        };
        return { name, owner, spec: { tenantRef: { name: tenant }, name, ...some } };
      });
    },
    exportedNames: (tx, tenant) => entityTypeNames(tx, tenant, entity),
    // Types of actors and of resources share their names.
    checks: { family: ENTITY_TYPES },
  };
}

const actorTypeKind = entityKind<ActorTypeManifest>('actor', { definition: definitionOf('ActorType'), order: 20 });

const resourceTypeKind = entityKind<ResourceTypeManifest>('resource', {
  definition: definitionOf('ResourceType'),
  order: 30,
});

const relationshipTypeKind: ResourceKind<TypeServices, RelationshipTypeManifest> = {
  definition: definitionOf('RelationshipType'),
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
  async exported(tx, { tenant, only }) {
    const rows = await loadRelationshipTypes(tx, tenant, only);
    return rows.map(({ from_type: from, name, to_type: to, spec, retired, owner }) => {
      const key = typeKeyOf({ from, name, to });
      const skipped = retired ? { skipped: `the relationship type ${key} is retired and left out` } : {};
      return { name: key, owner, spec: { tenantRef: { name: tenant }, from, name, to, ...spec }, ...skipped };
    });
  },
  exportedNames: relationshipTypeNames,
  checks: {
    // A condition of a policy names the middle of user:drives:car.
    defines: ({ spec }) => [{ family: 'relationship', name: spec.name }],
    references({ spec: { from, to, inheritedThrough = [] } }, given) {
      const ends = [
        ['/spec/from', from],
        ['/spec/to', to],
      ] as const;
      const ways = [...new Set(inheritedThrough.flatMap((way) => [way.relationship, way.from]))];
      return [
        ...ends
          .filter(([, name]) => !given.has(ENTITY_TYPES, name))
          .map(([pointer, name]) => unknownReference(pointer, ENTITY_TYPES, name)),
        ...ways
          .filter((name) => !given.has('RelationshipType', name))
          .map((name) => unknownReference('/spec/inheritedThrough', 'RelationshipType', name)),
      ];
    },
  },
};

export const resourceKinds = [actorTypeKind, resourceTypeKind, relationshipTypeKind];
