/**
 * The types room: which types of actors, resources and relationships a tenant has. Configuration, served from the
 * snapshot.
 */
export {
  deleteRelationshipType,
  putEntityType,
  putRelationshipType,
  type TypeServices,
} from './actions.ts';
export { typeProblem } from './problems.ts';
export { typesRoom } from './room.ts';
export { registerTypeRoutes } from './routes.ts';
export {
  closureOf,
  entityTypeOfManifest,
  followsOf,
  parseTypeKey,
  relationshipTypeOfManifest,
  relationshipTypeSpec,
  shownNamesOf,
  typeKeyOf,
  typesOf,
} from './rules.ts';
export type { EntityKind, EntityTypeSpec, Inheritance, RelationshipTypeRow, Types } from './schema.ts';
export {
  loadEntityTypes,
  loadRelationshipTypes,
  loadTypesTouching,
  lockRelationshipTypes,
  readEntityType,
  readRelationshipType,
} from './store.ts';
