/** Starts one Postgres for the whole run and migrates a template; each test file clones it (database.ts). */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../server/core/db/migrate.ts';
import { startPostgres } from '../../server/embedded/postgres.ts';
import { asAdmin } from './admin.ts';

declare module 'vitest' {
  interface ProvidedContext {
    adminUrl: string;
    appUrl: string;
  }
}

export default async function setup(project: TestProject) {
  const directory = await mkdtemp(join(tmpdir(), 'accord-test-'));
  const postgres = await startPostgres(directory, { durable: false });
  await asAdmin(postgres.adminUrl('postgres'), 'create database accord_template');
  await migrate(postgres.adminUrl('accord_template'), { runtimeRole: postgres.role });
  project.provide('adminUrl', postgres.adminUrl('postgres'));
  project.provide('appUrl', postgres.url('postgres'));
  return async () => {
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  };
}
