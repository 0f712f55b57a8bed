/** Fencing on a real Postgres: what an operator writes after its term is refused, whatever it believes and whenever it began. */
import { randomUUID } from 'node:crypto';
import { Type } from 'typebox';
import { afterAll, expect, test } from 'vitest';
import { acquireTerm, nextEpoch, OtherCluster, TermTaken } from '../../operator/terms.ts';
import { Database } from '../../server/core/db/database.ts';
import { StaleTerm } from '../../server/core/db/fence.ts';
import { sql } from '../../server/core/db/sql.ts';
import { limits } from '../../server/core/limits.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { until } from '../helpers/wait.ts';

const { database, adminUrl, url } = await createTestDatabase();
/** As another process has it: its claims do not queue behind our transactions. */
const elsewhere = new Database({ url, poolMax: 2, applicationName: 'test', observe: () => {} });
afterAll(() => elsewhere.close());
const cluster = 'c1';
const claim = (source: string, epoch: number, more: { cluster?: string; adopt?: boolean; holder?: string } = {}) =>
  acquireTerm(elsewhere, source, { epoch, holder: 'h', cluster, adopt: false, ...more });

/** An operator's view of the database in a term. */
function operatorIn(source: string, epoch: number | undefined): { db: Database; refusals: StaleTerm[] } {
  const refusals: StaleTerm[] = [];
  const db = database.fenced({
    term: () => (epoch === undefined ? undefined : { source, epoch }),
    refused: (error) => refusals.push(error),
  });
  return { db, refusals };
}

const write = (db: Database, name: string, between = async () => {}) =>
  db.system(async (tx) => {
    await tx.run(sql`insert into accord.resource (source, kind, name, uid, generation, spec_digest, status)
      values ('test', 'Policy', ${name}, '', 1, '', '{}')`);
    await between();
  });
const written = (name: string) =>
  database.system((tx) =>
    tx.maybe(Type.Object({ name: Type.String() }), sql`select name from accord.resource where name = ${name}`),
  );

test('in its term an operator writes, in both kinds of transaction, each in its own role', async () => {
  const source = randomUUID();
  await claim(source, 1);
  const { db } = operatorIn(source, 1);
  const Who = Type.Object({ role: Type.String(), tenant: Type.String() });
  const who = sql`select current_user::text as role, coalesce(current_setting('accord.tenant', true), '') as tenant`;
  expect((await db.system((tx) => tx.one(Who, who))).role).toBe('accord_system');
  const plain = await database.tenant('acme', (tx) => tx.one(Who, who));
  expect(plain.role).not.toBe('accord_system');
  expect(await db.tenant('acme', (tx) => tx.one(Who, who))).toEqual(plain);
});

test('without a term nothing begins', async () => {
  const { db, refusals } = operatorIn('none', undefined);
  await expect(write(db, 'unled')).rejects.toThrow(StaleTerm);
  await expect(db.tenant('acme', async () => {})).rejects.toThrow(StaleTerm);
  expect(await written('unled')).toBeUndefined();
  expect(refusals).toEqual([]);
});

test('a term that nobody claimed is refused', async () => {
  const { db, refusals } = operatorIn(randomUUID(), 1);
  await expect(write(db, 'unclaimed')).rejects.toThrow(/term is nobody's/);
  expect(refusals).toHaveLength(1);
});

test('a transaction that begins after the takeover is refused, and the operator is told', async () => {
  const source = randomUUID();
  await claim(source, 1);
  const { db, refusals } = operatorIn(source, 1);
  await claim(source, 2);
  await expect(write(db, 'late')).rejects.toThrow(StaleTerm);
  await expect(db.tenant('acme', async () => {})).rejects.toThrow(/term 1 over .* is over: the term is 2/);
  expect(await written('late')).toBeUndefined();
  expect(refusals).toHaveLength(2);
});

test('a transaction that began before commits before the next term begins', async () => {
  const source = randomUUID();
  await claim(source, 1);
  const order: string[] = [];
  let claiming: Promise<unknown> | undefined;
  await write(operatorIn(source, 1).db, 'before', async () => {
    claiming = claim(source, 2).then(() => order.push('claimed'));
    await until('one that waits for the lock', () => waiting(source));
    order.push('committing');
  });
  await claiming;
  expect(order).toEqual(['committing', 'claimed']);
  expect(await written('before')).toBeDefined();
});

test(`a transaction that is frozen for longer than termAcquireWaitMs (${limits.termAcquireWaitMs}) is ended and writes nothing`, async () => {
  const source = randomUUID();
  await claim(source, 1);
  const thawed = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const frozen = write(operatorIn(source, 1).db, 'frozen', () => {
    begun.resolve();
    return thawed.promise;
  });
  const refused = expect(frozen).rejects.toThrow();
  await begun.promise;
  await claim(source, 2);
  thawed.resolve();
  await refused;
  expect(await written('frozen')).toBeUndefined();
  await write(operatorIn(source, 2).db, 'next');
});

test('a hundred transactions across a takeover: what was acknowledged is there, what was refused is not, and none of it came later', async () => {
  const source = randomUUID();
  await claim(source, 1);
  const { db } = operatorIn(source, 1);
  const names = Array.from({ length: 100 }, (_, i) => `many-${source}-${i}`);
  const results: Promise<boolean>[] = names.map((name) =>
    write(db, name).then(
      () => true,
      (error) => {
        expect(error).toBeInstanceOf(StaleTerm);
        return false;
      },
    ),
  );
  await Promise.race(results);
  await claim(source, 2);
  const count = sql`select count(*)::int as n from accord.resource where name like ${`many-${source}-%`}`;
  const N = Type.Object({ n: Type.Integer() });
  const atTakeover = (await elsewhere.system((tx) => tx.one(N, count))).n;
  const acknowledged = (await Promise.all(results)).filter(Boolean).length;
  expect(acknowledged).toBeGreaterThan(0);
  expect(acknowledged).toBeLessThan(100);
  expect(atTakeover).toBe(acknowledged);
  expect((await database.system((tx) => tx.one(N, count))).n).toBe(acknowledged);
});

test('of many that claim one epoch at once, one gets it', async () => {
  const source = randomUUID();
  const claims = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => claim(source, 1, { holder: `h${i}` })));
  const lost = claims.filter((one) => one.status === 'rejected');
  expect(lost).toHaveLength(7);
  for (const one of lost) expect(one.reason).toBeInstanceOf(TermTaken);
});

test('a lower epoch is refused, and the next one is told also when the Lease counts from the beginning again', async () => {
  const source = randomUUID();
  expect(await nextEpoch(database, source, { cluster, adopt: false })).toBe(1);
  await claim(source, 7);
  await expect(claim(source, 6)).rejects.toThrow(TermTaken);
  await expect(claim(source, 7)).rejects.toThrow(TermTaken);
  expect(await nextEpoch(database, source, { cluster, adopt: false })).toBe(8);
});

test("another cluster's operator is refused until it is told to adopt", async () => {
  const source = randomUUID();
  await claim(source, 1);
  const other = { cluster: 'c2', adopt: false };
  await expect(nextEpoch(database, source, other)).rejects.toThrow(OtherCluster);
  await expect(claim(source, 2, other)).rejects.toThrow(/uid c1.*c2.*--adopt-cluster/);
  await write(operatorIn(source, 1).db, `undisturbed-${source}`);
  await claim(source, 2, { ...other, adopt: true });
  await expect(nextEpoch(database, source, { cluster, adopt: false })).rejects.toThrow(OtherCluster);
});

test('terms of different sources do not disturb one another', async () => {
  const [one, two] = [randomUUID(), randomUUID()];
  await claim(one, 1);
  await claim(two, 1);
  await write(operatorIn(one, 1).db, `held-${one}`, () => claim(two, 2));
  await write(operatorIn(one, 1).db, `again-${one}`);
});

test('the ordinary role neither reads terms nor checks them', async () => {
  for (const query of [sql`select 1 from accord.operator_term`, sql`select accord.require_term('x', 1)`]) {
    await expect(database.tenant('acme', (tx) => tx.run(query))).rejects.toThrow(/permission denied/);
  }
});

test('a check writes nothing: no transaction id is taken', async () => {
  const source = randomUUID();
  await claim(source, 1);
  const { db } = operatorIn(source, 1);
  const Id = Type.Object({ id: Type.Union([Type.String(), Type.Null()]) });
  const id = sql`select pg_current_xact_id_if_assigned()::text as id`;
  expect((await db.system((tx) => tx.one(Id, id))).id).toBeNull();
  expect((await db.tenant('acme', (tx) => tx.one(Id, id))).id).toBeNull();
});

/** Whether somebody waits for the exclusive lock of a source's term. */
async function waiting(source: string): Promise<boolean> {
  const rows = await asAdmin(
    adminUrl,
    `select 1 from pg_locks where locktype = 'advisory' and not granted
       and ((classid::bigint << 32) | objid::bigint) = accord.term_lock($1)`,
    [source],
  );
  return rows.length > 0;
}
