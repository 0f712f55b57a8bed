/** Every bound of core/limits.ts has a test at the limit and one past it: which file that is, or why there is none. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';

const root = join(import.meta.dirname, '..');
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.test.ts') && file !== join('core', 'limits.test.ts'),
);
const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));

/** Where a bound is put to the test: the test files that name it. */
const testsOf = (bound: string) => files.filter((file) => new RegExp(`\\b${bound}\\b`).test(texts.get(file) as string));

/** Bounds that no test reaches, and why not. */
const untested: Partial<Record<keyof typeof limits, string>> = {};

/** Bounds of the rego, auth, operator, graphql and authz rooms whose tests do not name them yet. */
const pending: (keyof typeof limits)[] = [
  'compileMemoryPages',
  'builtinResultBytesMax',
  'regexPatternCharsMax',
  'verifiedTokensMax',
  'outboundTimeoutMs',
  'manifestFilesMax',
  'manifestDirectoryDepthMax',
  'yamlAliasesMax',
  'massDeletionPercentMax',
  'reconcileRetryMsMin',
  'reconcileRetryMsMax',
  'reconcileAgedAfterMs',
  'graphqlRequestRowsMax',
  'graphqlDocumentsKept',
  'graphqlPlanMsMax',
  'missingRelationshipsMax',
  'missingWaysMax',
];

test('every bound is named by the test that reaches it, or is known to have none', () => {
  const bounds = Object.keys(limits);
  const missing = bounds.filter(
    (bound) => testsOf(bound).length === 0 && !(bound in untested) && !pending.includes(bound as never),
  );
  expect(missing).toEqual([]);
  expect(Object.keys(untested).filter((bound) => !bounds.includes(bound) || testsOf(bound).length > 0)).toEqual([]);
});

test('every bound says its unit or what it counts, and is a positive number', () => {
  const unit = /(Bytes|Chars|Ms|Pages|Percent|Bits|Depth|Items|Fuel)|(Max|Min|Kept|Strikes|Conflicts|Costly)$/;
  for (const [bound, value] of Object.entries(limits)) {
    expect(bound).toMatch(unit);
    expect(value, bound).toBeGreaterThan(0);
  }
});
