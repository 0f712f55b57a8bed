import { defineConfig } from 'vitest/config';

/** What measures, or starts whole processes of its own, runs after the rest and by itself. */
const alone = ['test/authz/fairness.test.ts', 'test/e2e/**/*.test.ts'];

export default defineConfig({
  test: {
    globalSetup: ['test/helpers/postgres-global.ts'],
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'suite',
          include: ['test/**/*.test.ts'],
          exclude: alone,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: 'alone', include: alone, maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
});
