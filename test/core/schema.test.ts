/** The schema of a migrated database is the one of docs/schema.txt, whoever owns it. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, expect, inject, test } from 'vitest';
import { describeSchema } from '../../docs/schema.ts';
import { migrate } from '../../server/core/db/migrate.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestDatabase } from '../helpers/database.ts';

const golden = readFileSync(join(import.meta.dirname, '../../docs/schema.txt'), 'utf8')
  .split('\n')
  .filter((line) => !line.startsWith('--'))
  .join('\n')
  .trim();

const migrated = await createTestDatabase();
const owner = `owner_${randomBytes(6).toString('hex')}`;
afterAll(async () => {
  await asAdmin(inject('adminUrl'), `drop database if exists ${owner} with (force)`);
  await asAdmin(inject('adminUrl'), `drop role if exists ${owner}`);
});

/** The schema as it is after the statement, which is undone. */
async function describeAfter(url: string, change = 'select'): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('begin');
    await client.query(change);
    return await describeSchema(client);
  } finally {
    await client.end();
  }
}

test('a migrated database has the schema of docs/schema.txt', async () => {
  expect(await describeAfter(migrated.adminUrl), 'run npm run generate, and look at the difference').toBe(golden);
});

test('no index is on an expression: under row-level security it is used only where every function of it is leakproof', async () => {
  const sql = `select indexrelid::regclass::text as index from pg_index join pg_class c on c.oid = indrelid
    where c.relrowsecurity and c.relkind in ('r', 'p') and indexprs is not null and not indisunique order by 1`;
  expect(await asAdmin(migrated.adminUrl, sql)).toEqual([]);
});

test('the description does not depend on who owns the database', async () => {
  await asAdmin(inject('adminUrl'), `create role ${owner} login createrole password '${owner}'`);
  await asAdmin(inject('adminUrl'), `create database ${owner} owner ${owner} template template1`);
  const url = `${inject('appUrl').replace('/postgres?', `/${owner}?`)}&user=${owner}&password=${owner}`;
  expect((await asAdmin<{ current_user: string }>(url, 'select current_user'))[0]?.current_user).toBe(owner);
  await migrate(url);
  expect(await describeAfter(url)).toBe(golden);
});

test.each([
  ['a nullable column', 'alter table accord.tenant alter column spec drop not null'],
  ['a default', "alter table accord.tenant alter column state set default 'disabled'"],
  ['a constraint', 'alter table accord.policy drop constraint policy_name_check'],
  ['an index', 'drop index accord.relationship_of_type'],
  ['row security that does not bind the owner', 'alter table accord.tenant no force row level security'],
  ['a policy', 'alter policy of_tenant on accord.tenant using (true)'],
  ['a grant on a table', 'grant truncate on accord.tenant to accord_app'],
  ['a grant on a column', 'grant update (hash) on accord.ledger_entry to accord_app'],
  ['who runs a function', 'alter function accord.isolate(regclass) security definer'],
  ['who may call a function', 'grant execute on function accord.isolate(regclass) to public'],
  ['a trigger', 'alter table accord.signing_key disable trigger all'],
  ['a type', "create type accord.colour as enum ('red')"],
  ['a view', 'create view accord.everything as select tenant from accord.tenant'],
])('the description shows a change of %s', async (_, change) => {
  expect(await describeAfter(migrated.adminUrl, change)).not.toBe(golden);
});
