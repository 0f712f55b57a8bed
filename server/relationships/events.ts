/** The events of the relationships room. */
import { eventType } from '../room/events.ts';
import type { Relationship } from './schema.ts';
import type { Filter } from './store.ts';

export const relationshipCreated = eventType<Relationship>('RELATIONSHIP_CREATED');
/** All that matched the filter. */
export const relationshipsDeleted = eventType<Filter & { deleted: number }>('RELATIONSHIPS_DELETED');
export const relationshipEvents = [relationshipCreated, relationshipsDeleted];
