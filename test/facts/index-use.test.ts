/**
 * Every look-up of facts and of searches uses an index, as the servers' role, under row-level security, by the plan that
 * Postgres keeps for all values: a condition that it takes for leaky would quietly make each of them read the whole table.
 */
import pg from 'pg';
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import type { Transaction } from '../../server/core/db/database.ts';
import { sql } from '../../server/core/db/sql.ts';
import { GraphReader } from '../../server/relationships/index.ts';
import { entitiesPage, reachedPage, readInner } from '../../server/relationships/search-store.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { type Edge, NOW, typesFor } from './graphs.ts';

const db = await createTestDatabase();
const WIDE = 30_000;
const admin = new pg.Client({ connectionString: db.adminUrl });
await admin.connect();
for (const select of [
  `'user', 'rich', 'reads', 'doc', 'd' || n`,
  `'user', 'u' || n, 'reads', 'doc', 'everybody'`,
  `'group', 'fleet', 'owns', 'doc', 'd' || n`,
  `'user', 'u' || n, 'member_of', 'group', 'g' || n % 1000`,
]) {
  await admin.query(
    `insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id) select 't', ${select} from generate_series(1, ${WIDE}) n`,
  );
}
await admin.query('vacuum analyze accord.relationship');
await admin.end();

const edge = (from: string, name: string, to: string): Edge => ({
  from: { type: from, id: '' },
  name,
  to: { type: to, id: '' },
});
const direct = [edge('user', 'reads', 'doc')];
const inherited = [...direct, edge('user', 'member_of', 'group'), edge('group', 'owns', 'doc')];
const ways = [{ makes: 'user:reads:doc', through: 'user:member_of:group', next: 'group:owns:doc' }];
const Read = Type.Object({ read: Type.Integer() });
const at = new Date(NOW).toISOString();

/** Does it in a transaction of the tenant's, and tells how many rows were read by going through the whole table. */
async function readOneByOne(work: (tx: Transaction) => Promise<unknown>): Promise<number> {
  return db.database.tenant('t', async (tx) => {
    await tx.run(sql`set local plan_cache_mode = force_generic_plan`);
    // What the connection did before may be counted, too.
    const counted = async () =>
      (
        await tx.maybe(
          Read,
          sql`select seq_tup_read::int as read from pg_stat_xact_user_tables
        where schemaname = 'accord' and relname = 'relationship'`,
        )
      )?.read ?? 0;
    const before = await counted();
    await work(tx);
    return (await counted()) - before;
  });
}

test('this would notice', async () => {
  const all = sql`select count(*)::int as read from accord.relationship where tenant = 't' and coalesce(from_id, to_id) = 'rich'`;
  expect(await readOneByOne((tx) => tx.one(Read, all))).toBeGreaterThan(WIDE);
});

const toResource = { name: 'reads', type: { literal: 'doc' }, id: { of: 'resource', member: 'id' } } as const;
const fromSubject = { name: 'reads', type: { literal: 'user' }, id: { of: 'subject', member: 'id' } } as const;
const rich = { type: 'user', id: 'rich' };

test.each([
  ['one relationship', direct, [], { subject: [toResource] }],
  ['relationships to any of a type', direct, [], { subject: [{ name: 'member_of', type: { literal: 'group' } }] }],
  ['an inherited one, from the subject', inherited, ways, { subject: [toResource] }],
  ['an inherited one, from the resource', inherited, ways, { resource: [fromSubject] }],
])('facts: %s', async (_, edges, inheritance, uses) => {
  const types = typesFor(edges, inheritance);
  const read = await readOneByOne(async (tx) => {
    const source = new GraphReader({ read: (_tenant, work) => work(tx) });
    const ask = (subject: typeof rich, resource: typeof rich) => {
      const entities = { subject, resource };
      const needed = {
        subject: true,
        resource: 'resource' in uses,
        subjectAttributes: false,
        resourceAttributes: false,
        uses,
      };
      return source.read({ tenant: 't', types, ...entities, compared: entities, needed, now: NOW });
    };
    await Promise.all(
      Array.from({ length: 8 }, (__, i) => ask({ type: 'user', id: `u${i + 1}` }, { type: 'doc', id: 'everybody' })),
    );
    await ask(rich, { type: 'doc', id: 'd7' });
  });
  expect(read).toBe(0);
});

test('searches', async () => {
  const page = { tenant: 't', type: 'doc', after: '', count: 100, now: at };
  const read = await readOneByOne(async (tx) => {
    expect(await entitiesPage(tx, page)).toHaveLength(100);
    expect(await reachedPage(tx, page, 'from', [{ ...rich, name: 'reads' }])).toHaveLength(100);
    expect(
      await reachedPage(tx, { ...page, type: 'user' }, 'to', [{ type: 'doc', id: 'everybody', name: 'reads' }]),
    ).toHaveLength(100);
    const step = { root: 0, after: '', name: 'member_of', type: 'group' };
    expect(await readInner(tx, page, 'from', [{ type: 'user', id: 'u1' }], [step])).toHaveLength(1);
  });
  expect(read).toBe(0);
});
