/**
 * Tests that look at files which they do not import: they read them, or run what was built of them. `npm run test:changed`
 * runs them when such a file changed.
 */
import { testFiles } from './units.ts';

export const readers: readonly [changed: RegExp, tests: RegExp][] = [
  [/^portal\//, /^test\/(portal-app\/|persons\/.*browser)/],
  [/^packages\//, /^test\/client\//],
  [/^(crds|examples)\/.*\.(yaml|json)$/, /^test\/(crds|deploy|cli)\//],
  [/^(charts|deploy|bin)\/|^(Dockerfile|compose\.yaml)$/, /^test\/(deploy|kubernetes)\//],
  [/^docs\/|\.md$/, /^test\/(docs\.test|docs\/|docs-site\/)/],
  [/^server\/migrations\//, /^test\/(core|rooms)\//],
  // They read every file of the product.
  [/./, /^test\/(tidy|mutants\/list)\.test/],
];

/** @param changed paths from the root, with slashes */
export const readersOf = (changed: readonly string[]): string[] =>
  testFiles().filter((test) =>
    readers.some(([files, tests]) => tests.test(test) && changed.some((one) => files.test(one))),
  );
