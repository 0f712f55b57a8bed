import { expect, test } from 'vitest';
import { limits } from '../server/core/limits.ts';
import { Buckets } from '../server/http/buckets.ts';

test('a second of it may be used at once; it refills as time goes by, and never holds more', () => {
  const buckets = new Buckets(10);
  const take = (now: number) => buckets.take('a', 4, now);
  expect([take(0), take(0), take(0), take(0), take(0)]).toEqual([3, 2, 1, 0, -250]);
  expect([take(125), take(250), take(250)]).toEqual([-125, 0, -250]);
  expect(take(60_000)).toBe(3);
  expect(buckets.take('b', 4, 60_000)).toBe(3);
});

test('what is taken for a batch is a debt; who is in debt gets nothing until it is paid', () => {
  const buckets = new Buckets(10);
  expect(buckets.take('a', 10, 0)).toBe(9);
  expect(buckets.takeMore('a', 99, 10, 0)).toBe(0);
  expect(buckets.take('a', 10, 0)).toBe(-9100);
  expect(buckets.takeMore('a', 1, 10, 0)).toBe(-9000);
  expect(buckets.take('a', 10, 9100)).toBe(0);
});

test('what is given back is there again, and no more than a second of it', () => {
  const buckets = new Buckets(10);
  buckets.take('a', 2, 0);
  for (let n = 0; n < 5; n++) buckets.giveBack('a');
  buckets.giveBack('nobody');
  expect([buckets.take('a', 2, 0), buckets.take('a', 2, 0), buckets.take('a', 2, 0)]).toEqual([1, 0, -500]);
});

test.each(['rateLimitCallersMax', 'rateLimitAddressesMax'] as const)(
  'of more keys than %s, the one that was idle longest is forgotten and no other',
  (bound) => {
    const max = limits[bound];
    const buckets = new Buckets(max);
    const take = (key: number) => buckets.take(String(key), 1, 0);
    for (let key = 0; key < max; key++) expect(take(key)).toBe(0);
    expect(take(0)).toBe(-1000); // refused, and used
    expect(take(max)).toBe(0); // forgets 1
    for (const key of [0, 2, max - 1, max]) expect(take(key)).toBe(-1000);
    expect(take(1)).toBe(0);
  },
);
