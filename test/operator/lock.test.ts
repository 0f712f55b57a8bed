/** Two operators of one source on one database: what the former one has under way, or begins, is not written. */
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { LockLeadership } from '../../operator/lock.ts';
import type { Database } from '../../server/core/db/database.ts';
import { StaleTerm } from '../../server/core/db/fence.ts';
import { sql } from '../../server/core/db/sql.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestDatabase } from '../helpers/database.ts';

const { database, adminUrl } = await createTestDatabase();
const observe = () => {};

/** An operator that leads as soon as it may. */
function operator(source: string) {
  const lock = new LockLeadership({ database, source, observe, retryMs: 20 });
  const led = Promise.withResolvers<void>();
  let losses = 0;
  const leading = lock.lead({
    started: async () => led.resolve(),
    stopped: () => {
      losses++;
    },
    waiting: () => {},
  });
  const writing = database.fenced({ term: () => lock.term(), refused: () => {} });
  return { lock, writing, led: led.promise, losses: () => losses, close: () => leading.close() };
}

const write = (db: Database, name: string, meanwhile = async () => {}) =>
  db.system(async (tx) => {
    await tx.run(sql`insert into accord.resource (source, kind, name, uid, generation, spec_digest, status)
      values ('test', 'Policy', ${name}, '', 1, '', '{}')`);
    await meanwhile();
  });
const written = async (name: string) =>
  (await database.system((tx) =>
    tx.maybe(Type.Object({ name: Type.String() }), sql`select name from accord.resource where name = ${name}`),
  )) !== undefined;

/** Ends the connections that hold session-level locks of operators: Postgres gives the lock to the next one at once. */
const endLocks = () =>
  asAdmin(
    adminUrl,
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'test-listen'
      and datname = current_database()`,
  );

test('one leads at a time, and each time that the lock is held is a term of its own', async () => {
  const first = operator('turns');
  await first.led;
  const second = operator('turns');
  await write(first.writing, 'turns-first');
  await expect(write(second.writing, 'turns-second')).rejects.toThrow(StaleTerm);
  const { epoch } = first.lock.term() as { epoch: number };
  await first.close();
  await second.led;
  expect(second.lock.term()).toEqual({ source: 'turns', epoch: epoch + 1 });
  await write(second.writing, 'turns-second');
  await expect(write(first.writing, 'turns-late')).rejects.toThrow(StaleTerm);
  await second.close();
  expect([await written('turns-first'), await written('turns-second'), await written('turns-late')]).toEqual([
    ...[true, true, false],
  ]);
});

test('a transaction that outlives the lock is committed before the next term or not at all', async () => {
  const first = operator('outlives');
  await first.led;
  const term = first.lock.term() as { source: string; epoch: number };
  const [begun, thawed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const outliving = write(first.writing, 'outlives', () => {
    begun.resolve();
    return thawed.promise;
  });
  const refused = expect(outliving).rejects.toThrow();
  await begun.promise;
  const closing = first.close();
  const second = operator('outlives');
  await second.led;
  // A process that does not know yet that it has lost the lock.
  const unaware = database.fenced({ term: () => term, refused: () => {} });
  await expect(write(unaware, 'outlives-unaware')).rejects.toThrow(StaleTerm);
  thawed.resolve();
  await Promise.all([refused, closing]);
  expect([await written('outlives'), await written('outlives-unaware')]).toEqual([false, false]);
  await second.close();
});

test('an operator whose lock was lost leads again in a later term', async () => {
  const one = operator('again');
  await one.led;
  const { epoch } = one.lock.term() as { epoch: number };
  await endLocks();
  await expect.poll(() => one.losses()).toBeGreaterThan(0);
  await expect.poll(() => one.lock.term()?.epoch).toBe(epoch + 1);
  await write(one.writing, 'again');
  await one.close();
});
