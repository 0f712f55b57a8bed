/** Counts of adoption: whose are kept, for how long, and that they are counted once for all who ask at the same time. */
import { expect, test } from 'vitest';
import { AdoptionCounts } from '../../server/consents/adoption-counts.ts';
import { limits } from '../../server/core/limits.ts';

function counting(users: number) {
  const asked: string[] = [];
  let now = 1_000_000;
  const state = { fails: false };
  const counts = new AdoptionCounts({ now: () => now, monotonic: () => now }, async (tenant, definition) => {
    asked.push(`${tenant}/${definition}`);
    await Promise.resolve();
    if (state.fails) throw new Error('away');
    return { consents: [{ version: '1', language: 'en', users }], invited: [] };
  });
  return { counts, asked, state, pass: (ms: number) => (now += ms) };
}

test('counts of few users are those of now, each time', async () => {
  const { counts, asked, pass } = counting(limits.adoptionKeptUsersMin - 1);
  expect((await counts.of('a', 'terms')).countedAt).toBe(1_000_000);
  pass(1);
  expect((await counts.of('a', 'terms')).countedAt).toBe(1_000_001);
  expect(asked).toHaveLength(2);
});

test('counts of many are kept, of their tenant and definition, until they are too old', async () => {
  const { counts, asked, pass } = counting(limits.adoptionKeptUsersMin);
  await counts.of('a', 'terms');
  pass(limits.adoptionKeptMs - 1);
  expect((await counts.of('a', 'terms')).countedAt).toBe(1_000_000);
  await counts.of('a', 'news');
  await counts.of('b', 'terms');
  expect(asked).toEqual(['a/terms', 'a/news', 'b/terms']);
  pass(1);
  await counts.of('a', 'terms');
  expect(asked).toHaveLength(4);
});

test('of more definitions than adoptionsKept, the one that was asked for least lately is forgotten', async () => {
  const { counts, asked } = counting(limits.adoptionKeptUsersMin);
  for (let i = 0; i <= limits.adoptionsKept; i++) await counts.of('a', `terms-${i}`);
  await counts.of('a', 'terms-1');
  expect(asked).toHaveLength(limits.adoptionsKept + 1);
  await counts.of('a', 'terms-0');
  expect(asked).toHaveLength(limits.adoptionsKept + 2);
});

test('who asks at the same time waits for one counting; a failure is told to all of them, and the next one counts', async () => {
  const { counts, asked, state } = counting(1);
  await Promise.all([counts.of('a', 'terms'), counts.of('a', 'terms')]);
  expect(asked).toHaveLength(1);
  state.fails = true;
  const both = await Promise.allSettled([counts.of('a', 'terms'), counts.of('a', 'terms')]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  state.fails = false;
  expect((await counts.of('a', 'terms')).consents).toHaveLength(1);
  expect(asked).toHaveLength(3);
});
