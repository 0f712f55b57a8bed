/** What vitest's report in JSON says of the tests that failed first and passed when they were run again. */
import { relative } from 'node:path';

export type Report = {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  numFailedTestSuites: number;
  testResults: {
    name: string;
    assertionResults: { status: string; ancestorTitles: string[]; title: string; failureMessages: string[] }[];
  }[];
};

/** A line for each: where it is, and what it failed with. The errors of all attempts are in the report. */
export function flakyOf({ testResults }: Report, root: string): string[] {
  return testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status, failureMessages }) => status === 'passed' && failureMessages.length > 0)
      .map(({ ancestorTitles, title, failureMessages: [first = ''] }) => {
        const where = [relative(root, name), ...ancestorTitles.filter((one) => one !== ''), title].join(' > ');
        return `flaky: ${where}: ${first.split('\n')[0]}`;
      }),
  );
}
