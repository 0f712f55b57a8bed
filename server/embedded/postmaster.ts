/**
 * The server process of an embedded cluster: it is started, found when it outlived the process that started it, and, where
 * somebody asks for it, started again when it ends by itself.
 */
import type { SpawnOptions } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { delayMsAfter } from '../core/backoff.ts';
import type { Identity } from './identity.ts';

export const PORT = 5432;
/** What held the data directory before may take so long to go. */
const FREE_WAIT_MS = 30_000;
const FREE_RETRY_MS = 100;
const ADOPTED_LOOK_MS = 1000;
const RESTARTS_MAX = 5;
/** Whoever runs for so long has recovered: what comes later is counted anew. */
const STEADY_MS = 60_000;
const RESTART_DELAY = { minMs: 100, maxMs: 5000 };

export type Cluster = {
  directory: string;
  /** The program. */
  postgres: string;
  identity: Identity;
  durable: boolean;
  acceptsConnections(): Promise<boolean>;
};

/** A server that accepts connections. `ended`: how it did, by itself or because it was stopped. */
export type Postmaster = { ended: Promise<string>; stop(): Promise<void> };

/** Who is told when it ends by itself. `again`: it is started again; `lost`: it is given up, after RESTARTS_MAX restarts. */
export type Watcher = { again(why: string): void; lost(why: string): void };

/**
 * Adopts the server that runs in the cluster, or starts one.
 * @param options.whileStarting called when its program was started: once, or never
 * @param options.signal interrupts it while it starts
 * @throws Error with its own words when it does not come up
 */
export async function startPostmaster(
  cluster: Cluster,
  { whileStarting = () => {}, signal }: { whileStarting?: (() => void) | undefined; signal?: AbortSignal } = {},
): Promise<Postmaster> {
  const until = performance.now() + FREE_WAIT_MS;
  const pid = await survivor(cluster, until);
  if (pid !== undefined) return adopted(pid);
  for (let begun = whileStarting; ; begun = () => {}) {
    try {
      return await launch(cluster, begun, signal);
    } catch (error) {
      if (!isHeld(error) || performance.now() > until || signal?.aborted) throw error;
      await sleep(FREE_RETRY_MS);
    }
  }
}

/**
 * Postgres found another server's lock or memory. Of one that was killed, both are there until its last process is gone and, where it
 * is an orphan, until somebody has reaped it.
 */
function isHeld(error: unknown): boolean {
  return /lock file ".*" already exists|pre-existing shared memory block/.test((error as Error).message);
}

/** Starts the server again when it ends by itself, with its data, a few times. */
export function keepRunning(
  first: Postmaster,
  start: (signal: AbortSignal) => Promise<Postmaster>,
  watcher: Watcher,
): Postmaster {
  const stopping = new AbortController();
  const { signal } = stopping;
  let current: Promise<Postmaster> = Promise.resolve(first);

  async function watch(): Promise<string> {
    for (let restarts = 0; ; restarts++) {
      let since = Number.POSITIVE_INFINITY;
      const why = await current.then(
        ({ ended }) => {
          since = performance.now();
          return ended;
        },
        (error: Error) => brief(error.message),
      );
      if (signal.aborted) return why;
      if (performance.now() - since > STEADY_MS) restarts = 0;
      if (restarts === RESTARTS_MAX) {
        watcher.lost(why);
        return why;
      }
      watcher.again(why);
      await sleep(delayMsAfter(restarts + 1, RESTART_DELAY), undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return why;
      current = start(signal);
    }
  }

  const ended = watch();
  return {
    ended,
    async stop() {
      stopping.abort();
      await current.then(
        (running) => running.stop(),
        () => {}, // it did not come up
      );
      await ended;
    },
  };
}

/** In a line: how it ended, and the last reason that it gave. */
function brief(said: string): string {
  const lines = said.split('\n');
  const fatal = lines.findLast((line) => /FATAL|PANIC/.test(line)) ?? '';
  return [/^postgres ended \([^)]*\)/.exec(said)?.[0] ?? lines[0], fatal.trim()].filter(Boolean).join(': ');
}

async function launch(cluster: Cluster, whileStarting: () => void, signal?: AbortSignal): Promise<Postmaster> {
  const { directory, identity, postgres, durable } = cluster;
  const settings = {
    listen_addresses: '',
    shared_buffers: '128MB',
    max_connections: '100',
    jit: 'off',
    random_page_cost: '1.1',
  };
  const args = ['-D', join(directory, 'data'), '-k', directory, '-p', String(PORT)];
  for (const [name, value] of Object.entries(settings)) args.push('-c', `${name}=${value}`);
  if (!durable) args.push('-c', 'fsync=off', '-c', 'full_page_writes=off', '-c', 'synchronous_commit=off');
  // Its own process group: Ctrl-C in a terminal reaches us alone, and we stop it in order.
  const options: SpawnOptions = { env: environment(), cwd: '/', stdio: ['ignore', 'ignore', 'pipe'], detached: true };
  const child = await identity.spawn(postgres, args, options, true);
  let output = '';
  const up = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<string>();
  child.once('error', up.reject);
  child.once('exit', (code, by) => {
    const said = `postgres ended (${code ?? by}): ${output.trim()}`;
    up.reject(new Error(said));
    ended.resolve(brief(said));
  });
  const interrupt = () => child.kill('SIGINT');
  signal?.addEventListener('abort', interrupt, { once: true });
  child.stderr?.on('data', (chunk) => {
    output = (output + chunk).slice(-16_384);
    if (/ready to accept (read-only )?connections/.test(output)) up.resolve();
  });
  whileStarting();
  await up.promise.finally(() => signal?.removeEventListener('abort', interrupt));
  child.unref();
  return {
    ended: ended.promise,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.ref(); // it was let go of
        child.kill('SIGINT');
      }
      await ended.promise;
    },
  };
}

/** What programs of Postgres see of our environment. */
export function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, TZ: 'UTC', LC_ALL: 'C' };
}

function adopted(pid: number): Postmaster {
  const ended = Promise.withResolvers<string>();
  const look = async () => {
    while (await isPostgres(pid)) await sleep(ADOPTED_LOOK_MS, undefined, { ref: false });
    ended.resolve('postgres ended');
  };
  void look();
  return {
    ended: ended.promise,
    async stop() {
      if (await isPostgres(pid)) process.kill(pid, 'SIGINT');
      while (await isPostgres(pid)) await sleep(20);
      ended.resolve('postgres ended');
    },
  };
}

/**
 * A server of this cluster that outlived the process which started it: one that accepts connections is adopted; one
 * that is on its way down (setpriv's signal reached it) is waited for.
 */
async function survivor({ directory, acceptsConnections }: Cluster, until: number): Promise<number | undefined> {
  while (performance.now() < until) {
    const text = await readFile(join(directory, 'data', 'postmaster.pid'), 'utf8').catch(() => undefined);
    const pid = Number(text?.split('\n')[0]);
    if (!pid || !(await isPostgres(pid))) return undefined;
    if (await acceptsConnections()) return pid;
    await sleep(50);
  }
  throw new Error(`a Postgres that was left behind in ${directory} neither answers nor ends`);
}

/** The file may be stale, and its number another program's by now. A zombie has no command line. */
async function isPostgres(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => 'postgres');
  return command.includes('postgres');
}
