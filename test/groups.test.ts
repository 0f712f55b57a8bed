/** What `npm run test:unit` runs, and what shares a process. */
import { expect, test } from 'vitest';
import { browser, isolated, isolatedFiles, shared, slow, unit } from './groups.ts';
import { testFiles, unitFiles } from './units.ts';

test('a unit test asks for no database, browser, cluster or process, by itself or by what it imports', () => {
  const units = new Set(unitFiles());
  expect([...units]).toEqual(expect.arrayContaining(['test/groups.test.ts', 'test/invitations/rules.test.ts']));
  for (const file of [
    'test/invitations/tokens.test.ts', // imports helpers/server.ts
    'test/core/transactions.test.ts', // helpers/database.ts
    'test/portal/portal.browser.test.ts', // playwright-core
    'test/flaky.test.ts', // node:child_process
    'test/operator/operator.test.ts', // its harness imports helpers/database.ts
    'test/cli/validate.test.ts', // its helper starts processes
  ]) {
    expect(testFiles()).toContain(file);
    expect(units.has(file), file).toBe(false);
  }
  expect(testFiles().filter((file) => /browser|^test\/(e2e|kubernetes)\//.test(file) && units.has(file))).toEqual([]);
});

test('each file is in one project only, and each entry of the lists is one of a file', () => {
  const kubernetes = testFiles().filter((file) => file.startsWith('test/kubernetes/'));
  expect([...unit, ...shared, ...browser, ...isolatedFiles, ...kubernetes].sort()).toEqual(testFiles());
  const unused = Object.keys(isolated).filter((one) => !isolatedFiles.some((file) => file.startsWith(one)));
  expect(unused).toEqual([]);
  expect(slow.filter((files) => !unitFiles().some((file) => files.test(file)))).toEqual([]);
});
