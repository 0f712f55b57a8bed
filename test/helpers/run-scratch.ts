/**
 * What a run of the tests leaves behind, however it ends: nothing. All its temporary files are in one folder, and its
 * processes have the run's name in their environment or the folder in their command line. A shell that outlives the run kills
 * these processes and removes the folder. It needs /proc: elsewhere, processes are ended by who started them only.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const NAME = 'TEST_RUN';
const PREFIX = 'accord-run-';
/** A process that was told to end has ended by then. */
const ENDING_MS_MAX = 10_000;
export const MEMORY = '/dev/shm';
/** A run needs about 2 GB. Docker gives 64 MB unless it is told. */
const MEMORY_BYTES_MIN = 4 * 2 ** 30;

export type RunScratch = {
  /** For the reports of the run itself. */
  directory: string;
  /** For its processes: TMPDIR, a folder on the disk for what is large (TEST_DISK), and the name by which they are found. */
  env: Record<string, string>;
  /** Processes that still run after the time that they need to end: `PID command line`. Empty where there is no /proc. */
  leftRunning(endingMsMax?: number): Promise<string[]>;
};

/** For the environment of a process that gets no other variables of ours. */
export const nameOfRun = (): Record<string, string> => {
  const name = process.env[NAME];
  return name === undefined ? {} : { [NAME]: name };
};

export function createRunScratch(): RunScratch {
  removeLeftBehind();
  const directory = makeFolder();
  const name = basename(directory);
  cleanAfterUs(name, directory);
  // Postgres and containers of a run by root belong to other users, who have to come through.
  chmodSync(directory, 0o711);
  const temporary = join(directory, 'tmp');
  mkdirSync(temporary);
  chmodSync(temporary, 0o1777);
  return {
    directory,
    env: { [NAME]: name, TMPDIR: temporary, TEST_DISK: tmpdir() },
    async leftRunning(endingMsMax = ENDING_MS_MAX) {
      // A process of somebody else tells nobody that it ends.
      for (const end = performance.now() + endingMsMax; ; await sleep(100)) {
        const left = processesOf(name, directory);
        if (left.length === 0 || performance.now() > end) return left;
      }
    },
  };
}

/** In memory, where there is room: a Postgres of a test then waits for no disk. Docker mounts it without the right to execute. */
function makeFolder(): string {
  const prefix = `${PREFIX}${process.pid}-`;
  if (freeBytesInMemory() >= MEMORY_BYTES_MIN) {
    const directory = mkdtempSync(join(MEMORY, prefix));
    const script = join(directory, 'try');
    writeFileSync(script, '#!/bin/sh\n', { mode: 0o755 });
    if (spawnSync(script).status === 0) return directory;
    rmSync(directory, { recursive: true });
  }
  return mkdtempSync(join(tmpdir(), prefix));
}

/** Of the memory that is a folder; 0 where there is none. */
export function freeBytesInMemory(): number {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize;
  } catch {
    return 0;
  }
}

/** Of runs that ended together with the shell that cleans after them: in memory it would stay until the machine starts again. */
function removeLeftBehind(): void {
  let names: string[];
  try {
    names = readdirSync(MEMORY);
  } catch {
    return;
  }
  for (const name of names) {
    const [, pid] = new RegExp(`^${PREFIX}(\\d+)-`).exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    try {
      rmSync(join(MEMORY, name), { recursive: true, force: true });
    } catch {
      // another user's
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** The shell runs without the name of the run, and takes the folder from its environment: it would kill itself. */
function cleanAfterUs(name: string, directory: string): void {
  // A Postgres that is killed leaves shared memory behind: it has five seconds to stop.
  const script = `while kill -0 "$RUNNER"; do sleep 0.5; done
ours() {
  for file in $(grep -lsxz "${NAME}=$NAMED" /proc/[0-9]*/environ) $(grep -lsz "^$FOLDER/" /proc/[0-9]*/cmdline); do
    pid=\${file#/proc/}; echo "\${pid%/*}"
  done
}
for pid in $(ours); do
  if tr '\\0' ' ' <"/proc/$pid/cmdline" | grep -q '/postgres -D '; then kill -INT "$pid"; else kill -9 "$pid"; fi
done
for n in 1 2 3 4 5 6 7 8 9 10; do [ -z "$(ours)" ] && break; sleep 0.5; done
for n in 1 2 3; do
  for pid in $(ours); do kill -9 "$pid"; done
  sleep 0.1
done
for n in 1 2 3 4 5; do rm -rf "$FOLDER" && break; sleep 1; done`; // a Postgres on its way down still writes
  const { [NAME]: _, ...env } = process.env;
  spawn('sh', ['-c', script], {
    cwd: '/',
    detached: true,
    stdio: 'ignore',
    env: { ...env, RUNNER: String(process.pid), NAMED: name, FOLDER: directory },
  }).unref();
}

function processesOf(name: string, directory: string): string[] {
  const read = (pid: string, file: string) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0');
    } catch {
      return []; // it ended, or is another user's
    }
  };
  let pids: string[];
  try {
    pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  } catch {
    return [];
  }
  const isOurs = (pid: string) =>
    read(pid, 'environ').includes(`${NAME}=${name}`) ||
    read(pid, 'cmdline').some((argument) => argument.startsWith(`${directory}/`));
  return pids.filter(isOurs).map((pid) => `${pid} ${read(pid, 'cmdline').join(' ').trim()}`);
}
