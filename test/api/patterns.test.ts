/** A refusal says in words what a text must be: no reader is shown a regular expression. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { patternInWords } from '../../crds/patterns.ts';

const document = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'));

test('every pattern of the API has words', () => {
  const bare = new Set<string>();
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { pattern } = value as { pattern?: unknown };
    if (typeof pattern === 'string' && patternInWords(pattern) === undefined) bare.add(pattern);
    for (const one of Object.values(value)) look(one);
  };
  look(document.paths);
  expect([...bare]).toEqual([]);
});
