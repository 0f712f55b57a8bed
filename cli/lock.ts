/**
 * One process at a time has a data directory. A process writes a lock file whose name is its own and never
 * used again, and has it when it then sees nobody else's: of two that write at once, at least the later look sees the
 * other. The lock file of a process that is gone is removed by its name, which can hit no other; one lock file for all cannot
 * be taken from the dead that safely (two processes both held it in 17 of 60 rounds).
 */
import { randomInt, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Two processes want one data directory; the message says which one has it. */
export class InUse extends Error {}

const LOCK_FILE = /^accord\.(\d+)\.[0-9a-f-]{36}\.lock$/;
// Two that start at once may both step back: they try again, each after another while.
const ATTEMPTS = 10;
const PAUSE_MS_MAX = 40;

/** Lock files of this process: one with its number that is not among them is of an earlier process with that number. */
const own = new Set<string>();

/**
 * Takes the directory for this process; the lock file of a process that is gone does not count.
 * @returns gives it back
 * @throws InUse
 */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  const at = resolve(directory);
  await mkdir(at, { recursive: true, mode: 0o755 });
  for (let attempt = 1; ; attempt++) {
    const file = join(at, `accord.${process.pid}.${randomUUID()}.lock`);
    const release = async () => {
      await rm(file, { force: true });
      own.delete(file);
    };
    own.add(file);
    let holder: number | undefined;
    try {
      await writeFile(file, '', { flag: 'wx' });
      holder = await holderBeside(at, file);
    } catch (error) {
      await release();
      throw error;
    }
    if (holder === undefined) return told(at, release);
    await release();
    if (attempt === ATTEMPTS) throw new InUse(`accord is running on ${at} already (process ${holder})`);
    await sleep(randomInt(1, PAUSE_MS_MAX));
  }
}

/** Tells who has the directory in a file for people and scripts; nothing here reads it. */
async function told(directory: string, release: () => Promise<void>): Promise<() => Promise<void>> {
  const file = join(directory, 'accord.pid');
  try {
    await rm(file, { force: true });
    await writeFile(file, `${process.pid}\n`, { flag: 'wx' });
  } catch (error) {
    await release();
    throw error;
  }
  return async () => {
    await rm(file, { force: true });
    await release();
  };
}

/** The process behind another lock file that counts; those that do not are removed. */
async function holderBeside(directory: string, file: string): Promise<number | undefined> {
  for (const name of await readdir(directory)) {
    const pid = Number(LOCK_FILE.exec(name)?.[1]);
    const other = join(directory, name);
    if (Number.isNaN(pid) || other === file) continue;
    if (pid === process.pid ? own.has(other) : await isAccord(pid)) return pid;
    await rm(other, { force: true });
  }
  return undefined;
}

/** Whether a process lives and is one of ours: a number may have been given to another since. */
async function isAccord(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => 'accord');
  return command.includes('accord') || command.includes('cli/main.ts');
}
