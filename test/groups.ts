/** In which order, and with how much of a process of its own, the test files run (vitest.config.ts makes projects of it). */
import { testFiles, unitFiles } from './units.ts';

/** What needs a Kubernetes API server. Where there is none, all of it is skipped; test/run.ts says so. */
export const kubernetes = ['test/kubernetes/**/*.test.ts'];

/** Walks in one Chromium. Where there is none, they are skipped; test/run.ts says so. */
export const browser = testFiles().filter((file) => /^test\/(?!e2e\/).*\.browser\.test\.ts$/.test(file));

/** Files whose process is their own, each with the reason, though the rest of their folder shares one. */
const apart: Record<string, string> = {
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
};
export const ofOneProcess = Object.keys(apart);

/** They need nothing but Node, and more seconds than somebody waits for: they compile policies, or try many cases. */
const long = [
  /^test\/rego\//,
  /^test\/policies\/(graph\/agree|isolated-evaluator|plan-engine|shares)\./,
  /^test\/core\/auth\/access-token\./,
  /^test\/operator\/files\/parser\./,
];

/** What `npm run test:unit` runs. */
export const plain = unitFiles().filter((file) => !(file in apart) && !long.some((files) => files.test(file)));

/**
 * Folders whose files share a process, which loads the product once. A folder is put here when its files leave nothing
 * behind, which test/helpers/left-behind.ts holds, and pass in any order. Tried, and apart: rooms adds to the lists of the program.
 */
const folders = [
  'access',
  'accounts',
  'api',
  'at-rest',
  'audit',
  'authz',
  'authzen',
  'cli',
  'client',
  'clients',
  'conformance',
  'consents',
  'core',
  'decisions',
  'definitions',
  'docs.test.ts',
  'erasure',
  'events',
  'facts',
  'graphql',
  'idempotency',
  'invitations',
  'issuers',
  'keys',
  'ledger',
  'mail',
  'members',
  'oidc',
  'operator',
  'overview',
  'pages',
  'people',
  'persons',
  'policies',
  'portal',
  'pseudonyms',
  'rego',
  'relationships',
  'resources',
  'search',
  'snapshot',
  'subscriptions',
  'tidy.test.ts',
  'types',
  'writes',
];

const elsewhere = new Set([...plain, ...browser, ...ofOneProcess]);

export const shared = testFiles().filter(
  (file) => folders.includes(file.split('/')[1] as string) && !elsewhere.has(file),
);
