import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { turns, until, untilPasses, WAIT_MS_MAX } from './helpers/wait.ts';

const clock = { now: 0 };
beforeEach(() => {
  clock.now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clock.now);
});
afterEach(() => {
  vi.restoreAllMocks();
});

test('it asks until it is so, and returns the answer', async () => {
  let asked = 0;
  expect(await until('the third', () => ++asked === 3 && 'third')).toBe('third');
  expect(asked).toBe(3);
  await untilPasses('five', () => expect(++asked).toBe(5));
  expect(asked).toBe(5);
});

test('what never is so is named, with the last answer', async () => {
  const never = () => {
    clock.now += WAIT_MS_MAX;
    return null;
  };
  await expect(until('the letter', never)).rejects.toThrow(
    /^waited 120000 ms for the letter: the last answer was null$/,
  );
  const wrong = () => {
    clock.now += WAIT_MS_MAX;
    expect(1).toBe(2);
  };
  const error = await untilPasses('the letter', wrong).catch((error) => error);
  expect(error).toMatchObject({ message: 'waited 120000 ms for the letter' });
  expect(String(error.cause)).toContain('expected 1 to be 2');
});

test('turns let what is ready run', async () => {
  const done: number[] = [];
  setImmediate(() => setImmediate(() => done.push(1)));
  await turns();
  expect(done).toEqual([1]);
});
