/**
 * The data directory of a local installation (.accord/): the embedded Postgres, the master key, and the address that
 * tokens are made for.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { migrate } from '../server/core/db/migrate.ts';
import { attachPostgres, type EmbeddedPostgres, startPostgres } from '../server/embedded/postgres.ts';
import type { Watcher } from '../server/embedded/postmaster.ts';

const DATABASE = 'postgres';

type LocalInstallation = {
  directory: string;
  postgres: EmbeddedPostgres;
  /** What these variables would be. */
  environment: Record<'ACCORD_DATABASE_URL' | 'ACCORD_DATABASE_SESSION_URL' | 'ACCORD_MASTER_KEY', string>;
  migrated: string[];
};

/**
 * Opens the data directory, making what is missing, and brings its database up to date.
 * @param options.progress told what begins, for a person who waits
 * @param options.whileStarting called when Postgres starts, which takes a while
 * @param options.watcher told when Postgres ends by itself, and then it is started again
 */
export async function openLocal(
  directory: string,
  { progress, ...options }: { progress: (step: string) => void; whileStarting?: () => void; watcher?: Watcher },
): Promise<LocalInstallation> {
  const at = resolve(directory);
  await mkdir(at, { recursive: true, mode: 0o755 });
  progress('Postgres');
  const postgres = await startPostgres(join(at, 'pg'), options);
  try {
    progress('migrations');
    const migrated = await migrate(postgres.adminUrl(DATABASE), { runtimeRole: postgres.role });
    const environment = await environmentOf(at, postgres.url(DATABASE));
    return { directory: at, postgres, environment, migrated };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

/** What a start says of itself to commands that come after it. */
type Runtime = {
  /** The address that this installation's tokens are made for. */
  baseUrl: string;
  /** Whether it takes links that log somebody in (log-in.ts). */
  logInLinks: boolean;
};

/** The installation that another process runs in the directory; undefined when none does. */
export async function attachLocal(
  directory: string,
): Promise<({ environment: LocalInstallation['environment'] } & Partial<Runtime>) | undefined> {
  const at = resolve(directory);
  const postgres = await attachPostgres(join(at, 'pg'));
  if (postgres === undefined) return undefined;
  const environment = await environmentOf(at, postgres.url(DATABASE));
  return { environment, ...(await readRuntime(at)) };
}

/** Both addresses, so that none of another database is taken from the environment. */
async function environmentOf(directory: string, url: string): Promise<LocalInstallation['environment']> {
  const key = await masterKey(join(directory, 'master.key'));
  return { ACCORD_DATABASE_URL: url, ACCORD_DATABASE_SESSION_URL: url, ACCORD_MASTER_KEY: key };
}

async function masterKey(file: string): Promise<string> {
  const existing = await readFile(file, 'utf8').catch(() => undefined);
  if (existing !== undefined) return existing.trim();
  const made = randomBytes(32).toString('base64url');
  await replaceFile(file, `${made}\n`);
  return made;
}

/** Puts a file that only we read in the place of what is there, also of a link, which is not followed. */
async function replaceFile(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomUUID()}.tmp`;
  try {
    await writeFile(draft, text, { flag: 'wx', mode: 0o600 });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

export async function writeRuntime(directory: string, runtime: Runtime): Promise<void> {
  await replaceFile(join(directory, 'runtime.json'), `${JSON.stringify(runtime, undefined, 2)}\n`);
}

/** What the last start said; nothing before the first. */
async function readRuntime(directory: string): Promise<Partial<Runtime>> {
  const text = await readFile(join(directory, 'runtime.json'), 'utf8').catch(() => '{}');
  return JSON.parse(text) as Partial<Runtime>;
}
