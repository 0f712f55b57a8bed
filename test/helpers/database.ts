/** A database of one's own for a test file: cloned from the migrated template, dropped at the end. */
import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { Database } from '../../server/core/db/database.ts';
import type { Observation } from '../../server/core/observe.ts';
import { asAdmin } from './admin.ts';
import { closeAtEnd } from './closing.ts';

export type TestDatabase = {
  database: Database;
  /** The servers' role. */
  url: string;
  /** The owner, for looking behind row-level security. */
  adminUrl: string;
  observations: Observation[];
};

/** Call at the top of a describe or file. */
export async function createTestDatabase(template = 'accord_template'): Promise<TestDatabase> {
  const name = `t_${randomBytes(6).toString('hex')}`;
  // The template has 13 MB: copying its files takes 80 ms in memory, and writing it by the log 200.
  await asAdmin(inject('adminUrl'), `create database ${name} template ${template} strategy file_copy`);
  const named = (url: string) => url.replace('/postgres?', `/${name}?`);
  const observations: Observation[] = [];
  const url = named(inject('appUrl'));
  const database = new Database({ url, poolMax: 8, applicationName: 'test', observe: (o) => observations.push(o) });
  closeAtEnd(async () => {
    await database.close();
    await asAdmin(inject('adminUrl'), `drop database ${name} with (force)`);
  });
  return { database, url, adminUrl: named(inject('adminUrl')), observations };
}
