/** Which manifests a tenant hears of: those that are its own. */
import { expect, test } from 'vitest';
import { Records, type ResourceRecord } from '../../operator/records.ts';
import { keyOf } from '../../operator/source.ts';
import { listResources } from '../../server/resources/store.ts';
import { createTestDatabase } from '../helpers/database.ts';

const { database } = await createTestDatabase();

function record(namespace: string, name: string, reason: string): ResourceRecord {
  const status = reason === 'Valid' ? ('True' as const) : ('False' as const);
  const lastTransitionTime = '2026-01-01T00:00:00.000Z';
  const accepted = {
    type: 'Accepted',
    status,
    reason,
    message: 'As it is.',
    lastTransitionTime,
    observedGeneration: 1,
  };
  const identity = { kind: 'Policy' as const, namespace, name };
  const about = { uid: `${namespace}-${name}`, tenant: 'mine', object: '', digest: 'd', generation: 1 };
  return { ...identity, ...about, key: keyOf(identity), status: { observedGeneration: 1, conditions: [accepted] } };
}

test('a manifest of a namespace that may not name the tenant is not told of', async () => {
  const records = new Records(database, 'kubernetes');
  await records.put(record('mine', 'good', 'Valid'));
  await records.put(record('mine', 'broken', 'CompileError'));
  await records.put(record('evil', 'noise', 'NamespaceNotAllowed'));
  const rows = await database.tenant('mine', (tx) => listResources(tx, 'mine', {}));
  expect(rows.map(({ name }) => name)).toEqual(['broken', 'good']);
});
