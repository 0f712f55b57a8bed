import { expect, test } from 'vitest';
import { keptBeside } from '../../server/erasure/rules.ts';

test('a report says what is kept outside of the rooms, why and until when, and the digest in the place of the id', () => {
  const kept = keptBeside('erased:x');
  expect(kept.filter(({ what }) => what.includes('erased:x'))).toHaveLength(1);
  expect(new Set(kept.map(({ what }) => what)).size).toBe(kept.length);
  for (const { what, why, until } of kept) expect([what, why, until].every((text) => text.length > 0)).toBe(true);
});
