/** Which project of vitest.config.ts each test file is in. */
import { testFiles, unitFiles } from './units.ts';

/** What needs a Kubernetes API server. Where there is none, all of it is skipped; test/run.ts says so. */
export const kubernetes = ['test/kubernetes/**/*.test.ts'];

/** Walks in one Chromium. Where there is none, they are skipped; test/run.ts says so. */
export const browser = testFiles().filter((file) => /^test\/(?!e2e\/).*\.browser\.test\.ts$/.test(file));

/** Files and folders whose files have a process each, with the reason. All others share one, which loads the product once. */
export const isolated: Record<string, string> = {
  'test/client/client.test.ts': 'It leaves timers behind: requests that nobody answers go on after it.',
  'test/core/fair-scheduler.test.ts': 'On a busy machine, turns that it asked for still go on when it ends.',
  'test/core/tracing.test.ts': 'It leaves timers behind: traces that nobody takes are kept after it.',
  'test/mail/liquid.test.ts': 'Its templates have 50 ms of CPU, also for the garbage of the files before it.',
  'test/mail/liquid-busy.test.ts': 'Its templates have 50 ms of CPU, also for the garbage of the files before it.',
  'test/mail/sending.test.ts': 'It leaves timers behind: attempts at silent mail servers go on after it.',
  'test/oidc/token-outage.test.ts': 'It stops the processes of a Postgres of its own.',
  'test/oidc/upstream-bounds.test.ts': 'It leaves timers behind: requests that nobody answers go on after it.',
  'test/rego/hostile-compile.test.ts': 'It replaces the timers of its process.',
  'test/rego/hostile-evaluate.test.ts': 'It measures the memory of its process.',
  'test/rego/plan/hostile.test.ts': 'It measures the memory of its process.',
  'test/rooms/': 'It adds to the lists of the program.',
};
export const isolatedFiles = testFiles().filter((file) => Object.keys(isolated).some((one) => file.startsWith(one)));

/** They need nothing but Node, and more seconds than somebody waits for: they compile policies, or try many cases. */
export const slow = [
  /^test\/rego\//,
  /^test\/policies\/(graph\/agree|isolated-evaluator|plan-engine|shares)\./,
  /^test\/core\/auth\/access-token\./,
  /^test\/operator\/files\/parser\./,
];

/** What `npm run test:unit` runs. */
export const unit = unitFiles().filter(
  (file) => !isolatedFiles.includes(file) && !slow.some((files) => files.test(file)),
);

const elsewhere = new Set([...unit, ...browser, ...isolatedFiles]);

/** They leave nothing behind, which test/helpers/left-behind.ts enforces, and pass in any order. */
export const shared = testFiles().filter((file) => !elsewhere.has(file) && !file.startsWith('test/kubernetes/'));
