/** The faults of `npm run test:mutants` are there to be put in: a change of the product, or of a test's name, says which are not. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { testFiles } from '../units.ts';
import { allFaults as faults } from './all.ts';
import { partOf, withFault } from './fault.ts';

const root = join(import.meta.dirname, '../..');

test('each text is exactly once in its file, and becomes another one', () => {
  const contents = new Map<string, string>();
  const contentOf = (file: string) => {
    const content = contents.get(file) ?? readFileSync(join(root, file), 'utf8');
    contents.set(file, content);
    return content;
  };
  const wrong = faults.filter((fault) => {
    const content = contentOf(fault.file);
    const changed = withFault(content, fault);
    return changed === undefined || changed === content;
  });
  expect(wrong.map(({ id, file }) => `${id}: ${file}`)).toEqual([]);
});

test('each names tests that are there', () => {
  const there = new Set(testFiles());
  const gone = faults.flatMap(({ id, tests }) =>
    tests.filter((file) => !there.has(file)).map((file) => `${id}: ${file}`),
  );
  expect(gone).toEqual([]);
  expect(faults.filter(({ tests }) => tests.length === 0).map(({ id }) => id)).toEqual([]);
});

test('what is known to be found is a fault of the list, found by a file that is there', () => {
  const there = new Set(testFiles());
  const ids = new Set(faults.map(({ id }) => id));
  const known: Record<string, string> = JSON.parse(readFileSync(join(import.meta.dirname, 'found.json'), 'utf8'));
  const gone = Object.entries(known).filter(([id, by]) => !ids.has(id) || !there.has(by.split(' > ')[0] as string));
  expect(gone).toEqual([]);
});

test('each file of faults is in the list', () => {
  const parts = readdirSync(join(import.meta.dirname, 'faults')).map((file) => file.replace(/\.ts$/, ''));
  expect([...new Set(faults.map(({ id }) => partOf(id)))]).toEqual(parts.sort());
});

test('there are at least 150, of each part that guards people', () => {
  expect(new Set(faults.map(({ id }) => id)).size).toBe(faults.length);
  expect(faults.length).toBeGreaterThanOrEqual(150);
  const parts = new Set(faults.map(({ id }) => partOf(id)));
  for (const part of [
    'authz',
    'tenants',
    'invitations',
    'consents',
    'ledger',
    'oidc',
    'tokens',
    'members',
    'events',
    'mail',
    'rego',
    'erasure',
  ])
    expect(parts.has(part), part).toBe(true);
});

test('a text that is there twice, or not at all, is no place for a fault', () => {
  expect(withFault('a b c', { text: 'b', fault: '$&' })).toBe('a $& c');
  expect(withFault('a b b', { text: 'b', fault: 'd' })).toBeUndefined();
  expect(withFault('a', { text: 'b', fault: 'd' })).toBeUndefined();
});
