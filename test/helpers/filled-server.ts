/** A server on a database in which every table has many rows of few tenants, nothing of it due, and every statement is explained. */
import pg from 'pg';
import { tasksOf } from '../../server/main.ts';
import type { Task } from '../../server/room/tasks.ts';
import { closeAtEnd } from './closing.ts';
import { createTestDatabase } from './database.ts';
import { explainEverything, untilRun } from './explained.ts';
import { fill, tablesOf } from './filled.ts';
import { createTestServer } from './server.ts';

/** They hold what waits to be done, or one row for each server, installation and migration. */
const left = ['event_inbox', 'installation_key', 'ledger_inbox', 'migration', 'operator_term', 'server'];
/** With one row for each tenant. */
const oneForEach = ['event_counter', 'mail_lane', 'mail_settings', 'tenant', 'trusted_issuer'];
const TENANTS = 1000;
const ROWS: Record<string, number> = { relationship: 100_000, idempotency_key: 50_000, event_counter: 100 };
const ROWS_OF_OTHERS = 5000;
/** These run until they are told to stop, and look for lanes, by a statement that has this text, again and again. */
const lasting: Record<string, string> = {
  'delivering events': 'l."subscription" as id',
  'sending mail': 'l."lane" as id',
};

export async function runOnce(task: Task): Promise<void> {
  const stop = new AbortController();
  const looking = lasting[task.name];
  // What it found the first time was taken before it looks for a second time.
  const looked = looking === undefined ? undefined : untilRun(looking, 2).finally(() => stop.abort());
  await Promise.all([task.run(stop.signal), looked]);
}

/** Call at the top of a file. */
export async function createFilledServer() {
  const db = await createTestDatabase();
  await explainEverything(db.adminUrl);
  const server = await createTestServer({ ACCORD_MAX_STALENESS: '2' }, db);
  const tasks = tasksOf(server.services);
  const [big, late] = [await server.tenant(), await server.tenant()];
  // What is done once is done.
  await Promise.all(tasks.map(runOnce));
  const admin = new pg.Client({ connectionString: db.adminUrl });
  await admin.connect();
  closeAtEnd(() => admin.end());
  for (const table of (await tablesOf(admin)).filter((one) => !left.includes(one)))
    await fill(admin, table, ROWS[table] ?? (oneForEach.includes(table) ? TENANTS : ROWS_OF_OTHERS), {
      tenant: oneForEach.includes(table) ? `'t' || n` : `case when n % 2 = 0 then '${big}' else 't1' end`,
    });
  await admin.query('vacuum analyze');
  return { server, tasks, admin, big, late };
}
