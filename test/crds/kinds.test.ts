/** The kinds that the operator reconciles are those that have a CustomResourceDefinition. */
import { expect, test } from 'vitest';
import { kinds as defined } from '../../crds/index.ts';
import { kindsOf } from '../../server/room/resource-kind.ts';
import { rooms } from '../../server/rooms.ts';

const kinds = kindsOf(rooms).map(({ kind }) => kind);

test('each CustomResourceDefinition has a kind in a room, in the same order', () => {
  expect(kinds.map(({ definition }) => definition)).toEqual(defined);
});

test('kinds have an order of their own, and Tenants are first', () => {
  expect(kinds[0]?.definition.kind).toBe('Tenant');
  expect(new Set(kinds.map(({ order }) => order)).size).toBe(kinds.length);
});
