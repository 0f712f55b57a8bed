/**
 * Every look-up of consents uses an index, as the servers' role, under row-level security, by the plan that Postgres keeps for
 * all values; and reads no more of it than a page.
 */
import pg from 'pg';
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import {
  listConsents,
  readConsent,
  readConsentHistory,
  readConsentsWithProofs,
  readHolders,
  readSomeOf,
  removeUser,
} from '../../server/consents/store.ts';
import type { Transaction } from '../../server/core/db/database.ts';
import { sql } from '../../server/core/db/sql.ts';
import { readDirect } from '../../server/relationships/index.ts';
import { createTestDatabase } from '../helpers/database.ts';

const db = await createTestDatabase();
const USERS = 20_000;
const admin = new pg.Client({ connectionString: db.adminUrl });
await admin.connect();
await admin.query(`insert into accord.user_consent (tenant, user_id, definition, version, document, language, given_at)
  select 't', 'u' || n, d, '1', 'a', 'en', now() from generate_series(1, ${USERS}) n, unnest(array['news', 'terms']) d`);
await admin.query(`insert into accord.consent_invitation (tenant, user_id, definition, version, invited_at)
  select 't', 'u' || n, 'news', '1', now() from generate_series(1, ${USERS}) n`);
await admin.query(`insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id)
  select 't', 'user', 'u' || n, 'owns', 'record', 'r' || n / 4 from generate_series(1, ${USERS}) n`);
await admin.query('vacuum analyze accord.user_consent, accord.consent_invitation, accord.relationship');
await admin.end();

const Counts = Type.Object({ whole: Type.Integer(), fetched: Type.Integer() });

/** Rows read by going through a whole table, and rows fetched by an index. */
async function reads(work: (tx: Transaction) => Promise<unknown>) {
  return db.database.tenant('t', async (tx) => {
    await tx.run(sql`set local plan_cache_mode = force_generic_plan`);
    const counted = () =>
      tx.one(
        Counts,
        sql`select coalesce(sum(seq_tup_read), 0)::int as whole, coalesce(sum(idx_tup_fetch), 0)::int as fetched
          from pg_stat_xact_user_tables where relname in ('user_consent', 'consent_invitation', 'relationship')`,
      );
    const before = await counted();
    await work(tx);
    const after = await counted();
    return { whole: after.whole - before.whole, fetched: after.fetched - before.fetched };
  });
}

test('this would notice', async () => {
  const all = sql`select count(*)::int as whole, 0 as fetched from accord.user_consent where coalesce(user_id, '') = 'u7'`;
  expect((await reads((tx) => tx.one(Counts, all))).whole).toBeGreaterThan(USERS);
});

const page = { limit: 100 };
const owning = (n: number, id: string) => ({
  ...{ n, now: new Date().toISOString(), from: 'user', name: 'owns' },
  to: { type: 'record', id },
});
test.each<[string, (tx: Transaction) => Promise<unknown[]>, number]>([
  ['of one user and definition', (tx) => readConsentHistory(tx, 't', [{ n: 0, userId: 'u7', name: 'news' }]), 1],
  [
    'of one user and definition, with proofs',
    (tx) => readConsentsWithProofs(tx, 't', [{ n: 0, userId: 'u7', name: 'news' }]),
    1,
  ],
  ['of one user', (tx) => readConsentHistory(tx, 't', [{ n: 0, userId: 'u7', name: null }]), 2],
  [
    'of sixty-four users',
    (tx) =>
      readConsentHistory(
        tx,
        't',
        Array.from({ length: 64 }, (_, n) => ({ n, userId: `u${n + 1}`, name: 'news' })),
      ),
    64,
  ],
  ['of the holders of a relationship', (tx) => readHolders(tx, 't', [owning(0, 'r7')], []), 8],
  ['of nobody', (tx) => readHolders(tx, 't', [owning(0, 'none')], []), 0],
  [
    'of holders and of users who are named',
    (tx) =>
      readHolders(
        tx,
        't',
        [owning(0, 'r7'), owning(1, 'r8')],
        [
          { n: 1, userId: 'u7' },
          { n: 2, userId: 'none' },
        ],
      ),
    19,
  ],
  ['some of each of two users, for tokens', (tx) => readSomeOf(tx, 't', ['u7', 'u8'], 101), 4],
  [
    'what begins at two actors, for tokens',
    async (tx) => {
      const actors = ['u7', 'u8'].map((id) => ({ type: 'user', id }));
      const read = await readDirect(tx, 't', actors, { now: new Date().toISOString(), most: 100 });
      return read.flatMap((one) => one ?? []);
    },
    2,
  ],
  ['a page of all', (tx) => listConsents(tx, 't', {}, page), 100],
  ['a page of a user', (tx) => listConsents(tx, 't', { userId: 'u7' }, page), 2],
  ['a page of a definition', (tx) => listConsents(tx, 't', { name: 'news' }, page), 100],
  ['a page of a version', (tx) => listConsents(tx, 't', { name: 'news', version: '1' }, page), 100],
])('%s', async (_, read, count) => {
  let found: unknown[] = [];
  const { whole, fetched } = await reads(async (tx) => {
    found = await read(tx);
  });
  expect(found).toHaveLength(count);
  expect(whole).toBe(0);
  // A consent and its invitation each; a page of a definition may pass by as many of others.
  expect(fetched).toBeLessThanOrEqual(4 * count + 4);
});

test('one by its id, and a user that goes', async () => {
  const id = await db.database.tenant('t', async (tx) => (await listConsents(tx, 't', { userId: 'u9' }, page))[0]?.id);
  const { whole, fetched } = await reads(async (tx) => {
    expect(await readConsent(tx, 't', id as string)).toMatchObject({ user_id: 'u9' });
    await removeUser(tx, 't', 'u9');
  });
  expect([whole, fetched <= 8]).toEqual([0, true]);
});
