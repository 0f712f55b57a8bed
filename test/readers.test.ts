/** What `npm run test:changed` runs beside the tests that import what changed. */
import { expect, test } from 'vitest';
import { readers, readersOf } from './readers.ts';
import { testFiles } from './units.ts';

test('each rule names tests that are there', () => {
  for (const [, tests] of readers) expect(testFiles().filter((file) => tests.test(file))).not.toEqual([]);
});

test('the pages are tested in a browser when the portal changed, and nothing is when nothing did', () => {
  const portal = readersOf(['portal/src/screens/people/list.tsx']);
  expect(portal).toEqual(expect.arrayContaining(['test/portal-app/people.browser.test.ts', 'test/tidy.test.ts']));
  expect(readersOf(['server/app.ts'])).toEqual(['test/mutants/list.test.ts', 'test/tidy.test.ts']);
  expect(readersOf([])).toEqual([]);
});
