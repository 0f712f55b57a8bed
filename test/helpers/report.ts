/** What one run of vitest said, and which files of it are run once more. */
import { relative } from 'node:path';

type FileResult = {
  name: string;
  status: string;
  message: string;
  assertionResults: { status: string; ancestorTitles: string[]; title: string; failureMessages: string[] }[];
};
/** Vitest's report in JSON, as far as it is read. */
export type Report = { testResults: FileResult[] };
/** An error that no test caught. `file`: during which file, where vitest knows it. */
export type Unhandled = { message: string; file?: string };
/** `parts`: those of a merged run, each of which has to say itself why it failed. */
export type Run = { status: number; report: Report; unhandled: Unhandled[]; parts?: Run[] };

/** Where more files fail than this, something is broken, and a second run says nothing. */
const filesAgainMax = 5;

const firstLine = (text: string) => text.split('\n')[0];

export function countsOf({ status, report }: Run) {
  const results = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const count = (...states: string[]) => results.filter((one) => states.includes(one.status)).length;
  const [passed, failedTests] = [count('passed'), count('failed')];
  // A file that does not load, or whose hook fails, fails without a failed test; an error that no test caught, without a file.
  const isFailed = ({ status: state, assertionResults }: FileResult) =>
    state === 'failed' && !assertionResults.some((one) => one.status === 'failed');
  const failed = failedTests + report.testResults.filter(isFailed).length;
  return { passed, failed: Math.max(failed, status === 0 ? 0 : 1), skipped: results.length - passed - failedTests };
}

/** The files in which something failed, with what failed first; none where a second run would say nothing. */
export function filesAgain(run: Run): Map<string, string> {
  const parts = (run.parts ?? [run]).filter(({ status }) => status !== 0).map(failedFiles);
  const files = new Map(parts.flatMap((part) => [...part]));
  // A run that crashed says nothing of any file.
  return parts.some(({ size }) => size === 0) || files.size > filesAgainMax ? new Map() : files;
}

function failedFiles({ report, unhandled }: Run): Map<string, string> {
  const files = new Map<string, string>();
  if (unhandled.some(({ file }) => file === undefined)) return files;
  for (const { name, status: state, message, assertionResults } of report.testResults) {
    if (state === 'passed') continue;
    const failed = assertionResults.find((one) => one.status === 'failed');
    files.set(name, firstLine(failed === undefined ? message : `${failed.title}: ${failed.failureMessages[0]}`) ?? '');
  }
  for (const { file, message } of unhandled) files.set(file as string, firstLine(message) ?? '');
  return files;
}

/** Two runs of different files. */
export const merged = (one: Run, other: Run): Run => ({
  status: Math.max(one.status, other.status),
  report: { testResults: [...one.report.testResults, ...other.report.testResults] },
  unhandled: [...one.unhandled, ...other.unhandled],
  parts: [one, other],
});

/** The first run, with the files of the second as the second found them. */
export function combined(first: Run, second: Run, files: ReadonlyMap<string, string>): Run {
  const kept = first.report.testResults.filter(({ name }) => !files.has(name));
  return { ...second, report: { testResults: [...kept, ...second.report.testResults] } };
}

/** A line for each test that passed when it was run again: where it is, and what it failed with. */
export function flakyOf({ testResults }: Report, root: string): string[] {
  return testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status, failureMessages }) => status === 'passed' && failureMessages.length > 0)
      .map(({ ancestorTitles, title, failureMessages: [first = ''] }) => {
        const where = [relative(root, name), ...ancestorTitles.filter((one) => one !== ''), title].join(' > ');
        return `flaky: ${where}: ${firstLine(first)}`;
      }),
  );
}

/** A line for each file that passed as a whole in the second run. */
export function flakyFiles({ report, unhandled }: Run, files: ReadonlyMap<string, string>, root: string): string[] {
  const passed = ({ name, status }: FileResult) =>
    files.has(name) && status === 'passed' && !unhandled.some(({ file }) => file === name);
  return report.testResults
    .filter(passed)
    .map(({ name }) => `flaky: ${relative(root, name)}, the whole file again: ${files.get(name)}`);
}
