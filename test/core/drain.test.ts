/** A worker that empties what waits: nothing that comes while it ends is left behind. */
import { describe, expect, test } from 'vitest';
import { Drain } from '../../server/core/drain.ts';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('what comes', () => {
  test.each(Array.from({ length: 12 }, (_, steps) => steps))('%i steps after the begin is done', async (steps) => {
    const [waiting, done] = [['first'], [] as string[]];
    const drain = new Drain(
      () => waiting.length > 0,
      async () => {
        for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
          done.push(one);
          await Promise.resolve();
        }
      },
    );
    void drain.run();
    for (let step = 0; step < steps; step++) await Promise.resolve();
    waiting.push('late');
    void drain.run();
    await nextTurn();
    expect(done).toEqual(['first', 'late']);
    expect(drain.running).toBeUndefined();
  });
});

test('one works at a time, and whoever asks meanwhile waits for it', async () => {
  let [waiting, working, most] = [3, 0, 0];
  const drain = new Drain(
    () => waiting > 0,
    async () => {
      most = Math.max(most, ++working);
      await nextTurn();
      waiting--;
      working--;
    },
  );
  await Promise.all([drain.run(), drain.run()]);
  expect([waiting, most]).toEqual([0, 1]);
});

test('work that fails is told to whoever waits, and begins again when it is asked for', async () => {
  let calls = 0;
  const drain = new Drain(
    () => false,
    async () => {
      if (calls++ === 0) throw new Error('the database is away');
    },
  );
  await expect(Promise.allSettled([drain.run(), drain.run()])).resolves.toMatchObject([
    { status: 'rejected' },
    { status: 'rejected' },
  ]);
  await drain.run();
  expect(calls).toBe(2);
});
