/**
 * The relationships room: actors and resources with their attributes, and the relationships between them. Records: read
 * for each decision (server/facts), never held. Owns accord.thing, accord.relationship and accord.relationship_import.
 */
export { createRelationship, deleteRelationship, type RecordWriter, type RelationshipServices } from './actions.ts';
export type { RelationshipRouteServices } from './governing.ts';
export { importRelationships } from './import.ts';
export { relationshipProblem } from './problems.ts';
export { registerRelationshipRoutes } from './routes.ts';
export type { Relationship, Thing } from './schema.ts';
export { putThing } from './things.ts';
