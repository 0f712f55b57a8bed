/**
 * The types room: which types of actors, resources and relationships a tenant has. Configuration, served from the
 * snapshot. Owns accord.thing_type and accord.relationship_type.
 */
export {
  deleteRelationshipType,
  deleteThingType,
  putRelationshipType,
  putThingType,
  type TypeServices,
  transferRelationshipType,
  transferThingType,
} from './actions.ts';
export { typeProblem } from './problems.ts';
export { resourceKinds } from './resource-kind.ts';
export { typesRoom } from './room.ts';
export { registerTypeRoutes } from './routes.ts';
export {
  parseTypeKey,
  relationshipTypeOfManifest,
  relationshipTypeSpec,
  thingTypeOfManifest,
  typeKeyOf,
  typesOf,
} from './rules.ts';
export type { Inheritance, RelationshipTypeRow, ThingKind, ThingTypeSpec, Types } from './schema.ts';
export {
  holdRelationshipTypes,
  loadRelationshipTypes,
  loadThingTypes,
  loadTypesTouching,
  readThingType,
} from './store.ts';
export type { Peers } from './together.ts';
