/** The kinds that the operator reconciles are those that have a CustomResourceDefinition. */
import { expect, test } from 'vitest';
import { kinds as defined } from '../../crds/index.ts';
import { kinds } from '../../operator/kinds/index.ts';

test('each CustomResourceDefinition has a kind in a room, with its name and plural', () => {
  const names = (all: readonly { kind: string; plural: string }[]) =>
    all.map(({ kind, plural }) => `${kind} ${plural}`).sort();
  expect(names(kinds)).toEqual(names(defined));
});

test('kinds have an order of their own, in which Tenants are first and what refers to others is last', () => {
  expect(kinds.map(({ kind }) => kind)).toEqual([
    ...['Tenant', 'TrustedIssuer', 'ActorType', 'ResourceType', 'RelationshipType', 'ConsentDefinition'],
    ...['PolicyData', 'PolicyLibrary', 'Policy'],
  ]);
  expect(new Set(kinds.map(({ order }) => order)).size).toBe(kinds.length);
});
