/**
 * The schema's version: plain forward-only SQL files, applied in order under one advisory lock, each in its own
 * transaction. A file whose first line is `--! breaking-change` ends the life of older programs: they refuse to run on
 * a schema that has a breaking migration which they do not know.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import type { Observe } from '../observe.ts';
import { connect } from './hosts.ts';
import { readers } from './readers.ts';
import { urlsOf } from './urls.ts';

const directory = new URL('../../migrations/', import.meta.url);
const LOCK = "hashtextextended('accord.migrate', 0)";

type Migration = { id: number; name: string; breaking: boolean; digest: string; text: string };

/** The migrations in this program, in order. */
export async function readMigrations(from: URL = directory): Promise<Migration[]> {
  const names = (await readdir(from)).filter((name) => /^\d{6}_\w+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, from), 'utf8');
      const digest = createHash('sha256').update(text).digest('hex');
      return { id: Number(name.slice(0, 6)), name, breaking: text.startsWith('--! breaking-change'), digest, text };
    }),
  );
}

/** The role that a connection URL names, as the driver reads it (libpq's URLs are not all WHATWG URLs). */
export function roleOf(url: string): string {
  const { user } = new pg.Client({ connectionString: urlsOf(url).urls[0] });
  if (!user) throw new Error('the connection URL names no role');
  return user;
}

/** The database is newer than this program, or was migrated by other files than these. */
export class SchemaMismatch extends Error {}
/** `accord migrate` has not brought the database up to this program yet. */
export class SchemaBehind extends SchemaMismatch {}

/**
 * Brings the schema up to this program's version. Safe to run from many processes at once; a second run does nothing.
 * @param url the owner's connection; it needs CREATE on the database and, the first time, CREATEROLE
 * @param runtimeRole the login role of the servers, which is made a member of accord_app, accord_system and the readers
 * @returns the names applied now
 * @throws SchemaMismatch
 */
export async function migrate(
  url: string,
  options: { runtimeRole?: string; observe?: Observe; migrations?: Migration[] } = {},
): Promise<string[]> {
  const migrations = options.migrations ?? (await readMigrations());
  const client = await connect(url, { application_name: 'accord-migrate' });
  try {
    // Must come first: everything below assumes that no other migration runs.
    await client.query(`select pg_advisory_lock(${LOCK})`);
    await client.query('create schema if not exists accord');
    await client.query(
      `create table if not exists accord.migration (id integer primary key, name text not null,
         breaking boolean not null, digest text not null, applied_at timestamptz not null default now())`,
    );
    const pending = compare(migrations, await applied(client));
    for (const migration of pending) await apply(client, migration, options.observe);
    if (options.runtimeRole !== undefined) await grantRole(client, options.runtimeRole);
    return pending.map((migration) => migration.name);
  } finally {
    await client.end();
  }
}

/**
 * Checks that this program may run on the schema as it is; called at the start of serve and operate.
 * @throws SchemaMismatch saying which migration is missing here or there
 */
export async function assertSchema(url: string): Promise<void> {
  const migrations = await readMigrations();
  const client = await connect(url, { application_name: 'accord-check' });
  try {
    const exists = await client.query(`select to_regclass('accord.migration') is not null as there`);
    const pending = exists.rows[0].there ? compare(migrations, await applied(client)) : migrations;
    if (pending[0]) throw new SchemaBehind(`the database lacks migration ${pending[0].name}: run accord migrate`);
  } finally {
    await client.end();
  }
}

type Applied = { id: number; name: string; breaking: boolean; digest: string };

async function applied(client: pg.Client): Promise<Applied[]> {
  return (await client.query<Applied>('select id, name, breaking, digest from accord.migration order by id')).rows;
}

function compare(migrations: Migration[], rows: Applied[]): Migration[] {
  const known = new Map(migrations.map((migration) => [migration.id, migration]));
  for (const row of rows) {
    const migration = known.get(row.id);
    if (migration === undefined && row.breaking) {
      throw new SchemaMismatch(`the database has migration ${row.name}, which this version of accord is too old for`);
    }
    if (migration !== undefined && migration.digest !== row.digest) {
      throw new SchemaMismatch(
        `migration ${row.name} in the database differs from the file of that name: another version of accord made the ` +
          'database. Before 0.1.0 migrations are rewritten in place, and a database cannot be moved from one commit to ' +
          'another. Start with an empty database: for accord start, delete its data folder (.accord, or what --data ' +
          'names). To keep a tenant, first run accord export with the version that made the database.',
      );
    }
  }
  const done = new Set(rows.map((row) => row.id));
  return migrations.filter((migration) => !done.has(migration.id));
}

async function apply(client: pg.Client, migration: Migration, observe: Observe | undefined): Promise<void> {
  const started = performance.now();
  await client.query('begin');
  try {
    await client.query(migration.text);
    await client.query('insert into accord.migration (id, name, breaking, digest) values ($1, $2, $3, $4)', [
      migration.id,
      migration.name,
      migration.breaking,
      migration.digest,
    ]);
    await client.query('grant select on accord.migration to accord_app');
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw new Error(`migration ${migration.name} failed: ${(error as Error).message}`, { cause: error });
  }
  observe?.({ kind: 'migrated', name: migration.name, ms: performance.now() - started });
}

async function grantRole(client: pg.Client, role: string): Promise<void> {
  const quoted = pg.escapeIdentifier(role);
  const member = await client.query(
    `select pg_has_role($1, 'accord_app', 'usage') as app, pg_has_role($1, 'accord_system', 'member') as system`,
    [role],
  );
  if (!member.rows[0].app) await client.query(`grant accord_app to ${quoted} with inherit true, set true`);
  if (!member.rows[0].system) await client.query(`grant accord_system to ${quoted} with inherit false, set true`);
  for (const reader of Object.values(readers)) {
    const { rows } = await client.query(`select pg_has_role($1, '${reader}', 'member') as member`, [role]);
    if (!rows[0].member) await client.query(`grant ${reader} to ${quoted} with inherit false, set true`);
  }
}
