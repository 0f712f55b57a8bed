/**
 * The relationships room: actors and resources with their attributes, and the relationships between them. Records: read
 * for each decision (server/facts), never held. Owns accord.thing, accord.relationship and accord.relationship_import.
 */
export {
  auditRecord,
  createRelationship,
  deleteRelationship,
  makeRelationship,
  type RecordWriter,
  type RecordWritten,
  writeRecords,
} from './actions.ts';
export { erasingRelationships } from './erasing.ts';
export type { RelationshipRouteServices } from './governing.ts';
export { importRelationships } from './import.ts';
export { relationshipsRoom } from './room.ts';
export { registerRelationshipRoutes } from './routes.ts';
export { checkThing } from './rules.ts';
export type { Relationship, Thing } from './schema.ts';
export { attributesOfThing } from './things.ts';
