/** How long files took, of all and beside what is usual. */
import { expect, test } from 'vitest';
import { grown, printed, slowest } from './helpers/durations.ts';

const took = (tests: number) => ({ start: 0.5, import: 0.25, setup: 0.25, tests, hooks: 0, passed: 1, assertions: 2 });

const steady = { 'd.test.ts': took(9), 'e.test.ts': took(9), 'f.test.ts': took(9), 'g.test.ts': took(9) };

test('a file that takes half as long again as is usual is named, and one that is short or new is not', () => {
  const usual = { ...steady, 'a.test.ts': took(19), 'b.test.ts': took(19), 'c.test.ts': took(1) };
  const now = {
    ...{ ...steady, 'a.test.ts': took(29), 'b.test.ts': took(28.9), 'c.test.ts': took(5.9) },
    'new.test.ts': took(100),
  };
  expect(grown(usual, now)).toEqual(["slower: a.test.ts: 30.0 s, usually 20.0 s at the run's pace"]);
  expect(slowest(now, 2)).toEqual([
    ['new.test.ts', 101],
    ['a.test.ts', 30],
  ]);
  expect(JSON.parse(printed(now))).toEqual(now);
  expect(printed(now).split('\n')).toHaveLength(Object.keys(now).length + 3);
});

test('what makes all files take longer names none of them', () => {
  const usual = { ...steady, 'a.test.ts': took(19) };
  const twice = Object.fromEntries(Object.keys(steady).map((file) => [file, took(19)]));
  expect(grown(usual, { ...twice, 'a.test.ts': took(39) })).toEqual([]);
  expect(grown(usual, { ...twice, 'a.test.ts': took(59) })).toEqual([
    "slower: a.test.ts: 60.0 s, usually 40.0 s at the run's pace",
  ]);
});
