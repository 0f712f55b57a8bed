/** Starts one Postgres for the whole run and migrates a template; each test file clones it (database.ts). */
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../server/core/db/migrate.ts';
import { type EmbeddedPostgres, startPostgres } from '../../server/embedded/postgres.ts';
import { asAdmin } from './admin.ts';
import { placeInMemory } from './memory.ts';

declare module 'vitest' {
  interface ProvidedContext {
    adminUrl: string;
    appUrl: string;
  }
}

type Running = { postgres: EmbeddedPostgres; directory: string };

const PREFIX = 'accord-test-';
/** By then a Postgres accepts connections, or never will. */
const STARTING_MS_MAX = 10 * 60_000;

// Vitest loads this file once for each project of the run.
const runs = globalThis as { accordTestPostgres?: { users: number; running: Promise<Running> } };

export default async function setup(project: TestProject) {
  runs.accordTestPostgres ??= { users: 0, running: start() };
  const shared = runs.accordTestPostgres;
  shared.users += 1;
  const { postgres, directory } = await shared.running;
  project.provide('adminUrl', postgres.adminUrl('postgres'));
  project.provide('appUrl', postgres.url('postgres'));
  return async () => {
    shared.users -= 1;
    if (shared.users > 0) return;
    delete runs.accordTestPostgres;
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  };
}

async function start(): Promise<Running> {
  const place = placeInMemory() ?? tmpdir();
  await removeLeftBehind(place);
  const directory = await mkdtemp(join(place, PREFIX));
  removeAfterUs(directory);
  const postgres = await startPostgres(directory, { durable: false });
  await asAdmin(postgres.adminUrl('postgres'), 'create database accord_template');
  await migrate(postgres.adminUrl('accord_template'), { runtimeRole: postgres.role });
  return { postgres, directory };
}

/** However this process ends: Postgres ends with it, and nobody would remove its data. */
function removeAfterUs(directory: string): void {
  const script =
    'while kill -0 "$1" || kill -0 "$(head -n 1 "$2/data/postmaster.pid")"; do sleep 0.5; done 2>/dev/null; rm -rf "$2"';
  // Without the name of the run, by which its processes are killed (run-scratch.ts).
  const { TEST_RUN: _, ...env } = process.env;
  spawn('sh', ['-c', script, 'sh', String(process.pid), directory], { detached: true, stdio: 'ignore', env }).unref();
}

/** What was left when the whole container of a run was killed: in memory it would stay until the machine starts again. */
async function removeLeftBehind(place: string): Promise<void> {
  const names = await readdir(place);
  for (const directory of names.filter((name) => name.startsWith(PREFIX)).map((name) => join(place, name))) {
    const made = await stat(directory).catch(() => undefined);
    if (made === undefined || Date.now() - made.mtimeMs < STARTING_MS_MAX) continue;
    if (await isServed(directory)) continue;
    await rm(directory, { recursive: true, force: true }).catch(() => {}); // another user's
  }
}

/** A server whose queue of connections is full is there, too. */
const isServed = (directory: string) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(join(directory, '.s.PGSQL.5432'), () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'));
  });
