/**
 * `npm run test:mutants`: puts the faults of `faults/` one at a time into copies of the tree, and runs the tests that should
 * find them. Arguments are parts ("authz") or ids ("authz/failed-run-allows"). Fails when fewer than 95 % are found, or one is
 * not that was before (found.json). `--named`: only the tests that a fault names, and not all of their folders. `--new`: only what
 * found.json does not have.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { createRunScratch } from '../helpers/run-scratch.ts';
import { testFiles, unitFiles } from '../units.ts';
import { allFaults as all } from './all.ts';
import { type Fault, partOf, withFault } from './fault.ts';
import type { Answer, Work } from './worker.ts';

/** At once; each has a Postgres and a process of tests. */
const COPIES = Number(process.env.TEST_MUTANTS_AT_ONCE ?? 2);
const SHARE_MIN = 0.95;
/** A loop without an end is a fault, too, which no time limit of a test ends. For each file of tests. */
const FAULT_MS_MAX = 5 * 60_000;
/** A worker that was told to stop has stopped by then, or is killed. */
const STOPPING_MS_MAX = 5000;

const root = join(import.meta.dirname, '../..');
const foundFile = join(import.meta.dirname, 'found.json');
const scratch = createRunScratch();
const running = new Set<ChildProcess>();
let isStopped = false;

async function stopAll(): Promise<void> {
  isStopped = true;
  const ends = [...running].map((child) => once(child, 'exit'));
  for (const child of running) child.kill('SIGTERM');
  await Promise.all(ends);
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    // What is left then is removed after us (run-scratch.ts).
    setTimeout(() => process.exit(1), STOPPING_MS_MAX);
    void stopAll().then(() => process.exit(1));
  });

/** A copy of the tree, and the process that runs tests in it. */
class Copy {
  readonly #root: string;
  #worker: ChildProcess | undefined;
  #changed = new Set<string>();

  constructor(name: string) {
    this.#root = join(scratch.directory, name);
    const left = new Set(['node_modules', '.git', '.accord', '.cache']);
    cpSync(root, this.#root, {
      recursive: true,
      filter: (from) =>
        !left.has(basename(from)) && (relative(root, from) === '' || !from.startsWith(scratch.directory)),
    });
    symlinkSync(join(root, 'node_modules'), join(this.#root, 'node_modules'));
  }

  write(file: string, content: string): void {
    writeFileSync(join(this.#root, file), content);
    this.#changed.add(file);
  }

  /** Runs files until a test fails. */
  async run(files: readonly string[]): Promise<Answer['failed']> {
    if (files.length === 0) return undefined;
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const work: Work = { files, changed: [...this.#changed] };
    this.#changed.clear();
    worker.send(work);
    const silent = new AbortController();
    // A fault may make a test go on for ever.
    const timer = setTimeout(() => silent.abort(), FAULT_MS_MAX * (1 + files.length));
    try {
      const [answer] = await once(worker, 'message', { signal: silent.signal });
      return (answer as Answer).failed;
    } catch {
      this.#worker = undefined;
      // With the process of the test, which nothing else ends.
      process.kill(-(worker.pid as number), 'SIGKILL');
      return { file: files[0] as string, test: '(no answer: a loop without an end)' };
    } finally {
      clearTimeout(timer);
    }
  }

  #start(): ChildProcess {
    const worker = fork(join(this.#root, 'test/mutants/worker.ts'), {
      cwd: this.#root,
      execArgv: process.execArgv,
      detached: true,
      env: { ...process.env, ...scratch.env, NODE_COMPILE_CACHE: join(scratch.directory, 'compiled') },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    running.add(worker);
    worker.on('exit', (code, signal) => {
      running.delete(worker);
      if (isStopped || worker !== this.#worker) return;
      console.error(`A worker ended with ${code ?? signal}.`);
      void stopAll().then(() => process.exit(1));
    });
    return worker;
  }
}

const given = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const [isNamedOnly, isNewOnly] = ['--named', '--new'].map((option) => process.argv.includes(option));
const known: Record<string, string> = JSON.parse(readFileSync(foundFile, 'utf8'));
const chosen = all
  .filter(({ id }) => given.length === 0 || given.some((one) => one === id || one === partOf(id)))
  .filter(({ id }) => !isNewOnly || known[id] === undefined);
if (chosen.length === 0) {
  console.error(
    `No fault is named ${given.join(' or ')}. Parts: ${[...new Set(all.map(({ id }) => partOf(id)))].join(', ')}`,
  );
  process.exit(2);
}

const there = new Set(testFiles());
const source = new Map(chosen.map(({ file }) => [file, readFileSync(join(root, file), 'utf8')]));
const wrong = chosen.flatMap((fault) => [
  ...(withFault(source.get(fault.file) as string, fault) === undefined
    ? [`${fault.id}: its text is not exactly once in ${fault.file}`]
    : []),
  ...fault.tests.filter((file) => !there.has(file)).map((file) => `${fault.id}: there is no ${file}`),
]);
if (wrong.length > 0) {
  console.error(wrong.join('\n'));
  process.exit(2);
}

/** What was found stays when the run is interrupted. */
function writeFound(found: Record<string, string>): void {
  const ids = new Set(all.map(({ id }) => id));
  const entries = Object.entries(found)
    .filter(([id]) => ids.has(id))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  writeFileSync(foundFile, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
}

type Outcome = { fault: Fault; failed: Answer['failed']; seconds: number };

const began = performance.now();
const secondsSince = (start: number) => Math.round((performance.now() - start) / 1000);
const folderOf = (file: string) => file.split('/').slice(0, 2).join('/');

/** In a copy there is no repository. */
const asksGit = (file: string) => readFileSync(join(root, file), 'utf8').includes("'git'");

/** What is left of the folders of its tests. A browser's walks are no test of these parts. */
function restOf(fault: Fault): string[] {
  const folders = new Set([...fault.tests, `test/${partOf(fault.id)}/`].map(folderOf));
  return [...there].filter(
    (file) =>
      folders.has(folderOf(file)) && !fault.tests.includes(file) && !file.endsWith('browser.test.ts') && !asksGit(file),
  );
}

async function tryOne(copy: Copy, fault: Fault): Promise<Outcome> {
  const start = performance.now();
  const content = source.get(fault.file) as string;
  copy.write(fault.file, withFault(content, fault) as string);
  const failed = (await copy.run(fault.tests)) ?? (isNamedOnly ? undefined : await copy.run(restOf(fault)));
  copy.write(fault.file, content);
  return { fault, failed, seconds: secondsSince(start) };
}

const copies = Array.from({ length: Math.min(COPIES, chosen.length) }, (_, index) => new Copy(`${index}`));

async function inTurns<T>(items: readonly T[], each: (copy: Copy, item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  await Promise.all(
    copies.map(async (copy) => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) await each(copy, item);
    }),
  );
}

const before = new Set(Object.keys(known));
const outcomes: Outcome[] = [];
const units = new Set(unitFiles());
// Those whose setup takes a new Postgres follow one another, at the end; what is found in a moment comes first.
const isOfDatabase = ({ file }: Fault) => file.startsWith('server/migrations/') || file.startsWith('server/core/db/');
const placeOf = (fault: Fault) => (isOfDatabase(fault) ? 2 : units.has(fault.tests[0] as string) ? 0 : 1);
const order = chosen.toSorted((one, other) => placeOf(one) - placeOf(other));
await inTurns(order, async (copy, fault) => {
  const outcome = await tryOne(copy, fault);
  outcomes.push(outcome);
  const { failed } = outcome;
  if (failed !== undefined) {
    known[fault.id] = `${failed.file} > ${failed.test}`;
    writeFound(known);
  }
  const by = outcome.failed === undefined ? 'MISSED' : `found by ${outcome.failed.file} > ${outcome.failed.test}`;
  console.log(`${outcomes.length} of ${chosen.length}, ${outcome.seconds} s: ${fault.id}: ${by}`);
});

// A test that fails without a fault has found nothing.
const failing = new Map<string, string>();
const finders = [...new Set(outcomes.flatMap(({ failed }) => (failed === undefined ? [] : [failed.file])))];
console.log(`Without a fault: the ${finders.length} files that found one`);
await inTurns(finders, async (copy, file) => {
  const failed = await copy.run([file]);
  if (failed !== undefined) failing.set(file, failed.test);
});
await stopAll();

const isFound = ({ failed }: Outcome) => failed !== undefined && !failing.has(failed.file);
const missed = outcomes.filter((outcome) => !isFound(outcome));
const found = outcomes.filter(isFound);
const lost = missed.filter(({ fault }) => before.has(fault.id));
for (const { fault } of missed) if (!before.has(fault.id)) delete known[fault.id];
writeFound(known);

console.log('\nPart             faults   found  missed');
const line = (name: string, of: readonly Outcome[]) =>
  console.log(
    `${name.padEnd(16)}${[of.length, of.filter(isFound).length, of.filter((one) => !isFound(one)).length]
      .map((count) => String(count).padStart(7))
      .join(' ')}`,
  );
for (const part of new Set(chosen.map(({ id }) => partOf(id))))
  line(
    part,
    outcomes.filter(({ fault }) => partOf(fault.id) === part),
  );
line('all', outcomes);
for (const [file, test] of failing) console.log(`\nFAILS WITHOUT A FAULT: ${file} > ${test}`);
if (missed.length > 0) console.log('\nMissed:');
for (const { fault } of missed)
  console.log(`  ${fault.id} (${fault.file})${before.has(fault.id) ? ', which was found before' : ''}: ${fault.harm}`);
console.log(
  `\n${found.length} of ${chosen.length} found in ${(secondsSince(began) / 60).toFixed(1)} minutes (${relative(root, foundFile)})`,
);
process.exit(lost.length > 0 || failing.size > 0 || found.length < SHARE_MIN * chosen.length ? 1 : 0);
