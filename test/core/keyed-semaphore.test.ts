import pg from 'pg';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { Database } from '../../server/core/db/database.ts';
import { sql } from '../../server/core/db/sql.ts';
import { KeyedSemaphore } from '../../server/core/keyed-semaphore.ts';
import { waitingForLock } from '../helpers/admin.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { turns, until } from '../helpers/wait.ts';

const { url, adminUrl } = await createTestDatabase();

describe('the semaphore', () => {
  test('lets so many of one key in, in the order of asking, and others at once', async () => {
    const semaphore = new KeyedSemaphore(2);
    const releases = [0, 1, 2, 3].map(() => Promise.withResolvers<void>());
    const entered: number[] = [];
    const runs = releases.map(({ promise }, index) =>
      semaphore.run('a', () => {
        entered.push(index);
        return promise;
      }),
    );
    await turns();
    expect(entered).toEqual([0, 1]);
    await semaphore.run('b', async () => entered.push(9));
    expect(entered).toEqual([0, 1, 9]);
    releases[1]?.resolve();
    await runs[1];
    await turns();
    expect(entered).toEqual([0, 1, 9, 2]);
    for (const { resolve } of releases) resolve();
    await Promise.all(runs);
    expect(entered).toEqual([0, 1, 9, 2, 3]);
  });

  test('is left also by what fails', async () => {
    const semaphore = new KeyedSemaphore(1);
    await expect(semaphore.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await semaphore.run('a', async () => 'in')).toBe('in');
  });
});

describe('the pool', () => {
  const observe = () => {};
  const seconds = (n: number) => sql`select pg_sleep(${n})::text as slept`;
  const Slept = Type.Object({ slept: Type.String() });

  test("one tenant's slow queries leave connections to the others, and to the system", async () => {
    const database = new Database({ url, poolMax: 4, applicationName: 'test', observe, statementTimeoutMs: 600_000 });
    // They are as slow as the test is.
    const holder = new pg.Client({ connectionString: url });
    await holder.connect();
    await holder.query('select pg_advisory_lock(1)');
    const waits = sql`select pg_advisory_xact_lock_shared(1)::text as slept`;
    const slow = Array.from({ length: 12 }, () => database.tenant('slow', (tx) => tx.many(Slept, waits)));
    await until('slow queries', async () => (await waitingForLock(adminUrl)) > 0);
    await database.tenant('quick', (tx) => tx.many(Slept, seconds(0)));
    await database.system((tx) => tx.many(Slept, seconds(0)));
    await holder.end();
    expect(await Promise.all(slow)).toHaveLength(12);
    await database.close();
  });

  test('a query that takes too long is ended by Postgres, and its connection is good again', async () => {
    // The same way as limits.statementTimeoutMs and limits.systemStatementTimeoutMs, which are too long to wait for.
    const database = new Database({ url, poolMax: 2, applicationName: 'test', observe, statementTimeoutMs: 2000 });
    await expect(database.tenant('a', (tx) => tx.many(Slept, seconds(60)))).rejects.toThrow(/statement timeout/);
    expect(await database.tenant('a', (tx) => tx.many(Slept, seconds(0)))).toHaveLength(1);
    await database.close();
  });
});
