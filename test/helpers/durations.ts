/** Where the time of a run went, by file: test/durations.json has what is usual. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Seconds. `hooks` are those of the file; those of a test are in `tests`. */
export type Durations = { start: number; import: number; setup: number; tests: number; hooks: number };
/** Tests that passed, and the assertions that those of the file made: what a change loses is seen in a diff. */
export type Counts = { passed: number; assertions: number };
export type ByFile = Readonly<Record<string, Durations & Counts>>;

/** A file that takes less grows by half when the machine is busy for a moment. */
const GROWN_SECONDS_MIN = 5;
const GROWN_FACTOR = 1.5;

export const secondsOf = (one: Durations) => one.start + one.import + one.setup + one.tests + one.hooks;

export const table = join(import.meta.dirname, '../durations.json');

/** What the table says. */
export const usualDurations = (): ByFile => (existsSync(table) ? JSON.parse(readFileSync(table, 'utf8')) : {});

/** The files that took longest, with their seconds. */
export const slowest = (files: ByFile, count: number): [file: string, seconds: number][] =>
  Object.entries(files)
    .map(([file, one]): [string, number] => [file, secondsOf(one)])
    .sort(([, one], [, other]) => other - one)
    .slice(0, count);

/**
 * A line for each file that takes half as long again as is usual. What a machine, or more files at once, do to all of them is
 * not meant: a run's own pace is the median of its files.
 */
export function grown(usual: ByFile, now: ByFile): string[] {
  const both = Object.entries(now).flatMap(([file, one]) => {
    const before = usual[file];
    return before === undefined ? [] : [{ file, was: secondsOf(before), is: secondsOf(one) }];
  });
  const paces = both.filter(({ was }) => was >= 1).map(({ was, is }) => is / was);
  const pace = paces.sort((one, other) => one - other)[Math.floor(paces.length / 2)] ?? 1;
  return both
    .filter(({ was, is }) => is / pace - was >= GROWN_SECONDS_MIN && is / pace >= was * GROWN_FACTOR)
    .map(
      ({ file, was, is }) =>
        `slower: ${file}: ${is.toFixed(1)} s, usually ${(was * pace).toFixed(1)} s at the run's pace`,
    );
}

/** A table of a line for each file, whose changes can be read in a diff. */
export const printed = (files: ByFile): string => {
  const lines = Object.entries(files)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([file, one]) => `  ${JSON.stringify(file)}: ${JSON.stringify(one).replaceAll(/[,:]/g, '$& ')}`);
  return `{\n${lines.join(',\n')}\n}\n`;
};
