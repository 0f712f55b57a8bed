/** What is run again in CI, by test/run.ts: a test that failed, then a file. What passes then is named; what fails again has failed. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { combined, countsOf, filesAgain, flakyFiles, flakyOf, merged, type Run } from './helpers/report.ts';

const root = join(import.meta.dirname, '..');
const file = `import { describe, expect, test } from 'vitest';
let tries = 0;
test('passes', () => {});
describe('a group', () => test('passes the second time', () => expect(++tries).toBe(2)));
describe('steps', () => {
  const made = [];
  test('the first makes something', () => { made.push('car'); expect(made).toEqual(['bike']); });
  test('the second needs it', () => expect(made).toEqual(['bike']));
});`;

const isolated = `import { expect, test } from 'vitest';
test('passes, with a promise that nobody waits for', async () => {
  if (process.env.AGAIN !== '1') void Promise.reject(new Error('nobody waits'));
  await new Promise((resolve) => setTimeout(resolve, 50)); // the promise is found meanwhile
});`;

async function runIn(folder: string, again: boolean, ...given: string[]): Promise<Run> {
  const [report, unhandled] = [join(folder, 'report.json'), join(folder, 'unhandled.json')];
  const reporters = ['--reporter=json', `--reporter=${join(root, 'test/helpers/unhandled-reporter.ts')}`];
  const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder, ...reporters];
  const env = { ...process.env, TEST_UNHANDLED: unhandled, ...(again && { AGAIN: '1' }) };
  const status = await promisify(execFile)(process.execPath, [...vitest, `--outputFile=${report}`, ...given], {
    env,
  }).then(
    () => 0,
    (error: { code: number }) => error.code,
  );
  const read = async (file: string) => JSON.parse(await readFile(file, 'utf8'));
  return { status, report: await read(report), unhandled: await read(unhandled) };
}

async function folderOf(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'flaky-'));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

test('what passed the second time is named with its first failure, and what depends on a failure fails', async () => {
  const folder = await folderOf({ 'one.test.mjs': file });
  const run = await runIn(folder, false, '--retry=1');
  expect(countsOf(run)).toEqual({ passed: 2, failed: 2, skipped: 0 });
  expect(flakyOf(run.report, folder)).toEqual([
    expect.stringMatching(
      /^flaky: one\.test\.mjs > a group > passes the second time: AssertionError: expected 1 to be 2/,
    ),
  ]);
  expect([...filesAgain(run)]).toEqual([
    [join(folder, 'one.test.mjs'), expect.stringMatching(/^the first makes something: AssertionError/)],
  ]);
  const second = await runIn(folder, true, '--retry=1', join(folder, 'one.test.mjs'));
  expect(countsOf(combined(run, second, filesAgain(run)))).toEqual({ passed: 2, failed: 2, skipped: 0 });
  expect(flakyFiles(second, filesAgain(run), folder)).toEqual([]);
});

test('an error that no test caught fails the run; its file is run again, and named when it passes', async () => {
  const folder = await folderOf({ 'late.test.mjs': isolated, 'fine.test.mjs': isolated.replace("!== '1'", "=== '2'") });
  const run = await runIn(folder, false);
  expect(countsOf(run)).toEqual({ passed: 2, failed: 1, skipped: 0 });
  const files = filesAgain(run);
  expect([...files]).toEqual([[join(folder, 'late.test.mjs'), 'nobody waits']]);
  const second = await runIn(folder, true, ...files.keys());
  expect(countsOf(combined(run, second, files))).toEqual({ passed: 2, failed: 0, skipped: 0 });
  expect(flakyFiles(second, files, folder)).toEqual(['flaky: late.test.mjs, the whole file again: nobody waits']);
});

test('what fails in many files, or in no file that is known, is not run again', () => {
  const failed = (name: string) => ({ name, status: 'failed', message: 'did not load', assertionResults: [] });
  const run = (testResults: Run['report']['testResults'], unhandled: Run['unhandled'] = []) =>
    filesAgain({ status: 1, report: { testResults }, unhandled }).size;
  expect(run([failed('a'), failed('b')])).toBe(2);
  expect(run(['a', 'b', 'c', 'd', 'e', 'f'].map(failed))).toBe(0);
  expect(run([failed('a')], [{ message: 'somewhere' }])).toBe(0);
  // One of two runs crashed: that a file of the other passes the second time says nothing of it.
  const flaky = { status: 1, report: { testResults: [failed('a')] }, unhandled: [] };
  const crashed = { status: 1, report: { testResults: [] }, unhandled: [] };
  expect([filesAgain(merged(flaky, { ...crashed, status: 0 })).size, filesAgain(merged(flaky, crashed)).size]).toEqual([
    1, 0,
  ]);
  expect(countsOf({ status: 1, report: { testResults: [failed('a')] }, unhandled: [] }).failed).toBe(1);
});
