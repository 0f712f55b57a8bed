/** The events of the relationships room. */
import { Type } from 'typebox';
import { eventData, eventType } from '../room/events.ts';
import { Entity } from './schema.ts';

const requestor = 'client:backend';
const [alice, car] = [
  { type: 'user', id: 'alice' },
  { type: 'car', id: 'car-1' },
];
const expiresAt = Type.Optional(Type.String({ format: 'date-time' }));
const relationship = { from: Entity, relationshipType: Type.String(), to: Entity, expiresAt };
const keyOf = ({ type, id }: { type: string; id: string }) => `${type}/${id}`;

export const relationshipCreated = eventType('RELATIONSHIP_CREATED', {
  when: 'A relationship was created, by a request or by accepting an invitation.',
  operations: [
    'POST /{tenant}/actors/{type}/{id}/relationships',
    'POST /tenants/{tenant}/actors/{type}/{id}/relationships',
    'POST /{tenant}/sharing/invitations/accept',
    'POST /{tenant}/sharing/invitations/{id}/accept',
  ],
  data: eventData(relationship),
  example: { requestor, from: alice, relationshipType: 'is_owner_of', to: car },
  keyOf: ({ to }) => keyOf(to),
  legacy: ({ requestor, from, to, relationshipType }) => ({ requestor, from, to, relationshipType }),
});

export const relationshipExpired = eventType('RELATIONSHIP_EXPIRED', {
  when: 'A relationship expired: its expiresAt came, and it does not hold any more.',
  operations: [],
  data: eventData({ ...relationship, expiresAt: Type.String({ format: 'date-time' }) }),
  example: {
    ...{ requestor: 'accord', from: alice, relationshipType: 'is_owner_of', to: car },
    expiresAt: '2026-11-23T09:30:00.000Z',
  },
  keyOf: ({ to }) => keyOf(to),
});

const filterMember = (what: string) => Type.Optional(Type.String({ description: `${what} of those deleted.` }));

/** All that matched the filter. */
export const relationshipsDeleted = eventType('RELATIONSHIPS_DELETED', {
  when: 'Relationships were deleted: all that match the members of the event. A member that is absent matches every value.',
  operations: [
    'DELETE /{tenant}/actors/{type}/{id}/relationships/{relationshipType}/{toType}/{toId}',
    'DELETE /tenants/{tenant}/actors/{type}/{id}/relationships/{relationshipType}/{toType}/{toId}',
    'DELETE /{tenant}/relationships',
    'DELETE /{tenant}/sharing/shares/{id}',
    'DELETE /{tenant}/actors/{type}/{id}',
    'DELETE /{tenant}/resources/{type}/{id}',
  ],
  data: eventData({
    fromType: filterMember('Type of the actor'),
    fromId: filterMember('Id of the actor'),
    relationshipType: filterMember('Relationship type'),
    toType: filterMember('Type of the target'),
    toId: filterMember('Id of the target'),
    deleted: Type.Integer({ description: 'How many were deleted.' }),
  }),
  example: { requestor, fromType: 'user', fromId: 'alice', relationshipType: 'is_owner_of', deleted: 2 },
  keyOf: ({ fromType, fromId, toType, toId }) => {
    if (toType !== undefined && toId !== undefined) return keyOf({ type: toType, id: toId });
    if (fromType !== undefined && fromId !== undefined) return keyOf({ type: fromType, id: fromId });
    return 'relationships';
  },
  legacy: ({ requestor, relationshipType, fromType, fromId, toType, toId }) => ({
    requestor,
    ...(relationshipType === undefined ? {} : { relationshipTypes: [relationshipType] }),
    ...legacyEnd('from', fromType, fromId),
    ...legacyEnd('to', toType, toId),
  }),
});
export const relationshipsImported = eventType('RELATIONSHIPS_IMPORTED', {
  when: 'Relationships were created or got another expiry by an import. An import emits many of these, each with at most 100 relationships.',
  operations: ['POST /{tenant}/relationships/import', 'POST /tenants/{tenant}/relationships/import'],
  data: eventData({
    importId: Type.String({ description: 'Id of the import.' }),
    relationships: Type.Array(Type.Object(relationship), { description: 'What was imported, unchanged lines too.' }),
  }),
  example: {
    requestor,
    importId: 'nightly-1',
    relationships: [{ from: alice, relationshipType: 'is_owner_of', to: car }],
  },
  keyOf: ({ importId }) => `import/${importId}`,
});

const attributes = Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]));
export const entityUpdated = eventType('ENTITY_UPDATED', {
  when: 'The attributes of an actor or a resource were set.',
  operations: ['PUT /{tenant}/actors/{type}/{id}', 'PUT /{tenant}/resources/{type}/{id}'],
  data: eventData({ entity: Entity, attributes }),
  example: { requestor, entity: car, attributes: { brand: 'Volvo' } },
  keyOf: ({ entity }) => keyOf(entity),
});
export const entityDeleted = eventType('ENTITY_DELETED', {
  when: 'An actor or a resource was deleted with its attributes. RELATIONSHIPS_DELETED tells of its relationships.',
  operations: ['DELETE /{tenant}/actors/{type}/{id}', 'DELETE /{tenant}/resources/{type}/{id}'],
  data: eventData({ entity: Entity }),
  example: { requestor, entity: car },
  keyOf: ({ entity }) => keyOf(entity),
});
export const relationshipEvents = [
  relationshipCreated,
  relationshipsDeleted,
  relationshipsImported,
  entityUpdated,
  entityDeleted,
  relationshipExpired,
];

/** What is absent matched every value, and stays absent. */
function legacyEnd(name: 'from' | 'to', type: string | undefined, id: string | undefined): object {
  if (type === undefined && id === undefined) return {};
  return { [name]: { ...(type === undefined ? {} : { type }), ...(id === undefined ? {} : { id }) } };
}
