/** A test that passes when it is run again is told by vitest's report, which test/run.ts reads; one that fails again, too, is a failure. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { flakyOf, type Report } from './helpers/report.ts';

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

test('what passed the second time is named with its first failure, and what depends on a failure fails', async () => {
  const folder = await mkdtemp(join(root, 'node_modules/.cache/flaky-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'one.test.mjs'), file);
  const report = join(folder, 'report.json');
  const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder, '--retry=1'];
  const run = promisify(execFile)(process.execPath, [...vitest, '--reporter=json', `--outputFile=${report}`]);
  await expect(run).rejects.toMatchObject({ code: 1 });
  const read = JSON.parse(await readFile(report, 'utf8')) as Report;
  expect([read.numPassedTests, read.numFailedTests]).toEqual([2, 2]);
  expect(flakyOf(read, folder)).toEqual([
    expect.stringMatching(
      /^flaky: one\.test\.mjs > a group > passes the second time: AssertionError: expected 1 to be 2/,
    ),
  ]);
});
