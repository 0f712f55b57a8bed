/** What a request to an endpoint holds, and which events are asked for. */
import { expect, test } from 'vitest';
import type { EventRow } from '../../server/events/index.ts';
import { allEventTypes } from '../../server/room/catalogue.ts';
import { rooms } from '../../server/rooms.ts';
import { bodyOf } from '../../server/subscriptions/bodies.ts';
import { matcher, typesOf } from '../../server/subscriptions/filters.ts';
import type { Matched } from '../../server/subscriptions/schema.ts';

const types = allEventTypes(rooms);
const legacyOf = ({ type, body }: Matched) => types.get(type)?.legacy?.(body as never) ?? body;
const row = (type: string, body: Record<string, unknown>, sequence = 7): EventRow => ({
  ...{ sequence, at: '2026-11-23T09:30:00.000Z', time: '2026-11-23T09:30:00.000Z', key: 'car/1', type, body },
  id: '0199f2f0-7f5e-7c3a-9a53-5f4b1e0c2d11',
});
const source = 'https://accord.example/clinic';
const [alice, car] = [
  { type: 'user', id: 'alice' },
  { type: 'car', id: '1' },
];
const [requestor, relationshipType] = ['client:backend', 'drives'];
const created = row('RELATIONSHIP_CREATED', { requestor, from: alice, relationshipType, to: car, expiresAt: 'later' });

test('a CloudEvent in JSON', () => {
  const { contentType, text, headers } = bodyOf({ format: 'cloudevents', source, legacyOf }, [created]);
  expect({ contentType, headers }).toEqual({ contentType: 'application/cloudevents+json', headers: {} });
  expect(JSON.parse(text)).toEqual({
    ...{ specversion: '1.0', id: created.id, source, type: created.type, time: created.time, subject: 'car/1' },
    ...{ datacontenttype: 'application/json', sequence: '0000000000000007', partitionkey: 'car/1' },
    data: created.body,
  });
});

test('several CloudEvents in a batch, in their order; other formats hold one event', () => {
  const [first, second] = [row('A', {}, 1), row('B', {}, 2)];
  const { contentType, text } = bodyOf({ format: 'cloudevents-batch', source, legacyOf }, [first, second]);
  expect(contentType).toBe('application/cloudevents-batch+json');
  expect(JSON.parse(text).map(({ type }: { type: string }) => type)).toEqual(['A', 'B']);
  expect(JSON.parse(bodyOf({ format: 'cloudevents-batch', source, legacyOf }, [first]).text)).toHaveLength(1);
  for (const format of ['cloudevents', 'legacy'] as const)
    expect(() => bodyOf({ format, source, legacyOf }, [first, second])).toThrow('cannot hold 2 events');
  expect(() => bodyOf({ format: 'cloudevents-batch', source, legacyOf }, [])).toThrow('cannot hold 0 events');
});

test.each<[string, EventRow, object]>([
  ['RELATIONSHIP_CREATED', created, { requestor, from: alice, to: car, relationshipType }],
  [
    'RELATIONSHIPS_DELETED',
    row('RELATIONSHIPS_DELETED', {
      ...{ requestor, fromType: 'user', fromId: 'alice', relationshipType, toType: 'car', toId: '1', deleted: 1 },
    }),
    { requestor, relationshipTypes: [relationshipType], from: alice, to: car },
  ],
  [
    'RELATIONSHIPS_DELETED of all of an actor',
    row('RELATIONSHIPS_DELETED', { requestor, fromType: 'user', fromId: 'alice', deleted: 9 }),
    { requestor, from: alice },
  ],
  [
    'INVITATION_CREATED',
    row('INVITATION_CREATED', {
      ...{ requestor, invitationId: 'i', target: car, relationshipType, invitor: alice },
      invitee: { contact: { type: 'email', value: 'bob@example.com' }, name: 'Bob' },
    }),
    {
      ...{ requestor, target: car, invitor: alice, invitationId: 'i' },
      invitee: { contact: { type: 'email', value: 'bob@example.com' } },
    },
  ],
  ['another type', row('ENTITY_DELETED', { requestor, entity: car }), { requestor, entity: car }],
])('the legacy body of %s', (_, event, expected) => {
  const { contentType, text, headers } = bodyOf({ format: 'legacy', source, legacyOf }, [event]);
  expect(JSON.parse(text)).toEqual(expected);
  expect({ contentType, headers }).toEqual({
    ...{ contentType: 'application/json', headers: { 'accord-event-type': event.type } },
  });
});

const known = ['INVITATION_ACCEPTED', 'INVITATION_CREATED', 'RELATIONSHIP_CREATED'];

test('types are named by themselves, by their beginning, or all by *', () => {
  expect(typesOf(['*'], known)).toBe('all');
  expect(typesOf(['INVITATION_*', 'RELATIONSHIP_CREATED'], known)).toBe('all');
  expect(typesOf(['INVITATION_*'], known)).toEqual(new Set(known.slice(0, 2)));
  // A type of another version of the server.
  expect(typesOf(['GONE'], known)).toEqual(new Set());
});

test.each<[object, string, Record<string, unknown>, boolean]>([
  [{}, 'A', {}, true],
  [{ actorTypes: ['user'] }, 'RELATIONSHIP_CREATED', { from: alice, to: car }, true],
  [{ actorTypes: ['car'] }, 'RELATIONSHIP_CREATED', { from: alice, to: car }, false],
  [{ resourceTypes: ['car'] }, 'RELATIONSHIP_CREATED', { from: alice, to: car }, true],
  [{ actorTypes: ['user'], resourceTypes: ['bus'] }, 'RELATIONSHIP_CREATED', { from: alice, to: car }, false],
  [{ resourceTypes: ['bus', 'car'] }, 'RELATIONSHIPS_IMPORTED', { relationships: [{ from: alice, to: car }] }, true],
  [{ resourceTypes: ['bus'] }, 'RELATIONSHIPS_IMPORTED', { relationships: [{ from: alice, to: car }] }, false],
  [{ resourceTypes: ['bus'] }, 'RELATIONSHIPS_DELETED', { fromType: 'user', fromId: 'alice', deleted: 2 }, true],
  [{ resourceTypes: ['bus'] }, 'RELATIONSHIPS_DELETED', { toType: 'car', deleted: 2 }, false],
  [{ resourceTypes: ['car'] }, 'ENTITY_UPDATED', { entity: car, attributes: {} }, true],
  [{ resourceTypes: ['car'] }, 'INVITATION_CREATED', { target: car, invitor: alice }, true],
  [{ actorTypes: ['user'] }, 'INVITATION_CREATED', { target: car, invitor: alice }, true],
  [{ actorTypes: ['user'] }, 'CONSENT_REGISTERED', { userId: 'alice' }, true],
  [{ actorTypes: ['nurse'] }, 'CONSENT_REGISTERED', { userId: 'alice' }, false],
  [{ resourceTypes: ['car'] }, 'CONSENT_REGISTERED', { userId: 'alice' }, false],
  [{ actorTypes: ['user'], resourceTypes: ['car'] }, 'DECISION', { request: { subject: alice, resource: car } }, true],
  [{ resourceTypes: ['bus'] }, 'DECISION', { request: { subject: alice, resource: car } }, false],
  // Its request was left out.
  [{ resourceTypes: ['bus'] }, 'DECISION', {}, false],
  [{ actorTypes: ['user'] }, 'POLICY_UPDATED', { requestor: 'user:user:alice', name: 'a' }, false],
  [{ actorTypes: ['user'] }, 'ENTITY_UPDATED', { entity: null }, false],
])('filters %j of %s %j: %s', (filters, type, body, expected) => {
  expect(matcher('all', filters, 'user')({ type, body })).toBe(expected);
  expect(matcher(new Set(), filters, 'user')({ type, body })).toBe(false);
  expect(matcher(new Set([type]), filters, 'user')({ type, body })).toBe(expected);
});
