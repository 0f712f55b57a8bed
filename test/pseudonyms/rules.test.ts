/** Replacing texts inside JSON values. */
import { describe, expect, test } from 'vitest';
import { replaceTexts, textsOf } from '../../server/pseudonyms/rules.ts';

describe('texts of a value', () => {
  const replacementOf = (text: string, type: string | undefined) =>
    text === 'alice' && (type === undefined || type === 'user') ? 'erased:x' : undefined;

  test.each([
    ['alice', 'erased:x'],
    [{ subject: { id: 'alice' } }, { subject: { id: 'erased:x' } }],
    [
      { id: 'alice', type: 'user' },
      { id: 'erased:x', type: 'user' },
    ],
    [{ alice: [1, ['alice'], null] }, { 'erased:x': [1, ['erased:x'], null] }],
    [
      { a: { b: [{ c: 'alice' }] }, type: 'car' },
      { a: { b: [{ c: 'erased:x' }] }, type: 'car' },
    ],
  ])('%j is replaced', (value, expected) => {
    expect(replaceTexts(value, replacementOf)).toEqual(expected);
  });

  test.each([
    [{ id: 'alice', type: 'robot' }],
    [{ path: '/users/alice', name: 'Alice', none: null, flag: true, count: 0, list: [] }],
    ['alice '],
    [null],
  ])('%j is the same object', (value) => {
    expect(replaceTexts(value, replacementOf)).toBe(value);
  });

  test('are names and values, and no more than asked for', () => {
    expect([...textsOf({ a: ['b', { c: 1 }], d: 'b' }, 100)]).toEqual(['a', 'b', 'c', 'd']);
    const list = Array.from({ length: 100_000 }, (_, i) => `${i}`);
    expect(textsOf({ list }, 10).size).toBe(11);
  });
});
