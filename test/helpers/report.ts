/** What a run of vitest said, and the counts of it. */

type FileResult = { name: string; status: string; assertionResults: { status: string }[] };
/** Vitest's report in JSON, as far as it is read. */
export type Report = { testResults: FileResult[] };
/** `status`: with which vitest exited. */
export type Run = { status: number; report: Report };

/** Never without a failure where vitest exited with one. */
export function countsOf({ status, report }: Run) {
  const results = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const count = (state: string) => results.filter((one) => one.status === state).length;
  const [passed, failedTests] = [count('passed'), count('failed')];
  // A file that does not load, or whose hook fails, fails without a failed test; an error that no test caught, without a file.
  const isFailed = ({ status: state, assertionResults }: FileResult) =>
    state === 'failed' && !assertionResults.some((one) => one.status === 'failed');
  const failed = failedTests + report.testResults.filter(isFailed).length;
  return { passed, failed: Math.max(failed, status === 0 ? 0 : 1), skipped: results.length - passed - failedTests };
}

/** Two runs of different files. */
export const merged = (one: Run, other: Run): Run => ({
  status: Math.max(one.status, other.status),
  report: { testResults: [...one.report.testResults, ...other.report.testResults] },
});
