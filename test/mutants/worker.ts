/**
 * Runs files of tests in a copy of the tree, again and again, without starting vitest and Postgres each time: run.ts
 * tells it what changed, and which files to run until a test fails.
 */
import { join, relative } from 'node:path';
import { createVitest, type TestModule, type Vitest } from 'vitest/node';
import { WAIT_MS_MAX } from '../helpers/wait.ts';

export type Work = {
  files: readonly string[];
  /** What was written since the last run. */
  changed: readonly string[];
};
export type Answer = { failed: { file: string; test: string } | undefined };

const root = process.cwd();
let started: Promise<Vitest> | undefined;
let isStopping = false;

const start = () =>
  createVitest(
    'test',
    {
      root,
      config: false,
      watch: false,
      pool: 'forks',
      // A process for each file: what a fault leaves behind must not fail the next file.
      isolate: true,
      maxWorkers: 1,
      bail: 1,
      include: ['test/**/*.test.ts'],
      setupFiles: ['test/helpers/seed.ts', 'test/helpers/assertions.ts'],
      globalSetup: ['test/helpers/postgres-global.ts'],
      // Nothing else runs beside it, and some faults are found by waiting in vain.
      testTimeout: WAIT_MS_MAX,
      hookTimeout: WAIT_MS_MAX,
      expect: { poll: { timeout: WAIT_MS_MAX / 2 } },
      reporters: [{}],
      // Node's own import, which is that of the product: a process is ready in half the time.
      experimental: { viteModuleRunner: false },
    },
    { logLevel: 'silent', clearScreen: false },
  );

async function stop(): Promise<void> {
  const vitest = await started;
  started = undefined;
  await vitest?.close();
}

async function work({ files, changed }: Work): Promise<Answer> {
  // The setup of a run migrates the database that is cloned for each file.
  if (changed.some((file) => file.startsWith('server/migrations/') || file.startsWith('server/core/db/'))) await stop();
  started ??= start();
  const vitest = await started;
  const specifications = files.map((file) => vitest.getRootProject().createSpecification(join(root, file)));
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
  const failed = testModules.map(failureOf).find((failure) => failure !== undefined);
  // Vitest counts what failed before among what lets it stop early.
  vitest.state.idMap.clear();
  vitest.state.filesMap.clear();
  process.exitCode = 0;
  if (failed !== undefined || unhandledErrors.length === 0) return { failed };
  const ofVitest = unhandledErrors.find((error) => String(error).includes('[vitest-pool]'));
  if (ofVitest !== undefined) throw ofVitest;
  return { failed: { file: files[0] as string, test: `(outside of a test) ${unhandledErrors[0]}` } };
}

function failureOf(module: TestModule): Answer['failed'] {
  if (module.state() !== 'failed') return undefined;
  const test = [...module.children.allTests('failed')][0];
  const [error] = module.errors();
  return {
    file: relative(root, module.moduleId),
    test: test?.fullName ?? `(outside of a test) ${error?.message.split('\n')[0] ?? 'a hook of it'}`,
  };
}

async function end(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  await stop().catch(() => {});
  process.exit(0);
}

process.on('message', (message: Work) => {
  work(message).then(
    (answer) => process.send?.(answer),
    (error) => {
      console.error(error);
      process.exit(1);
    },
  );
});
// Who started us says when to end, or is gone.
process.on('SIGTERM', () => void end());
process.on('disconnect', () => void end());
