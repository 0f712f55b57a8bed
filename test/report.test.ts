/** The counts that test/run.ts prints of a real run: nothing that failed is left out. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { countsOf, merged, type Run } from './helpers/report.ts';

const root = join(import.meta.dirname, '..');
const fine = `import { test } from 'vitest'; test('passes', () => {}); test.skip('is skipped', () => {});`;

async function runOf(text: string): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), 'report-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'fine.test.mjs'), fine);
  await writeFile(join(folder, 'other.test.mjs'), text);
  const report = join(folder, 'report.json');
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const status = await promisify(execFile)(process.execPath, [
    ...[vitest, 'run', '--root', folder, '--reporter=json', `--outputFile=${report}`],
  ]).then(
    () => 0,
    (error: { code: number }) => error.code,
  );
  return { status, report: JSON.parse(await readFile(report, 'utf8')) };
}

test.each([
  ['nothing', fine, { passed: 2, failed: 0, skipped: 2 }],
  ['a test', fine.replace('() => {}', '() => { throw new Error() }'), { passed: 1, failed: 1, skipped: 2 }],
  ['a file that does not load', `throw new Error('no')`, { passed: 1, failed: 1, skipped: 1 }],
  [
    'a hook after the tests',
    `import { afterAll, test } from 'vitest'; test('passes', () => {}); afterAll(() => { throw new Error() });`,
    { passed: 2, failed: 1, skipped: 1 },
  ],
  [
    'an error that no test caught',
    `import { test } from 'vitest'; test('passes', async () => {
      void Promise.reject(new Error('nobody waits'));
      await new Promise((resolve) => setTimeout(resolve, 50)); // the promise is found meanwhile
    });`,
    { passed: 2, failed: 1, skipped: 1 },
  ],
])('what fails is counted: %s', async (_what, text, counts) => {
  expect(countsOf(await runOf(text))).toEqual(counts);
});

test('of two runs, one that crashed without a report fails both', () => {
  const passed = { name: 'a', status: 'passed', assertionResults: [{ status: 'passed' }] };
  const run: Run = { status: 0, report: { testResults: [passed] } };
  expect(countsOf(merged(run, run))).toEqual({ passed: 2, failed: 0, skipped: 0 });
  const crashed: Run = { status: 1, report: { testResults: [] } };
  expect(countsOf(merged(crashed, run))).toEqual({ passed: 1, failed: 1, skipped: 0 });
});
