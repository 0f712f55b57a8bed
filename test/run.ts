/**
 * `npm test`: the whole suite, then what was not run here, with a count and the command that enables it. Ends with the
 * counts in a line of their own. Arguments go to vitest (a file name, -t …). `npm run test:kubernetes` is this with
 * `--project kubernetes`: then KUBECONFIG may name the cluster, and its absence is a failure.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { howToBuildSite, whyNoSite } from './docs-site/built.ts';
import { flakyOf, type Report } from './helpers/report.ts';
import { clusterForTests, whyNoNode } from './kubernetes/programs.ts';
import { howToGetChromium } from './pages/chromium.ts';

const root = join(import.meta.dirname, '..');
const scratch = mkdtempSync(join(tmpdir(), 'accord-run-'));
const report = join(scratch, 'report.json');
const args = [
  'node_modules/vitest/vitest.mjs',
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
  // In CI, where the race of one of ten thousand tests would fail the whole: what passes the second time is named.
  ...(process.env.TEST_RETRY === '1' ? ['--retry=1'] : []),
];

const given = process.argv.slice(2);
const build = 'bash test/kubernetes/build.sh';
if (given[0] === '--project' && given[1] === 'kubernetes') {
  process.env.TEST_ON_KUBECONFIG = '1';
  if (clusterForTests() === undefined) {
    console.error(
      `There is no Kubernetes API server to test against. To build one (needs Go, about 10 minutes): ${build}`,
    );
    console.error('Or set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver and kubectl, or KUBECONFIG.');
    process.exit(2);
  }
  if (clusterForTests() === 'existing') console.log(`On the cluster that ${process.env.KUBECONFIG} names.`);
}
const { status } = spawnSync(process.execPath, [...args, ...given], { cwd: root, stdio: 'inherit' });

let skippedOfKubernetes = 0;
let skippedInBrowser = 0;
let skippedOfSite = 0;
let flaky: string[] = [];
let counts = { passed: 0, failed: 1, skipped: 0 };
try {
  const read = JSON.parse(readFileSync(report, 'utf8')) as Report;
  // A file that does not load fails without a failed test.
  const failed = Math.max(read.numFailedTests, status === 0 ? 0 : 1);
  counts = { passed: read.numPassedTests, failed, skipped: read.numPendingTests + read.numTodoTests };
  const skippedOf = (files: RegExp) =>
    read.testResults
      .filter(({ name }) => files.test(relative(root, name)))
      .flatMap(({ assertionResults }) => assertionResults)
      .filter(({ status: state }) => state !== 'passed' && state !== 'failed').length;
  flaky = flakyOf(read, root);
  skippedOfKubernetes = skippedOf(/^test\/kubernetes\//);
  skippedOfSite = skippedOf(/^test\/docs-site\//);
  skippedInBrowser = skippedOf(/browser\.test\.ts$|\/member-invitation-page\.test\.ts$/);
} catch {
  // no report: vitest itself failed, and said why
}
rmSync(scratch, { recursive: true, force: true });

const CASES = 4427; // of OPA 1.22; test/conformance/run.ts counts them
console.log(
  `\nNot run here: ${CASES} conformance cases of OPA, which need Go. To run them: bash test/conformance/run.sh\n`,
);
const reason =
  clusterForTests() === undefined
    ? `there is no API server. To build one (needs Go, about 10 minutes, once): ${build}`
    : whyNoNode();
if (skippedOfKubernetes > 0)
  console.log(`NOT RUN HERE: ${skippedOfKubernetes} tests on a real Kubernetes: ${reason}\n`);
if (skippedInBrowser > 0)
  console.log(
    `NOT RUN HERE: ${skippedInBrowser} tests in a browser: there is no Chromium. To run them: ${howToGetChromium}\n`,
  );
if (skippedOfSite > 0)
  console.log(
    `NOT RUN HERE: ${skippedOfSite} tests of the built documentation: ${whyNoSite()}. To build it: ${howToBuildSite}\n`,
  );
if (flaky.length > 0) {
  console.log(
    `FLAKY: ${flaky.length} of the tests that passed had failed at first. Each is a race of the test, or of the product:`,
  );
  console.log(`${flaky.join('\n')}\n`);
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(status ?? 1);
