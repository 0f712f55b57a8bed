/** Waiting for a revision: what a number that nobody wrote may cost, however many send it. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { RevisionWaiter } from '../../server/snapshot/revision-waiter.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());
const wait = limits.minRevisionWaitMs;

/** A tenant that is served at 5; a reading takes 3 ms, and finds what is committed. */
function tenant() {
  const state = { current: 5, committed: 5, readAt: [] as number[], reading: 0, most: 0, failing: false };
  const started = Date.now();
  const waiter = new RevisionWaiter({
    current: () => state.current,
    read: async () => {
      state.readAt.push(Date.now() - started);
      state.most = Math.max(state.most, ++state.reading);
      const committed = state.committed;
      await new Promise((resolve) => setTimeout(resolve, 3)); // of a clock that the tests move
      state.reading--;
      if (state.failing) throw new Error('the database is away');
      if (committed > state.current) serve(committed);
    },
  });
  const serve = (revision: number) => {
    state.current = revision;
    waiter.arrived('t');
  };
  return { state, serve, reach: (revision: number) => waiter.reach('t', revision, wait) };
}

test('what was committed before the call is found by one reading, what comes later by its notification', async () => {
  const { state, serve, reach } = tenant();
  expect(await reach(5)).toBe(true);
  expect(state.readAt).toEqual([]);
  state.committed = 6;
  const found = reach(6);
  await vi.advanceTimersByTimeAsync(3);
  expect(await found).toBe(true);
  const told = reach(7);
  await vi.advanceTimersByTimeAsync(100);
  serve(7);
  expect(await told).toBe(true);
  expect(state.readAt).toHaveLength(2);
});

test('a number that nobody wrote costs one reading for all that wait when it begins, and is given up after the wait', async () => {
  const { state, reach } = tenant();
  const absurd = Promise.all(Array.from({ length: 1000 }, () => reach(999_999_999)));
  await vi.advanceTimersByTimeAsync(wait);
  expect(new Set(await absurd)).toEqual(new Set([false]));
  // One for the first, one for the 999 that came while it was under way.
  expect(state.readAt).toEqual([0, 3 + limits.minRevisionPauseMsMin]);
});

test('and a stream of them costs one at a time, further and further apart, until something new is found', async () => {
  const { state, reach } = tenant();
  for (let ms = 0; ms < wait; ms += 5) {
    void reach(999_999_999);
    await vi.advanceTimersByTimeAsync(5);
  }
  const gaps = state.readAt.slice(1).map((at, n) => at - (state.readAt[n] as number) - 3);
  for (const [n, gap] of gaps.entries()) {
    const pause = Math.min(limits.minRevisionPauseMsMin * 2 ** n, limits.minRevisionPauseMsMax);
    expect(gap).toBeGreaterThanOrEqual(pause);
    expect(gap).toBeLessThan(pause + 5); // until the next one comes
  }
  expect(gaps.length).toBeGreaterThan(5);
  expect(state.most).toBe(1);
  state.committed = 6;
  const found = reach(6);
  await vi.advanceTimersByTimeAsync(limits.minRevisionPauseMsMax + 3);
  expect(await found).toBe(true);
});

test('a reading that failed says nothing: another one follows', async () => {
  const { state, reach } = tenant();
  state.failing = true;
  state.committed = 6;
  const found = reach(6);
  await vi.advanceTimersByTimeAsync(20);
  state.failing = false;
  await vi.advanceTimersByTimeAsync(limits.minRevisionPauseMsMin);
  expect(await found).toBe(true);
  expect(state.readAt).toHaveLength(2);
});
