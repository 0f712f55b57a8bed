/**
 * The roles that the chart makes, on a real Postgres of their own: its statements, then `accord migrate` as the owner that they
 * make, end with a login role that row-level security binds.
 */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Database } from '../../../server/core/db/database.ts';
import { migrate } from '../../../server/core/db/migrate.ts';
import { type EmbeddedPostgres, startPostgres } from '../../../server/embedded/postgres.ts';
import { scratchFolder } from '../../helpers/cluster.ts';
import { databases, find, hasHelm, render } from './helm.ts';

async function query(url: string, ...statements: string[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) rows = (await client.query(statement)).rows;
    return rows;
  } finally {
    await client.end();
  }
}

describe.skipIf(!hasHelm)('the roles', () => {
  describe.each([
    ['own', databases.own, 'accord-postgresql'],
    ['cloudNativePg', databases.cloudNativePg, 'accord-db'],
  ])('%s', (way, values, secret) => {
    let postgres: EmbeddedPostgres;
    let owner: string;
    let server: string;
    beforeAll(async () => {
      const directory = await scratchFolder();
      postgres = await startPostgres(directory, { durable: false });
      const admin = postgres.adminUrl('postgres');
      await query(admin, `drop role ${postgres.role}`); // what the launcher makes, the chart's statements make here
      const made = find(await render(values), 'Secret', secret).stringData;
      if (way === 'cloudNativePg') {
        // What CloudNativePG does before it runs them.
        const first = `create role accord_owner login password '${made['owner-password']}'`;
        await query(admin, first, 'create database accord owner accord_owner');
      }
      await query(admin, ...made['roles.sql'].trim().split('\n'));
      const as = (role: string, password: string) =>
        postgres.adminUrl('accord').replace(/\/\/[^@]*@/, `//${role}:${password}@`);
      owner = as('accord_owner', made['owner-password']);
      server = as('accord', made.password);
    });
    afterAll(() => postgres?.stop());

    test('the owner migrates, and admits the servers to the two groups and the four readers, and no more', async () => {
      expect(await migrate(owner, { runtimeRole: 'accord' })).not.toEqual([]);
      const memberships = await query(
        postgres.adminUrl('accord'),
        `select roleid::regrole::text as role, admin_option, inherit_option, set_option from pg_auth_members
       where member = 'accord'::regrole order by roleid::regrole::text collate "C"`,
      );
      expect(memberships).toEqual([
        { role: 'accord_app', admin_option: false, inherit_option: true, set_option: true },
        ...['reader_admin', 'reader_editor', 'reader_support', 'reader_viewer', 'system'].map((one) => ({
          ...{ role: `accord_${one}`, admin_option: false, inherit_option: false, set_option: true },
        })),
      ]);
      expect(await migrate(owner, { runtimeRole: 'accord' })).toEqual([]);
    });

    test('a server accepts the role, and sees no tenant unless it says which', async () => {
      const database = new Database({ url: server, poolMax: 2, applicationName: 'test', observe: () => {} });
      try {
        await database.assertConfined();
      } finally {
        await database.close();
      }
      const attributes = `rolsuper, rolbypassrls, rolcreatedb, rolcreaterole`;
      expect(await query(server, `select ${attributes} from pg_roles where rolname = current_user`)).toEqual([
        { rolsuper: false, rolbypassrls: false, rolcreatedb: false, rolcreaterole: false },
      ]);
      expect(await query(server, 'select * from accord.tenant')).toEqual([]);
      await expect(query(server, 'create table accord.mine (a int)')).rejects.toThrow(/permission denied/);
    });
  });
});
