/**
 * The relationships room: actors and resources with their attributes, and the relationships between them. Records: read
 * for each decision (graph/) and search, never cached.
 */
export { createRelationship, deleteRelationship, makeRelationship, pageOf as pageOfRelationships } from './actions.ts';
export { readDirect, readHolding } from './direct-store.ts';
export { attributesOfEntity } from './entities.ts';
export { relationshipCreated, relationshipExpired, relationshipsDeleted } from './events.ts';
export { GraphReader } from './graph/graph-reader.ts';
export { type PathPattern, pathPatternOf, stepsOf } from './graph/path-pattern.ts';
export { holders } from './graph-store.ts';
export { importRelationships } from './import.ts';
export { relationshipProblem } from './problems.ts';
export { relationshipsRoom } from './room.ts';
export { registerRelationshipRoutes } from './routes.ts';
export { checkEntity } from './rules.ts';
export type { Entity, FromEntry, Relationship } from './schema.ts';
export { type EntitiesPage, entitiesPage, type Head, type InnerStep, reachedPage, readInner } from './search-store.ts';
export { seedEntities } from './seeding.ts';
export { countRelationships } from './store.ts';
