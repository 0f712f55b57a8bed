/** Transactions on pipelined connections: order, failures, and what comes too late. */
import pg from 'pg';
import { Type } from 'typebox';
import { beforeAll, describe, expect, test } from 'vitest';
import { Database, type Transaction } from '../../server/core/db/database.ts';
import { type Sql, sql } from '../../server/core/db/sql.ts';
import { limits } from '../../server/core/limits.ts';
import { createTestDatabase } from '../helpers/database.ts';

const { url } = await createTestDatabase();
// One connection: what one transaction leaves behind, the next one meets.
const database = new Database({ url, poolMax: 1, applicationName: 'test', observe: () => {} });

const Email = Type.Object({ email: Type.String() });
const insert = (email: string): Sql =>
  sql`insert into accord.member (tenant, email, role) values ('one', ${email}, 'support')`;
const members = (tx: Transaction) => tx.many(Email, sql`select email from accord.member order by email`);
const wrong = sql`select 1 / 0 as email`;
const emails = async () => (await database.read('one', members)).map(({ email }) => email);

beforeAll(async () => {
  await database.system((tx) =>
    tx.run(sql`insert into accord.tenant (tenant, spec, owner, updated_by)
      values ('one', '{}', '{"source":"api"}', 'test')`),
  );
  return () => database.close();
});

describe('statements that are issued together', () => {
  test('run in their order, each seeing those before it', async () => {
    const [, seen] = await database.tenant('one', (tx) => Promise.all([tx.run(insert('a@x')), members(tx)]));
    expect(seen).toEqual([{ email: 'a@x' }]);
  });

  test('are all undone when one fails, and its error is told', async () => {
    const write = database.tenant('one', (tx) =>
      Promise.all([tx.run(insert('b@x')), tx.run(wrong), tx.run(insert('c@x')), tx.run(insert('d@x'))]),
    );
    await expect(write).rejects.toThrow(/division by zero/);
    expect(await emails()).toEqual(['a@x']);
    await database.tenant('one', (tx) => Promise.all([tx.run(insert('b@x')), tx.run(insert('c@x'))]));
    expect(await emails()).toEqual(['a@x', 'b@x', 'c@x']);
  });

  test('tell the error of the first that failed, whichever the work waits for first', async () => {
    const write = database.tenant('one', async (tx) => {
      const first = tx.run(wrong);
      first.catch(() => {});
      await tx.run(insert('f@x'));
      await first;
    });
    await expect(write).rejects.toThrow(/division by zero/);
  });

  test('are undone with their commit, when that went with them', async () => {
    const write = database.systemPipelined((tx) => Promise.all([tx.run(insert('e@x')), tx.run(wrong)]));
    await expect(write).rejects.toThrow(/division by zero/);
    expect(await emails()).toEqual(['a@x', 'b@x', 'c@x']);
  });

  test('are refused from the rollback on, whoever still has the transaction', async () => {
    let late: Promise<unknown> | undefined;
    const goesOn = async (tx: Transaction) => {
      await tx.run(wrong).catch(() => {});
      // Turns of promises only: the rollback is sent meanwhile, and not answered.
      for (let turn = 0; turn < 100; turn++) await null;
      late = members(tx);
      await late;
    };
    const write = database.tenant('one', (tx) => Promise.all([tx.run(wrong), goesOn(tx)]));
    await expect(write).rejects.toThrow(/division by zero/);
    await expect(late).rejects.toThrow(/after the end of its transaction/);
  });

  test('are not said to be written when the work did not mind that one failed', async () => {
    const careless = (tx: Transaction) => Promise.all([tx.run(insert('e@x')), tx.run(wrong).catch(() => {})]);
    await expect(database.tenant('one', careless)).rejects.toThrow(/nothing of it was written/);
    await expect(database.systemPipelined(careless)).rejects.toThrow(/division by zero/);
    expect(await emails()).toEqual(['a@x', 'b@x', 'c@x']);
  });
});

describe('a transaction whose beginning fails', () => {
  test('writes nothing, and says why', async () => {
    const fenced = database.fenced({ term: () => ({ source: 'nobody', epoch: 7 }), refused: () => {} });
    await expect(fenced.tenant('one', (tx) => tx.run(insert('f@x')))).rejects.toThrow(/term/);
    await expect(fenced.systemPipelined((tx) => tx.run(insert('f@x')))).rejects.toThrow(/term/);
    expect(await emails()).toEqual(['a@x', 'b@x', 'c@x']);
  });
});

describe('a transaction of one round trip', () => {
  test('has its statements prepared once, also those that came behind one that failed', async () => {
    const one = sql`select 'one' as email, ${1}::integer as n`;
    const two = sql`select 'two' as email, ${2}::integer as n`;
    const both = (tx: Transaction) => Promise.all([tx.many(Email, one), tx.many(Email, two)]);
    const failing = (tx: Transaction) => Promise.all([tx.many(Email, one), tx.many(Email, wrong), tx.many(Email, two)]);
    for (const work of [failing, failing]) await expect(database.read('one', work)).rejects.toThrow(/division by zero/);
    for (let i = 0; i < 2; i++) {
      const answers = await database.read('one', both);
      expect(answers).toEqual([[{ email: 'one', n: 1 }], [{ email: 'two', n: 2 }]]);
    }
    const unknown = (tx: Transaction) => tx.many(Email, sql`select email from accord.nothing`);
    for (let i = 0; i < 2; i++) await expect(database.read('one', unknown)).rejects.toThrow(/accord.nothing/);
    // The same texts, a round trip each.
    expect(await database.tenant('one', both)).toHaveLength(2);
    expect(await database.read('one', both)).toHaveLength(2);
  });

  test('writes nothing when a value of a later statement cannot be sent', async () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const unsendable = sql`select ${circular}::jsonb as email`;
    const write = database.systemPipelined((tx) => Promise.all([tx.run(insert('h@x')), tx.run(unsendable)]));
    await expect(write).rejects.toThrow(/circular/);
    expect(await emails()).not.toContain('h@x');
    const rereads = await database.systemPipelined(members);
    expect(rereads).toHaveLength(3);
  });

  test('leaves neither its role nor its tenant behind', async () => {
    const settings = sql`select current_user::text as role, coalesce(current_setting('accord.tenant', true), '') as tenant,
      current_setting('transaction_read_only') as writes, current_setting('transaction_timeout') as together`;
    const Settings = Type.Object({
      ...{ role: Type.String(), tenant: Type.String(), writes: Type.String(), together: Type.String() },
    });
    const both = (tx: Transaction) => Promise.all([tx.one(Settings, settings), tx.one(Settings, settings)]);
    expect((await database.read('one', both))[1].together).toBe(
      `${limits.statementTimeoutMs + limits.roundTripExtraMs}ms`,
    );
    const system = await database.systemPipelined((tx) => tx.one(Settings, settings));
    expect(system).toEqual({ role: 'accord_system', tenant: '', writes: 'off', together: '0' });
    const read = await database.read('one', (tx) => tx.one(Settings, settings));
    expect(read).toMatchObject({ role: expect.not.stringMatching('accord_system'), tenant: 'one', writes: 'on' });
    const plain = new pg.Client({ connectionString: url });
    await plain.connect();
    const { rows } = await plain.query('select current_user::text as role');
    await plain.end();
    const later = await database.tenant('two', (tx) => tx.one(Settings, settings));
    expect(later).toEqual({ role: rows[0].role, tenant: 'two', writes: 'off', together: '0' });
  });
});

describe('read', () => {
  test('refuses a statement that comes after it waited for another', async () => {
    const late = database.read('one', async (tx) => {
      await members(tx);
      return members(tx);
    });
    await expect(late).rejects.toThrow(/after the end of its transaction/);
    expect(await emails()).toHaveLength(3);
  });

  test('does not write', async () => {
    await expect(database.read('one', (tx) => tx.run(insert('g@x')))).rejects.toThrow(/read-only/);
  });

  test("sees its tenant's rows only, and leaves no tenant behind", async () => {
    expect(await emails()).toHaveLength(3);
    expect(await database.read('two', members)).toEqual([]);
    expect(await database.read('', members)).toEqual([]);
  });
});
