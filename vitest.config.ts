import { defineConfig } from 'vitest/config';
import { clusterForTests } from './test/kubernetes/programs.ts';

/** What measures, or starts whole processes of its own, runs after the rest and by itself. */
const alone = ['test/authz/fairness.test.ts', 'test/invitations/flood.test.ts', 'test/e2e/**/*.test.ts'];

/** What needs a Kubernetes API server. Where there is none, all of it is skipped; test/run.ts says so. */
const kubernetes = ['test/kubernetes/**/*.test.ts'];

export default defineConfig({
  test: {
    globalSetup: ['test/helpers/postgres-global.ts'],
    setupFiles: ['test/helpers/seed.ts'],
    pool: 'forks',
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // A busy machine draws late; what is not true by then never is.
    expect: { poll: { timeout: 10_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'suite',
          include: ['test/**/*.test.ts'],
          exclude: [...alone, ...kubernetes],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: 'alone', include: alone, maxWorkers: 1, sequence: { groupOrder: 1 } } },
      {
        extends: true,
        test: {
          name: 'kubernetes',
          include: kubernetes,
          globalSetup: ['test/helpers/cluster-global.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
          ...(clusterForTests() === undefined && { testNamePattern: /^none of them$/ }),
        },
      },
    ],
  },
});
