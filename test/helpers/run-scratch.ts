/**
 * What a run of the tests leaves behind, however it ends: nothing. All its processes have the run's name in their
 * environment, and all its temporary files are in one folder. A shell that outlives the run ends the ones and removes the other.
 */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { placeInMemory } from './memory.ts';

const NAME = 'TEST_RUN';
const PREFIX = 'accord-run-';
/** A process that was told to end has ended by then. */
const ENDING_MS_MAX = 10_000;

export type RunScratch = {
  /** For the reports of the run itself. */
  directory: string;
  /** For its processes: TMPDIR, and the name by which they are found. */
  env: Record<string, string>;
  /** Processes that still run after the time that they need to end: `PID command line`. Empty where there is no /proc. */
  leftRunning(endingMsMax?: number): Promise<string[]>;
};

export function createRunScratch(): RunScratch {
  const directory = makeFolder();
  // Postgres and containers of a run by root belong to other users, who have to come through.
  chmodSync(directory, 0o711);
  const temporary = join(directory, 'tmp');
  mkdirSync(temporary);
  chmodSync(temporary, 0o1777);
  const name = basename(directory);
  cleanAfterUs(name, directory);
  return {
    directory,
    env: { [NAME]: name, TMPDIR: temporary },
    async leftRunning(endingMsMax = ENDING_MS_MAX) {
      // A process of somebody else tells nobody that it ends.
      for (const end = performance.now() + endingMsMax; ; await sleep(100)) {
        const left = processesOf(name);
        if (left.length === 0 || performance.now() > end) return left;
      }
    },
  };
}

/** In memory, where there is room: a Postgres of a test then waits for no disk. Docker mounts it without the right to execute. */
function makeFolder(): string {
  const inMemory = placeInMemory();
  if (inMemory !== undefined) {
    const directory = mkdtempSync(join(inMemory, PREFIX));
    const script = join(directory, 'try');
    writeFileSync(script, '#!/bin/sh\n', { mode: 0o755 });
    if (spawnSync(script).status === 0) return directory;
    rmSync(directory, { recursive: true });
  }
  return mkdtempSync(join(tmpdir(), PREFIX));
}

/** It reads /proc itself: we may have been killed. In its own environment it has no name of a run. */
function cleanAfterUs(name: string, directory: string): void {
  const script = `while kill -0 "$1"; do sleep 0.5; done
for n in 1 2 3; do
  for file in $(grep -lsxz "${NAME}=$2" /proc/[0-9]*/environ); do pid=\${file#/proc/}; kill -9 "\${pid%/environ}"; done
  sleep 0.1
done
for n in 1 2 3 4 5; do rm -rf "$3" && break; sleep 1; done`; // a Postgres on its way down still writes
  const { [NAME]: _, ...env } = process.env;
  spawn('sh', ['-c', script, 'sh', String(process.pid), name, directory], {
    cwd: '/',
    detached: true,
    stdio: 'ignore',
    env,
  }).unref();
}

function processesOf(name: string): string[] {
  const read = (pid: string, file: string) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'utf8');
    } catch {
      return ''; // it ended, or is another user's
    }
  };
  let pids: string[];
  try {
    pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  } catch {
    return [];
  }
  return pids
    .filter((pid) => read(pid, 'environ').split('\0').includes(`${NAME}=${name}`))
    .map((pid) => `${pid} ${read(pid, 'cmdline').replaceAll('\0', ' ').trim()}`);
}
