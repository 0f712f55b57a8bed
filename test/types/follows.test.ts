/** Which relationship may follow which, of types that are inherited through one another in circles. */
import { expect, test } from 'vitest';
import { typesOf } from '../../server/types/index.ts';

test('in a ring of types, any may follow any; in a chain, those below', () => {
  const key = (i: number) => `n:r${i}:n`;
  const rowsOf = (count: number, isRing: boolean) =>
    Array.from({ length: count }, (_, i) => {
      const through = key((i + 1) % count);
      const inheritedThrough = isRing || i < count - 1 ? [{ relationship: through, from: through }] : [];
      return { from_type: 'n', name: `r${i}`, to_type: 'n', spec: { inheritedThrough } };
    });
  const follows = (count: number, isRing: boolean) => typesOf([{ name: 'n', spec: {} }], rowsOf(count, isRing)).follows;
  expect(new Set(follows(100, true).map((pair) => pair.join(' '))).size).toBe(100 * 100);
  expect(
    follows(3, false)
      .map((pair) => pair.join(' '))
      .sort(),
  ).toEqual(
    [
      [1, 1],
      [1, 2],
      [2, 1],
      [2, 2],
    ].map((pair) => pair.map(key).join(' ')),
  );
});
