import { describe, expect, test } from 'vitest';
import { assertSchema, migrate, readMigrations, SchemaMismatch } from '../../server/core/db/migrate.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestDatabase } from '../helpers/database.ts';

const empty = await createTestDatabase('template1');

const query = (text: string) => asAdmin(empty.adminUrl, text);

describe('migrations', () => {
  test('twenty runs at once apply each once', async () => {
    await expect(assertSchema(empty.url)).rejects.toThrow(/run accord migrate/);
    const runs = await Promise.all(
      Array.from({ length: 20 }, () => migrate(empty.adminUrl, { runtimeRole: 'accord' })),
    );
    const applied = runs.flat();
    expect(applied).toEqual((await readMigrations()).map((migration) => migration.name));
    await assertSchema(empty.url);
  });

  test('a second run does nothing', async () => {
    expect(await migrate(empty.adminUrl, { runtimeRole: 'accord' })).toEqual([]);
  });

  test('a failing migration leaves nothing behind and says which it was', async () => {
    const bad = {
      id: 999998,
      name: '999998_bad.sql',
      breaking: false,
      digest: 'x',
      text: 'create table accord.half (a int); select 1/0',
    };
    const migrations = [...(await readMigrations()), bad];
    await expect(migrate(empty.adminUrl, { migrations })).rejects.toThrow(/999998_bad\.sql failed: division by zero/);
    expect(await query(`select to_regclass('accord.half') as half`)).toEqual([{ half: null }]);
  });

  test('a program refuses a schema with a breaking migration that it does not know, and accepts another', async () => {
    const insert = (id: number, breaking: boolean) =>
      query(
        `insert into accord.migration (id, name, breaking, digest) values (${id}, '${id}_later.sql', ${breaking}, 'x')`,
      );
    await insert(800001, false);
    await assertSchema(empty.url);
    await insert(800002, true);
    await expect(assertSchema(empty.url)).rejects.toThrow(SchemaMismatch);
    await expect(migrate(empty.adminUrl)).rejects.toThrow(/too old/);
    await query('delete from accord.migration where id > 800000');
  });

  test('an edited file is noticed', async () => {
    const migrations = (await readMigrations()).map((migration) => ({ ...migration, digest: 'other' }));
    await expect(migrate(empty.adminUrl, { migrations })).rejects.toThrow(
      /differs.*Start with an empty database: for accord start, delete its data folder.*accord export/,
    );
  });
});
