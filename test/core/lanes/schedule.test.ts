import { expect, test } from 'vitest';
import { retryAfterMs, retryDelayMs, retrySchedule } from '../../../server/core/lanes/schedule.ts';

test('the schedule is 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h, and stays at its end', () => {
  expect(retrySchedule.map((ms) => ms / 1000)).toEqual([5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]);
  expect(retryDelayMs(1, 0, 0)).toBe(2500);
  expect(retryDelayMs(1, 0, 0.5)).toBe(3750);
  expect(retryDelayMs(9, 0, 0)).toBe(43_200_000);
  expect(retryDelayMs(100, 0, 0)).toBe(43_200_000);
});

test('what the other side asks for is obeyed where it is longer, up to a day', () => {
  expect(retryDelayMs(1, 60_000, 0)).toBe(60_000);
  expect(retryDelayMs(2, 1000, 0)).toBe(150_000);
  expect(retryDelayMs(1, 10 ** 12, 0)).toBe(86_400_000);
});

test.each([
  ['120', 120_000],
  ['0', 0],
  ['Tue, 24 Nov 2026 00:01:00 GMT', 60_000],
  ['Mon, 23 Nov 2026 23:00:00 GMT', 0],
  ['soon', undefined],
  ['-5', undefined],
  ['1e9', undefined],
  ['99999999999', undefined],
  [undefined, undefined],
])('Retry-After: %s', (header, ms) => {
  expect(retryAfterMs(header, Date.parse('2026-11-24T00:00:00Z'))).toBe(ms);
});
