/**
 * Owns the data directory of a local installation (.accord/): the embedded Postgres, the master key, the address that
 * tokens are made for, and the lock that keeps a second `accord start` away.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { migrate } from '../server/core/db/migrate.ts';
import { attachPostgres, type EmbeddedPostgres, startPostgres } from '../server/embedded/postgres.ts';

const DATABASE = 'postgres';

export type LocalInstallation = {
  directory: string;
  postgres: EmbeddedPostgres;
  /** What ACCORD_DATABASE_URL and ACCORD_MASTER_KEY would be. */
  environment: { ACCORD_DATABASE_URL: string; ACCORD_MASTER_KEY: string };
  migrated: string[];
};

/** Two processes want one data directory; the message says which one has it. */
export class InUse extends Error {}

/**
 * Opens the data directory, making what is missing, and brings its database up to date.
 * @param progress told what begins, for a person who waits
 */
export async function openLocal(directory: string, progress: (step: string) => void): Promise<LocalInstallation> {
  const at = resolve(directory);
  await mkdir(at, { recursive: true, mode: 0o755 });
  progress('Postgres');
  const postgres = await startPostgres(join(at, 'pg'));
  try {
    progress('migrations');
    const migrated = await migrate(postgres.adminUrl(DATABASE), { runtimeRole: postgres.role });
    const environment = {
      ACCORD_DATABASE_URL: postgres.url(DATABASE),
      ACCORD_MASTER_KEY: await masterKey(join(at, 'master.key')),
    };
    return { directory: at, postgres, environment, migrated };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

/** The installation that another process runs in the directory; undefined when none does. */
export async function attachLocal(
  directory: string,
): Promise<{ environment: LocalInstallation['environment']; baseUrl: string | undefined } | undefined> {
  const at = resolve(directory);
  const postgres = await attachPostgres(join(at, 'pg'));
  if (postgres === undefined) return undefined;
  const environment = {
    ACCORD_DATABASE_URL: postgres.url(DATABASE),
    ACCORD_MASTER_KEY: await masterKey(join(at, 'master.key')),
  };
  return { environment, baseUrl: await readBaseUrl(at) };
}

async function masterKey(file: string): Promise<string> {
  const existing = await readFile(file, 'utf8').catch(() => undefined);
  if (existing !== undefined) return existing.trim();
  const made = randomBytes(32).toString('base64url');
  await writeFile(`${file}.new`, `${made}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return made;
}

/** Takes the directory for this process; the lock of a process that is gone does not count. @throws InUse */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  await mkdir(directory, { recursive: true, mode: 0o755 });
  const file = join(resolve(directory), 'accord.pid');
  const holder = Number(await readFile(file, 'utf8').catch(() => ''));
  if (holder > 0 && holder !== process.pid && (await isAccord(holder))) {
    throw new InUse(`accord is running on ${directory} already (process ${holder})`);
  }
  await rm(file, { force: true });
  // 'wx': of two that start at once, one fails here.
  const handle = await open(file, 'wx').catch(() => undefined);
  if (handle === undefined) throw new InUse(`another accord is starting on ${directory}`);
  await handle.writeFile(`${process.pid}\n`);
  await handle.close();
  return () => rm(file, { force: true });
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

/** Keeps the address that this installation's tokens are made for. */
export async function writeBaseUrl(directory: string, baseUrl: string): Promise<void> {
  await writeFile(join(directory, 'runtime.json'), `${JSON.stringify({ baseUrl }, undefined, 2)}\n`);
}

/** The address of the last start; undefined before the first. */
async function readBaseUrl(directory: string): Promise<string | undefined> {
  const text = await readFile(join(directory, 'runtime.json'), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as { baseUrl: string }).baseUrl;
}
