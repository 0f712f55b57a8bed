/** Which field a wrong name was probably meant to be. */
import { expect, test } from 'vitest';
import { asSentence, unknownField } from '../../crds/describe-error.ts';
import { nearest } from '../../crds/similar.ts';

const known = ['from', 'relationshipType', 'to', 'expiresAt'];

test.each([
  ['form', 'from'],
  ['relationType', 'relationshipType'],
  ['RelationshipType', 'relationshipType'],
  ['expiresat', 'expiresAt'],
  ['expires_at', 'expiresAt'],
  ['id', undefined],
  ['', undefined],
  ['relationshipTypes'.repeat(100_000), undefined],
])('%.20s: %s', (name, meant) => {
  expect(nearest(name, known)).toBe(meant);
});

test('a field that is there already was not meant, and without a near one all are named', () => {
  expect(unknownField('form', known)).toBe('is an unknown field; did you mean from?');
  expect(unknownField('form', known, { form: 1, from: 2 })).toBe(
    `is an unknown field; the fields here are ${known.join(', ')}`,
  );
  expect(unknownField('form', [])).toBe('is an unknown field; there are no fields here');
});

test('a sentence stands for itself', () => {
  expect(asSentence('is required')).toBe('This field is required.');
  expect(asSentence('is an unknown field; did you mean from?')).toBe('Unknown field; did you mean from?');
  expect(asSentence('must be a string, but is a list')).toBe('Must be a string, but is a list.');
});
