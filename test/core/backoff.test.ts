import { expect, test } from 'vitest';
import { jittered, nextDelayMs } from '../../server/core/backoff.ts';

test('each delay is twice the one before, within its bounds', () => {
  const bounds = { minMs: 5000, maxMs: 30_000 };
  expect([0, 5000, 20_000, 30_000].map((ms) => nextDelayMs(ms, bounds))).toEqual([5000, 10_000, 30_000, 30_000]);
  expect(nextDelayMs(3_600_000, { minMs: 3_600_000, maxMs: 30_000 })).toBe(3_600_000);
});

test('a jittered delay is between half of it and all of it', () => {
  for (let n = 0; n < 100; n++) {
    const ms = jittered(1000);
    expect(ms).toBeGreaterThanOrEqual(500);
    expect(ms).toBeLessThanOrEqual(1000);
  }
});
