/** What `npm run test:changed` runs: the tests that a change can reach, by imports or by the names of files. */
import { expect, test } from 'vitest';
import { alsoReached, Clone, notFollowed, ofEveryTest, readersOf } from './readers.ts';
import { testFiles, unitFiles } from './units.ts';

const clone = new Clone();
const all = testFiles();
const names = (files: readonly string[]) => files.map((file) => file.replace(/^test\/|\.test\.ts$/g, ''));
const reaching = (...changed: string[]) => names(readersOf(changed, clone));

test.each([
  // Workers are started by their URL, and import more.
  ['server/rego/compile-worker.ts', 'rego/compile', 'rego/hostile-compile', 'policies/trying'],
  ['server/policies/isolated-worker.ts', 'policies/isolated-evaluator', 'policies/replay'],
  ['server/accounts/password-worker.ts', 'accounts/log-in', 'oidc/pages'],
  ['operator/files/parse-worker.ts', 'operator/files/parser', 'operator/operator'],
  // What the product reads.
  ['server/rego/compiler.wasm.br', 'rego/compile', 'rego/compiler-module', 'policies/trying'],
  ['server/rego/compiler.json', 'rego/compile', 'rego/compiler-module'],
  ['server/rego/compiler/reads.go', 'rego/compile', 'rego/compiler-module'],
  ['server/rego/artifact-1.dict.br', 'rego/artifact', 'policies/trying'],
  ['server/accounts/weak-passwords.bloom', 'accounts/log-in'],
  ['server/pages/assets/style.css', 'pages/brand', 'pages/walk.browser'],
  ['server/members/member-invitation-page/page.html', 'members/member-invitations'],
  // The command is run in a process.
  ['cli/main.ts', 'e2e/start', 'e2e/session', 'e2e/guides', 'e2e/commands', 'e2e/compose', 'cli/validate'],
  [
    'server/app.ts',
    'e2e/start',
    'e2e/session',
    'core/cuts',
    'rooms/registered',
    'at-rest/at-rest',
    'deploy/image-files',
  ],
  ['operator/index.ts', 'e2e/start', 'e2e/session', 'kubernetes/start'],
  ['crds/index.ts', 'e2e/start', 'e2e/session'],
  ['compose.yaml', 'e2e/compose'],
  ['Dockerfile', 'e2e/compose', 'deploy/image-files', 'deploy/supply-chain'],
  ['examples/carshare/types.yaml', 'e2e/start', 'e2e/guides', 'e2e/commands', 'oidc/spa.browser', 'cli/command-line'],
  ['charts/accord/values.yaml', 'kubernetes/chart/values', 'e2e/compose'],
  ['crds/accord.dev_policies.yaml', 'crds/definitions', 'kubernetes/crds', 'kubernetes/chart/render'],
  // Pages that are read, and run.
  ['docs/openapi.json', 'api/patterns', 'portal/caller'],
  ['docs/schema.graphql', 'graphql/reading'],
  ['docs/schema.txt', 'core/schema'],
  ['docs/events.md', 'events/recipes', 'events/types'],
  ['docs/audit.md', 'audit/reading', 'docs-site/site', 'docs-site/serving', 'docs/pictures'],
  ['docs/token-enrichment.md', 'oidc/enrichment-examples'],
  ['docs/share-a-car.md', 'e2e/guides', 'e2e/commands', 'docs'],
  // What is built.
  [
    'portal/src/ui/tokens.css',
    'pages/brand',
    'portal-app/people.browser',
    'cli/portal-build',
    'e2e/example-app.browser',
  ],
  ['portal/src/screens/people/access.tsx', 'portal-app/people.browser', 'e2e/session', 'tidy'],
  ['packages/client/src/index.ts', 'client/package', 'client/readme', 'e2e/example-app.browser'],
  // Data of tests.
  ['test/crds/corpus/good/tenant-all-namespaces.yaml', 'crds/corpus', 'kubernetes/crds'],
  ['test/rego/plan/opa-answers.jsonl', 'rego/plan/opa'],
  ['test/pages/inspect.js', 'pages/walk.browser', 'persons/account.browser', 'e2e/example-app.browser'],
  ['test/kubernetes/supervise.sh', 'kubernetes/apiserver', 'kubernetes/node'],
  ['test/kubernetes/versions.env', 'kubernetes/apiserver', 'kubernetes/node'],
  ['test/decisions/chain.yaml', 'decisions/decisions'],
  // Bounds have tests all over.
  ['test/access/access.test.ts', 'core/limits', 'groups', 'mutants/list'],
])('a change of %s reaches its tests', (changed, ...tests) => {
  expect(clone.files).toContain(changed);
  expect(reaching(changed)).toEqual(expect.arrayContaining(tests));
});

test('a migration reaches every test with a database, and few others', () => {
  const migration = clone.files.find((file) => file.startsWith('server/migrations/')) as string;
  const reached = readersOf([migration], clone);
  const withDatabase = all.filter((file) => clone.reachedBy([file]).has('test/helpers/database.ts'));
  expect(withDatabase.length).toBeGreaterThan(200);
  expect(reached).toEqual(expect.arrayContaining(withDatabase));
  expect(unitFiles().filter((file) => reached.includes(file)).length).toBeLessThan(30);
});

test('what every test loads reaches all, and nothing is reached when nothing changed', () => {
  for (const file of [...Object.keys(ofEveryTest), 'test/helpers/seed.ts', 'test/helpers/left-behind.ts'])
    expect(readersOf([file], clone)).toEqual(all);
  expect(reaching()).toEqual([]);
});

test('a page reaches no more than what reads pages', () => {
  expect(reaching('docs/share-a-car.md').length).toBeLessThan(25);
  expect(reaching('compose.yaml').length).toBeLessThan(12);
});

test('a file that was deleted is followed by its name', () => {
  const gone = 'test/crds/corpus/good/gone.yaml';
  expect(names(readersOf([gone]))).toContain('crds/corpus');
});

test('the modules that are named with a reason are there, and so is what they name', () => {
  const named = Object.entries(alsoReached).flatMap(([file, { names }]) => [file, ...names]);
  const files = [...named, ...Object.keys(notFollowed), ...Object.keys(ofEveryTest)];
  const isThere = (name: string) => clone.files.some((file) => file === name || file.startsWith(`${name}/`));
  expect(files.filter((file) => !isThere(file))).toEqual([]);
});

/** What no test reaches but those that look at all files. */
const untested: readonly [files: RegExp, why: string][] = [
  [/^(\.ci|\.github|bench)\/|^renovate\.json$/, 'CI and people run it.'],
  [/^(\.editorconfig|biome\.json)$/, 'Editors and `npm run lint` read it.'],
  [/^SECURITY\.md$/, 'People read it.'],
  [/^deploy\/(lock-integrity|sbom|signatures)\.mjs$/, 'CI and people run it.'],
  [/^test\/conformance\/|^test\/rego\/plan\/renew-opa\./, 'It needs Go: CI runs it.'],
  [/^test\/e2e\/kind\.sh$/, 'It needs Docker.'],
  [/^test\/pages\/preview\.ts$/, 'People look at what it writes.'],
  [/^test\/mutants\//, '`npm run test:mutants` runs it, and test/mutants/list.test.ts looks at it.'],
  [/^test\/(run|units|groups|readers)\.ts$|^vitest\.config\.ts$/, 'They are the run itself.'],
  [
    /^test\/helpers\/(changed|longest-first|progress-reporter)\.ts$|^test\/durations\.json$/,
    'They are the run itself.',
  ],
];

test('each file is reached by a test that does not look at all files, or has a reason', () => {
  const any = 'test/any.ts';
  const ofAll = new Set(readersOf([any], new Clone([any])));
  expect(names([...ofAll])).toEqual(expect.arrayContaining(['docs', 'tidy', 'readers']));
  expect(ofAll.size).toBeLessThan(10);
  const reached = clone.reachedBy(all.filter((file) => !ofAll.has(file)));
  const alone = clone.files.filter((file) => !reached.has(file) && !ofAll.has(file));
  expect(alone.filter((file) => !untested.some(([files]) => files.test(file)))).toEqual([]);
  for (const [files] of untested) expect(alone.some((file) => files.test(file))).toBe(true);
});
