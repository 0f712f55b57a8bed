/**
 * `npm test`: the whole suite, then what was not run here, with a count and the command that enables it. Ends with the
 * counts in a line of their own. Arguments go to vitest (a file name, -t …).
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const scratch = mkdtempSync(join(tmpdir(), 'accord-run-'));
const report = join(scratch, 'report.json');
const args = [
  'node_modules/vitest/vitest.mjs',
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
];

const { status } = spawnSync(process.execPath, [...args, ...process.argv.slice(2)], { cwd: root, stdio: 'inherit' });

type Report = {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  numFailedTestSuites: number;
};
let counts = { passed: 0, failed: 1, skipped: 0 };
try {
  const read = JSON.parse(readFileSync(report, 'utf8')) as Report;
  // A file that does not load fails without a failed test.
  const failed = Math.max(read.numFailedTests, status === 0 ? 0 : 1);
  counts = { passed: read.numPassedTests, failed, skipped: read.numPendingTests + read.numTodoTests };
} catch {
  // no report: vitest itself failed, and said why
}
rmSync(scratch, { recursive: true, force: true });

const CASES = 4419; // of OPA 1.22; test/conformance/run.ts counts them
console.log(
  `\nNot run here: ${CASES} conformance cases of OPA, which need Go. To run them: bash test/conformance/run.sh\n`,
);
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(status ?? 1);
