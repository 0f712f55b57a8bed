import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { browser, isolatedFiles, kubernetes, shared, unit } from './test/groups.ts';
import { LongestFirst } from './test/helpers/longest-first.ts';
import { WAIT_MS_MAX } from './test/helpers/wait.ts';
import { clusterForTests } from './test/kubernetes/programs.ts';

const postgres = 'test/helpers/postgres-global.ts';
const setupFiles = ['test/helpers/seed.ts', 'test/helpers/assertions.ts'];
/** Files that share a process load the product once. left-behind.ts fails a file that leaves something behind in it. */
const inOneProcess = { isolate: false, setupFiles: [...setupFiles, 'test/helpers/left-behind.ts'] };
/** Node itself refuses to start a process; what a unit test needs beside is allowed. */
const noProcess = [
  '--permission',
  '--allow-fs-read=*',
  '--allow-fs-write=*',
  '--allow-worker',
  '--allow-addons',
  '--disable-warning=SecurityWarning',
];

const cores = availableParallelism();
/** A test with a database or a process of its own waits a third of its time. More than four would wait for one Postgres. */
const maxWorkers = Math.min(4, cores + 1);

export default defineConfig({
  test: {
    pool: 'forks',
    // One that was forgotten would skip the rest of its file. Who wants it says --allowOnly.
    allowOnly: false,
    testTimeout: 2 * WAIT_MS_MAX,
    hookTimeout: 2 * WAIT_MS_MAX,
    expect: { poll: { timeout: WAIT_MS_MAX } },
    coverage: {
      include: ['crds', 'server', 'operator', 'cli', 'packages/client/src'].map((part) => `${part}/**/*.ts`),
      exclude: ['packages/client/src/generated/**'],
      reporter: ['json-summary', 'html'],
      reportOnFailure: true,
    },
    sequence: { sequencer: LongestFirst },
    experimental: { vcsProvider: './test/helpers/changed.ts' },
    // Projects run one after another (groupOrder), so that the files of one project share worker processes.
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: unit,
          ...inOneProcess,
          // Coverage asks V8 by its inspector, which that mode refuses.
          ...(!process.argv.includes('--coverage') && { execArgv: noProcess }),
          maxWorkers: cores,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'shared',
          include: shared,
          ...inOneProcess,
          globalSetup: [postgres],
          maxWorkers,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: 'isolated',
          include: isolatedFiles,
          setupFiles,
          globalSetup: [postgres],
          maxWorkers,
          sequence: { groupOrder: 3 },
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: browser,
          ...inOneProcess,
          globalSetup: [postgres, 'test/helpers/chromium-global.ts'],
          maxWorkers,
          sequence: { groupOrder: 4 },
        },
      },
      {
        extends: true,
        test: {
          name: 'kubernetes',
          include: kubernetes,
          setupFiles,
          globalSetup: [postgres, 'test/helpers/cluster-global.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 5 },
          ...(clusterForTests() === undefined && { testNamePattern: /^none of them$/ }),
        },
      },
    ],
  },
});
