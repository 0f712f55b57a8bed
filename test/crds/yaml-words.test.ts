/** The bare words that YAML 1.1 and 1.2 read differently; the parser's own 1.1 mode is the witness. */
import { expect, test } from 'vitest';
import { parse, parseDocument } from 'yaml';
import { wordsReadDifferently } from '../../crds/index.ts';

const found = (text: string) => wordsReadDifferently(parseDocument(text));
const readAlike = (text: string) => Object.is(parse(text, { version: '1.1' }), parse(text, { version: '1.2' }));

test.each(['on', 'off', 'yes', 'no', 'y', 'N', 'On', 'OFF'])('finds a bare %s as value and as key', (word) => {
  const detail = `a bare ${word} is a boolean to kubectl, which reads YAML 1.1: write "${word}"`;
  expect(readAlike(word)).toBe(false);
  expect(found(`a: ${word}\n`)).toEqual([{ offset: 3, detail }]);
  expect(found(`a:\n  ${word}: 1\n`)).toEqual([{ offset: 5, detail }]);
  expect(found(`a: "${word}"\n'${word}': [${word}-x, b${word}]\n`)).toEqual([]);
});

test.each(['012', '1_000', '0b11', '-0_7'])('finds a bare %s', (number) => {
  expect(readAlike(number)).toBe(false);
  expect(found(`a: ${number}\n`)).toEqual([{ offset: 3, detail: expect.stringContaining('another number') }]);
});

test.each(['12', '0', '-0.5', '0x1F', '1e3', 'true', 'null', '~', 'note', 'a_b', '1-2'])(
  'leaves a bare %s alone',
  (word) => {
    expect(readAlike(word)).toBe(true);
    expect(found(`a: ${word}\n`)).toEqual([]);
  },
);

// The parser's 1.1 mode has types for these; kubectl's keeps them as text.
test.each(['2026-01-02', '22:00'])('leaves a bare %s alone', (word) => {
  expect(found(`a: ${word}\n`)).toEqual([]);
});
