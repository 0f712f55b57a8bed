/** What is no character becomes U+FFFD, in texts and in JSON; everything else stays. */
import { expect, test } from 'vitest';
import { asText, counted, isText, storableJson, wellFormedJson } from '../../server/core/text.ts';

test.each([
  ['plain 🚗 text', 'plain 🚗 text'],
  ['a\0b', 'a\ufffdb'],
  ['a\ud83db\udc00', 'a\ufffdb\ufffd'],
])('%j', (text, clean) => {
  expect(asText(text)).toBe(clean);
  expect(isText(text)).toBe(text === clean);
  expect(isText(clean)).toBe(true);
  expect(JSON.parse(storableJson(JSON.stringify({ [text]: text })))).toEqual({ [clean]: clean });
  const wellFormed = JSON.parse(wellFormedJson(JSON.stringify({ [text]: text })));
  expect(wellFormed).toEqual({ [text.toWellFormed()]: text.toWellFormed() });
});

test('an escaped backslash before u is no escape', () => {
  const json = JSON.stringify(['\\u0000', '\\\\ud83d', '\n"\u0001']);
  expect([storableJson(json), wellFormedJson(json)]).toEqual([json, json]);
});

test.each([
  [0, 'manifest', undefined, '0 manifests'],
  [1, 'manifest', undefined, '1 manifest'],
  [2, 'manifest', undefined, '2 manifests'],
  [1, 'policy', 'policies', '1 policy'],
  [1000, 'policy', 'policies', '1,000 policies'],
])('%i %s, %s: %s', (count, noun, many, text) => {
  expect(counted(count, noun, many)).toBe(text);
});
