/** Starts one Postgres for the whole run and migrates a template; each test file clones it (database.ts). */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../server/core/db/migrate.ts';
import { type EmbeddedPostgres, startPostgres } from '../../server/embedded/postgres.ts';
import { asAdmin } from './admin.ts';

declare module 'vitest' {
  interface ProvidedContext {
    adminUrl: string;
    appUrl: string;
  }
}

type Running = { postgres: EmbeddedPostgres; directory: string };

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
  const directory = await mkdtemp(join(tmpdir(), 'pg-'));
  const postgres = await startPostgres(directory, { durable: false });
  try {
    await asAdmin(postgres.adminUrl('postgres'), 'create database accord_template');
    await migrate(postgres.adminUrl('accord_template'), { runtimeRole: postgres.role });
    return { postgres, directory };
  } catch (error) {
    delete runs.accordTestPostgres;
    await postgres.stop();
    throw error;
  }
}
