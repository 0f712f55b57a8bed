/** Group commit on a real Postgres: one transaction for many, and each by itself when that fails. */
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { systemClock } from '../../server/core/clock.ts';
import { Database } from '../../server/core/db/database.ts';
import { sql } from '../../server/core/db/sql.ts';
import { createEncrypter } from '../../server/core/encrypter.ts';
import { GroupCommit, write } from '../../server/writes/index.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { masterKey } from '../helpers/server.ts';

const { database } = await createTestDatabase();
const services = { database, clock: systemClock, pseudonymizer: createEncrypter(masterKey) };
await database.system((tx) =>
  tx.run(sql`insert into accord.tenant (tenant, spec, owner, updated_by)
    select t, '{}', '{"source":"api"}', 'test' from unnest(array['one', 'two', 'three', 'four']) t`),
);

const Id = Type.Object({ id: Type.String() });
const sizes: number[] = [];
const group = new GroupCommit<string, string>({
  write: (tenant, emails) =>
    write(services, { tenant }, { locks: 'records' }, async ({ tx }) => {
      sizes.push(emails.length);
      return Promise.all(
        emails.map(async (email) => {
          const row = sql`insert into accord.member (tenant, email, role) values (${tenant}, ${email}, 'support') returning id`;
          return `${email} ${(await tx.one(Id, row)).id}`;
        }),
      );
    }),
  sizeOf: (email) => (email.startsWith('large') ? 3 : 1),
  sizeMax: 4,
  writingMax: 1,
});
const namesOf = (written: readonly { result: string }[]) => written.map(({ result }) => result.split(' ')[0]);

test('what comes together has one transaction, and each gets its own result', async () => {
  sizes.length = 0;
  const written = await Promise.all(['a', 'b', 'c'].map((email) => group.write('one', email)));
  expect(namesOf(written)).toEqual(['a', 'b', 'c']);
  expect(new Set(written.map(({ revision }) => revision)).size).toBe(1);
  expect(sizes).toEqual([3]);
});

test('a group is as large as it may be, and one item alone may be larger', async () => {
  sizes.length = 0;
  const emails = ['a', 'b', 'large1', 'large2', 'c', 'd'];
  const written = await Promise.all(emails.map((email) => group.write('two', email)));
  expect(namesOf(written)).toEqual(emails);
  expect(sizes).toEqual([2, 1, 2, 1]);
  const one = new GroupCommit<string, string>({
    write: async (_, items) => ({ result: items, revision: 'r1' }),
    sizeOf: () => 9,
    sizeMax: 4,
    writingMax: 1,
  });
  expect((await one.write('two', 'x')).result).toBe('x');
});

test('one that cannot be written does not keep the others from it', async () => {
  sizes.length = 0;
  await group.write('three', 'taken');
  const settled = await Promise.allSettled(['a', 'taken', 'b'].map((email) => group.write('three', email)));
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(sizes).toEqual([1, 3, 1, 1, 1]);
});

test('while the database is away, a group is refused together', async () => {
  // Nothing listens there.
  const url = 'postgresql://accord@127.0.0.1:1/accord';
  const away = new Database({ url, poolMax: 1, applicationName: 'test', observe: () => {} });
  const attempts: number[] = [];
  const refused = new GroupCommit<string, string>({
    write: (tenant, items) => {
      attempts.push(items.length);
      return write({ ...services, database: away }, { tenant }, { locks: 'records' }, async () => items);
    },
    sizeOf: () => 1,
    sizeMax: 10,
    writingMax: 1,
  });
  const settled = await Promise.allSettled(['a', 'b', 'c'].map((item) => refused.write('four', item)));
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(attempts).toEqual([3]);
  await away.close();
});

test('and what is written one by one, from where the database went away', async () => {
  const attempts: string[] = [];
  const refused = new GroupCommit<string, string>({
    write: (tenant, items) => {
      attempts.push(items.join());
      return write(services, { tenant }, { locks: 'records' }, async ({ tx }) => {
        if (items.length > 1) throw new Error('not together');
        if (items[0] === 'b') await tx.run(sql`select pg_terminate_backend(pg_backend_pid())`);
        return items;
      });
    },
    sizeOf: () => 1,
    sizeMax: 10,
    writingMax: 1,
  });
  const settled = await Promise.allSettled(['a', 'b', 'c'].map((item) => refused.write('four', item)));
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  expect(attempts).toEqual(['a,b,c', 'a', 'b']);
});
