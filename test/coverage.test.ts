import { expect, test } from 'vitest';
import { byPart } from './helpers/coverage.ts';

test('coverage is summed up by room and by folder', () => {
  const covered = (lines: number, branches: number) => ({
    lines: { total: 10, covered: lines },
    branches: { total: branches === 0 ? 0 : 4, covered: branches },
  });
  const summary = {
    total: covered(1, 1),
    '/a/server/authz/rules.ts': covered(10, 4),
    '/a/server/authz/store.ts': covered(5, 1),
    '/a/server/app.ts': covered(1, 0),
    '/a/cli/export/files.ts': covered(0, 0),
  };
  expect(byPart(summary, '/a').map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
    'part lines branches',
    'cli 0.0 % 100.0 %',
    'server 10.0 % 100.0 %',
    'server/authz 75.0 % 62.5 %',
    'all 40.0 % 62.5 %',
  ]);
});
