/**
 * `npm test`: the whole suite, then what was not run here, with a count and the command that enables it. Ends with the
 * counts in a line of their own. Arguments go to vitest (a file name, -t …). `npm run test:kubernetes` is this with
 * `--project kubernetes`: then KUBECONFIG may name the cluster, and its absence is a failure. `--durations` writes how long
 * each file took into test/durations.json, if all of its tests passed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join, relative } from 'node:path';
import { howToBuildSite, whyNoSite } from './docs-site/built.ts';
import { byPart } from './helpers/coverage.ts';
import { type ByFile, grown, printed, table, usualDurations } from './helpers/durations.ts';
import { combined, countsOf, filesAgain, flakyFiles, flakyOf, merged, type Run } from './helpers/report.ts';
import { createRunScratch } from './helpers/run-scratch.ts';
import { clusterForTests, whyNoNode } from './kubernetes/programs.ts';
import { chromiumPath, howToGetChromium } from './pages/chromium.ts';
import { testFiles } from './units.ts';

const root = join(import.meta.dirname, '..');
const scratch = createRunScratch();
// In CI, where the race of one of ten thousand tests would fail the whole: what passes the second time is named.
const isTriedAgain = process.env.TEST_RETRY === '1';
/** How long the files took, of which the run of this moment adds its own. */
const durations: Record<string, ByFile[string]> = {};

/** A run that was stopped ends by itself in this time, or its processes are killed. */
const STOPPING_MS_MAX = 5000;
const running = new Set<ChildProcess>();
let stoppedBy: NodeJS.Signals | undefined;
// Whoever stops us stops vitest. What is left is removed after us (run-scratch.ts).
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    stoppedBy = signal;
    for (const child of running) child.kill('SIGTERM');
    // Vitest may wait for the test that runs.
    setTimeout(() => process.exit(128 + constants.signals[signal]), STOPPING_MS_MAX);
  });

/** Runs vitest. One that ends without a report has failed as a whole, and said why. `log`: a file for what it prints. */
async function runVitest(name: string, given: readonly string[], log?: string): Promise<Run> {
  const [report, unhandled] = [
    join(scratch.directory, `${name}.json`),
    join(scratch.directory, `${name}-unhandled.json`),
  ];
  const took = join(scratch.directory, `${name}-durations.json`);
  const own = ['progress', 'unhandled'].map((reporter) => `--reporter=./test/helpers/${reporter}-reporter.ts`);
  const output = log === undefined ? 'inherit' : openSync(log, 'w');
  const child = spawn(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', ...own, '--reporter=json', `--outputFile.json=${report}`, ...given],
    {
      cwd: root,
      stdio: ['inherit', output, output],
      env: { ...process.env, ...scratch.env, TEST_UNHANDLED: unhandled, TEST_DURATIONS: took },
    },
  );
  running.add(child);
  const [code] = (await once(child, 'exit')) as [number | null];
  running.delete(child);
  if (stoppedBy !== undefined) process.exit(128 + constants.signals[stoppedBy]);
  try {
    const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
    Object.assign(durations, read(took));
    return { status: code ?? 1, report: read(report), unhandled: read(unhandled) };
  } catch {
    return { status: code || 1, report: { testResults: [] }, unhandled: [] };
  }
}

/** The tests of Kubernetes mostly wait for its controllers: they run beside the rest, and are printed after it. */
async function runWithKubernetes(retry: readonly string[]): Promise<Run> {
  const log = join(scratch.directory, 'kubernetes.log');
  const [rest, kubernetes] = await Promise.all([
    runVitest('first', ['--project', '!kubernetes', ...retry]),
    runVitest('kubernetes', ['--project', 'kubernetes', ...retry], log),
  ]);
  process.stdout.write(readFileSync(log));
  return merged(rest, kubernetes);
}

const given = process.argv.slice(2).filter((argument) => argument !== '--durations');
const isWritten = process.argv.includes('--durations');
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
if (process.env.TEST_NODE === 'required' && clusterForTests() === undefined) {
  console.error(`TEST_NODE=required, and there is no Kubernetes API server. To build one: ${build}`);
  process.exit(2);
}
const retry = isTriedAgain ? ['--retry=1'] : [];
let run = await (given.length === 0 && clusterForTests() !== undefined
  ? runWithKubernetes(retry)
  : runVitest('first', [...retry, ...given]));
const again = isTriedAgain ? filesAgain(run) : new Map<string, string>();
const flaky: string[] = [];
if (again.size > 0) {
  console.log(`\nOnce more, by themselves: ${[...again.keys()].map((file) => relative(root, file)).join(', ')}\n`);
  const second = await runVitest('second', [...again.keys()]);
  flaky.push(...flakyFiles(second, again, root));
  run = combined(run, second, again);
}
flaky.push(...flakyOf(run.report, root));
const left = await scratch.leftRunning();
if (left.length > 0)
  console.log(`\nLEFT RUNNING by a test, and killed now, which fails the run:\n${left.join('\n')}\n`);

const counts = countsOf(run);
counts.failed += left.length;
const skippedOf = (files: RegExp) =>
  run.report.testResults
    .filter(({ name }) => files.test(relative(root, name)))
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status !== 'passed' && status !== 'failed').length;
const skippedOfKubernetes = skippedOf(/^test\/kubernetes\//);
const skippedOfSite = skippedOf(/^test\/docs-site\//);
const skippedInBrowser = skippedOf(/^(?!test\/docs-site\/).*browser\.test\.ts$/);

const CASES = 4427; // of OPA 1.22; test/conformance/run.ts counts them
const conformance = `${CASES} conformance cases of OPA, which need Go. To run them: bash test/conformance/run.sh`;
console.log(given.length === 0 ? `\nNot run here: ${conformance}\n` : '');
const reason =
  clusterForTests() === undefined
    ? `there is no API server. To build one (needs Go, about 10 minutes, once): ${build}`
    : whyNoNode();
if (skippedOfKubernetes > 0 && reason !== undefined)
  console.log(`NOT RUN HERE: ${skippedOfKubernetes} tests on a real Kubernetes: ${reason}\n`);
if (skippedInBrowser > 0 && chromiumPath() === undefined)
  console.log(
    `NOT RUN HERE: ${skippedInBrowser} tests in a browser: there is no Chromium. To run them: ${howToGetChromium}\n`,
  );
const noSite = whyNoSite();
if (skippedOfSite > 0 && noSite !== undefined)
  console.log(
    `NOT RUN HERE: ${skippedOfSite} tests of the built documentation: ${noSite}. To build it: ${howToBuildSite}\n`,
  );
const coverage = join(root, 'coverage/coverage-summary.json');
if (given.includes('--coverage') && existsSync(coverage)) {
  const summary = JSON.parse(readFileSync(coverage, 'utf8'));
  console.log(`Coverage; coverage/index.html shows the lines.\n${byPart(summary, root).join('\n')}\n`);
}
const usual = usualDurations();
if (process.env.TEST_GROWN === '1') for (const line of grown(usual, durations)) console.log(line);
if (isWritten) {
  const files = new Set(testFiles());
  const whole = run.report.testResults.filter(({ assertionResults }) =>
    assertionResults.every(({ status }) => status === 'passed'),
  );
  const now = Object.fromEntries(whole.map(({ name }) => [relative(root, name), durations[relative(root, name)]]));
  const known = Object.entries({ ...usual, ...now } as ByFile).filter(([file]) => files.has(file));
  writeFileSync(table, printed(Object.fromEntries(known)));
}
if (flaky.length > 0) {
  console.log(
    `FLAKY: ${flaky.length} passed only when they were run again. Each is a race of the test, or of the product:`,
  );
  console.log(`${flaky.join('\n')}\n`);
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(run.status || (left.length > 0 ? 1 : 0));
