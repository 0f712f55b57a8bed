/**
 * Measures `accord start` with examples/ on an empty data directory: where the portal is still to be built beside it, and where it was
 * built before, in turns. Of each the time until all manifests are served, until the first decision, and until the portal answers.
 * The token is minted before the second; that time is not counted in it.
 *
 *     bench/portal-start.ts [ROUNDS]
 */
import { access, rename, rm } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildPortal } from '../cli/portal-build.ts';
import { portalDirectory } from '../cli/portal-digest.ts';
import { askDecision, createDirectory, startProgram } from './program.ts';
import { median, table, target } from './report.ts';

const ROUNDS = Number(process.argv[2] ?? 3);
const LONGER_MAX = 25;
const WAIT_MS = 300_000;
const dist = join(portalDirectory, 'dist');
const kept = `${dist}.kept`;

type Start = { served: number; decided: number; answered: number; isFirst: boolean };
const seconds = (from: number) => (performance.now() - from) / 1000;

/** When the document of the application is there, which is what a page of it needs; from the start of the program on. */
async function untilBuilt(started: number, stopped: AbortSignal): Promise<number> {
  while (performance.now() - started < WAIT_MS && !stopped.aborted) {
    const isThere = await access(join(dist, 'index.html')).then(
      () => true,
      () => false,
    );
    if (isThere) return seconds(started);
    await sleep(50);
  }
  throw new Error('the portal was not built');
}

async function start(): Promise<Start> {
  const directory = await createDirectory();
  const ended = new AbortController();
  const started = performance.now();
  const built = untilBuilt(started, ended.signal);
  built.catch(() => {});
  try {
    const program = await startProgram(directory);
    const decided = (program.startedMs + (await askDecision(program, directory))) / 1000;
    const at = await built;
    await program.stop();
    const served = program.startedMs / 1000;
    return { served, decided, answered: Math.max(at, served), isFirst: decided < at };
  } finally {
    ended.abort();
    await directory.remove();
  }
}

const build = buildPortal();
await build.ended;
const measured = { building: [] as Start[], built: [] as Start[] };
for (let round = 0; round < ROUNDS; round++) {
  measured.built.push(await start());
  await rename(dist, kept);
  try {
    measured.building.push(await start());
  } finally {
    // What was built is the same again; where it was not, what was there before is better than nothing.
    const isThere = await access(dist).then(
      () => true,
      () => false,
    );
    if (isThere) await rm(kept, { recursive: true });
    else await rename(kept, dist);
  }
}

const of = (starts: readonly Start[], read: (one: Start) => number) => median(starts.map(read));
const line = (name: string, starts: readonly Start[]) => [
  name,
  ...(['served', 'decided', 'answered'] as const).map((one) => of(starts, (start) => start[one]).toFixed(2)),
  starts.map(({ served, answered }) => `${served.toFixed(1)}/${answered.toFixed(1)}`).join(' '),
];
table(
  ['empty data directory', 'served s', 'first decision', 'first page', 'rounds'],
  [line('the portal is to be built', measured.building), line('it was built before', measured.built)],
);
const longer = of(measured.building, (one) => one.answered) - of(measured.built, (one) => one.answered);
target('first page where it is to be built', `≤ ${LONGER_MAX} s later`, `${longer.toFixed(1)} s`, longer <= LONGER_MAX);
const later = of(measured.building, (one) => one.decided) - of(measured.built, (one) => one.decided);
console.log(`the first decision comes ${later.toFixed(2)} s later where it is to be built`);
const first = measured.building.filter(({ isFirst }) => isFirst).length;
target('decisions before it is built', 'in all rounds', `in ${first} of ${ROUNDS}`, first === ROUNDS);
console.log(`load ${loadavg()[0]?.toFixed(1)}`);
