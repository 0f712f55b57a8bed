/** Row-level security: every table with a tenant column, seen from another tenant, from none, and from the wrong role. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { Type } from 'typebox';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { Database, type Transaction } from '../../server/core/db/database.ts';
import { identifier, sql } from '../../server/core/db/sql.ts';
import { createTestDatabase } from '../helpers/database.ts';

const { database, url, adminUrl } = await createTestDatabase();
const admin = new pg.Client({ connectionString: adminUrl });
await admin.connect();
const { rows: tables } = await admin.query<{ name: string; kind: string; tenant: boolean; forced: boolean }>(
  `select c.relname as name, c.relkind as kind, c.relrowsecurity and c.relforcerowsecurity as forced,
     exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant') as tenant
   from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where n.nspname = 'accord' and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'migration' order by 1`,
);
await admin.end();

const Count = Type.Object({ n: Type.Integer() });

beforeAll(async () => {
  await database.system(async (tx) => {
    for (const tenant of ['one', 'two']) {
      await tx.run(sql`insert into accord.tenant (tenant, spec, owner, updated_by)
        values (${tenant}, '{}', '{"source":"api"}', 'test')`);
      await tx.run(sql`insert into accord.policy (tenant, name, number, effective_rego, artifact, reads, revision, owner, updated_by)
        values (${tenant}, 'p', 1, '', '', '{}', 1, '{"source":"api"}', 'test')`);
    }
  });
});

describe('row-level security', () => {
  test.each(tables)('is enabled and forced on $name', ({ forced }) => {
    expect(forced).toBe(true);
  });
  test.each(tables.filter((table) => table.tenant && table.name !== 'server_revision'))(
    '$name shows nothing while no tenant is set',
    async ({ name }) => {
      const row = await database.tenant('', (tx) =>
        tx.one(Count, sql`select count(*)::int as n from accord.${identifier(name)}`),
      );
      expect(row.n).toBe(0);
    },
  );
  test('a tenant sees its rows only', async () => {
    const rows = await database.tenant('one', (tx) =>
      tx.many(Type.Object({ tenant: Type.String() }), sql`select tenant from accord.policy`),
    );
    expect(rows).toEqual([{ tenant: 'one' }]);
  });
  test('of several that are read together, each sees its rows only, and a statement that comes late is refused', async () => {
    const Row = Type.Object({ tenant: Type.String() });
    const all = sql`select tenant from accord.policy`;
    const read = database.readEach('one', ['two', 'none', 'one'], (tx) => tx.many(Row, all));
    expect(await read).toEqual([[{ tenant: 'two' }], [], [{ tenant: 'one' }]]);
    expect(await database.readEach('one', [], (tx) => tx.many(Row, all))).toEqual([]);
    const late = database.readEach('one', ['one', 'two'], async (tx) => {
      await tx.many(Row, all);
      return tx.many(Row, all);
    });
    await expect(late).rejects.toThrow('a statement came after the end of its transaction');
    const writes = database.readEach('one', ['one'], (tx) => tx.run(sql`delete from accord.policy`));
    await expect(writes).rejects.toThrow('read-only');
  });
  test("a tenant cannot write another tenant's row", async () => {
    const write = database.tenant('one', (tx) =>
      tx.run(sql`insert into accord.member (tenant, email, role) values ('two', 'a@b.c', 'support')`),
    );
    await expect(write).rejects.toThrow(/row-level security/);
    expect(await database.tenant('one', (tx) => tx.run(sql`delete from accord.policy where tenant = 'two'`))).toBe(0);
  });
  test('no setting outlives its transaction', async () => {
    const connect = vi.spyOn(pg.Client.prototype, 'connect');
    const other = new Database({ url, poolMax: 1, applicationName: 'test', observe: () => {} });
    const look = (tx: Transaction) => tx.one(Count, sql`select count(*)::int as n from accord.policy`);
    const transactions: Record<string, () => Promise<unknown>> = {
      tenant: () => other.tenant('one', look),
      read: () => other.read('one', look),
      readEach: () => other.readEach('one', ['one', 'two'], look),
      write: () => other.write('one', look),
      'write that is not durable': () => other.write('one', look, { durable: false }),
      tenantSnapshot: () => other.tenantSnapshot('one', look),
      reader: () => other.reader('one', 'support', (tx) => tx.one(Count, sql`select 1 as n`)),
      system: () => other.system(look),
      systemPipelined: () => other.systemPipelined(look),
      systemSnapshot: () => other.systemSnapshot(look),
    };
    // What the connections are like before any: the pools keep them.
    await Promise.all([other.assertConfined(), other.systemSnapshot(look)]);
    const clients = connect.mock.contexts as pg.Client[];
    connect.mockRestore();
    const state = `select current_user, coalesce(current_setting('accord.tenant', true), '') as tenant,
      current_setting('transaction_read_only') as read_only, current_setting('synchronous_commit') as synchronous,
      current_setting('transaction_timeout') as time, current_setting('transaction_isolation') as isolation`;
    const states = () => Promise.all(clients.map(async (client) => (await client.query(state)).rows[0]));
    const before = await states();
    expect(before).toMatchObject([{ tenant: '' }, { tenant: '' }]);
    for (const [name, run] of Object.entries(transactions)) {
      await run();
      expect(await states(), name).toEqual(before);
    }
    expect(clients).toHaveLength(2);
    await other.close();
  });
  test('tables without tenants are closed to the ordinary role', async () => {
    await expect(database.tenant('one', (tx) => tx.run(sql`select 1 from accord.installation_key`))).rejects.toThrow(
      /permission denied/,
    );
  });
  test('the role that spans tenants sees all', async () => {
    const row = await database.system((tx) => tx.one(Count, sql`select count(*)::int as n from accord.policy`));
    expect(row.n).toBe(2);
  });
});

test('a role that could step around row-level security is refused', async () => {
  await database.assertConfined();
  const owner = new Database({ url: adminUrl, poolMax: 1, applicationName: 'test', observe: () => {} });
  await expect(owner.assertConfined()).rejects.toThrow(/postgres is SUPERUSER/);
  await owner.close();
});

test('a role that inherits the rights of the role across tenants is refused', async () => {
  const role = `inheriting_${randomBytes(4).toString('hex')}`;
  const own = new pg.Client({ connectionString: adminUrl });
  await own.connect();
  await own.query(`create role ${role} login password '${role}'`);
  await own.query(`grant accord_app, accord_system to ${role} with inherit true`);
  const url = adminUrl.replace(/\/\/[^@]*@/, `//${role}:${role}@`);
  const inheriting = new Database({ url, poolMax: 1, applicationName: 'test', observe: () => {} });
  try {
    await expect(inheriting.assertConfined()).rejects.toThrow(/inherits it/);
    await own.query(`grant accord_system to ${role} with inherit false`);
    await inheriting.assertConfined();
  } finally {
    await inheriting.close();
    await own.query(`drop role ${role}`);
    await own.end();
  }
});
