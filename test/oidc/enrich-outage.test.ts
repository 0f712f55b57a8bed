/** Postgres is slow, silent or gone, under load: tokens are issued in time, without claims, and never with a part of one. */
import pg from 'pg';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../server/core/clock.ts';
import { Database } from '../../server/core/db/database.ts';
import { limits } from '../../server/core/limits.ts';
import type { Observation } from '../../server/core/observe.ts';
import { createEnrichment, type Enrichment } from '../../server/oidc/enrich.ts';
import { ClaimReader } from '../../server/oidc/enrich-reader.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { startPostgresProxy } from '../helpers/postgres-proxy.ts';
import { tenantSpec } from '../helpers/server.ts';
import { turns, until, WAIT_MS_MAX } from '../helpers/wait.ts';

const db = await createTestDatabase();
const proxy = await startPostgresProxy(db.url);
const observations: Observation[] = [];
const observe = (one: Observation) => observations.push(one);
const database = new Database({ url: proxy.url, poolMax: 8, applicationName: 'test', observe });
const enrichment = createEnrichment({ database, clock: systemClock, observe });
/** For what is not about the limit of time: 200 ms are little on a busy machine. */
const patient = createEnrichment({ database, clock: systemClock, observe, msMax: WAIT_MS_MAX });
const admin = new pg.Client({ connectionString: db.adminUrl });
await admin.connect();
// 100 relationships each, as many as a claim may have.
await admin.query(`insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id)
  select t, 'user', 'u' || u, 'drives', 'car', 'c' || n
  from unnest(array['one', 'two', 'three']) t, generate_series(1, 20) u, generate_series(1, ${limits.claimRelationshipsMax}) n`);
await admin.query('analyze accord.relationship');
afterAll(async () => {
  await proxy.mend();
  await enrichment.close();
  await patient.close();
  await database.close();
  await admin.end();
  await proxy.cut();
});

const spec = tenantSpec({ claims: { namespace: 'claims.test', relationships: true, consents: true } });
const scopes = new Set(['relationships', 'consents']);
type Token = { names: number; relationships: number | undefined };
/** What a token of a user gets. */
async function token(
  tenant = 'one',
  user = 1,
  { by = enrichment, signal }: { by?: Enrichment; signal?: AbortSignal } = {},
): Promise<Token> {
  const actor = { type: 'user', id: `u${user}` };
  const claims = await by.claimsFor({ tenant, snapshot: { spec, definitions: new Map() }, actor, scopes, signal });
  const found = claims['https://claims.test/relationships'] as unknown[] | undefined;
  return { names: Object.keys(claims).length, relationships: found?.length };
}
const tokens = (count: number, tenant?: string, by?: Enrichment) =>
  Promise.all(Array.from({ length: count }, (_, n) => token(tenant, 1 + (n % 20), by && { by })));
const isWhole = ({ names, relationships }: Token) => names === 2 && relationships === limits.claimRelationshipsMax;
const isBare = ({ names }: Token) => names === 0;
const reasons = () =>
  new Set(observations.splice(0).flatMap((one) => (one.kind === 'claim_left_out' ? [one.reason] : [])));

/** Both connections work. */
const wholeAgain = () =>
  until('whole claims', async () => (await Promise.all([token('one'), token('two')])).every(isWhole));

beforeEach(async () => {
  await admin.query('rollback'); // what a test that failed has locked
  await proxy.mend();
  await wholeAgain();
  observations.length = 0;
});

describe('claimsMsMax, under load', () => {
  test('while Postgres answers, they are whole', async () => {
    expect((await tokens(2 * limits.claimReadTokensMax, 'one', patient)).filter(isBare)).toEqual([]);
    // A busy machine may be late with some.
    await until('whole ones in time', async () => (await tokens(2 * limits.claimReadTokensMax)).every(isWhole));
  });

  test('Postgres is gone in the middle of it: every token is whole or bare', async () => {
    const all: Promise<Token>[] = [];
    const ask = (round: number) =>
      ['one', 'two', 'three'].map((tenant) => token(tenant, 1 + (round % 20), { by: patient }));
    for (let round = 0; round < 60; round++) {
      const asked = ask(round);
      all.push(...asked);
      if (round === 20) await proxy.cut();
      if (round === 40) await proxy.mend();
      // Some of them end before the next come.
      await Promise.race(asked);
    }
    const issued = await Promise.all(all);
    expect(issued.filter((one) => !isWhole(one) && !isBare(one))).toEqual([]);
    expect(issued.filter(isBare).length).toBeGreaterThan(0);
    expect(issued.filter(isWhole).length).toBeGreaterThan(0);
    expect(reasons()).toContain('failed');
    await wholeAgain();
  });

  test('Postgres falls silent: no token waits longer, and once it answers there are claims again', async () => {
    proxy.fallSilent();
    const issued = await tokens(100);
    expect(issued.filter(isBare)).toHaveLength(100);
    expect(reasons()).toEqual(new Set(['late']));
  });

  test('a slow reading is ended by Postgres, and does not keep its place', async () => {
    await admin.query('begin');
    await admin.query('lock table accord.relationship in access exclusive mode');
    const issued = await tokens(10);
    expect(issued.filter(isBare)).toHaveLength(10);
    const left = async () => {
      await admin.query('select pg_stat_clear_snapshot()');
      const { rows } = await admin.query(
        `select count(*)::int as count from pg_stat_activity where datname = current_database() and state = 'active'
          and application_name like '%-claims'`,
      );
      return rows[0].count;
    };
    await expect.poll(left).toBe(0); // while the lock is held
    await admin.query('rollback');
    await wholeAgain();
  });
});

describe('the gate', () => {
  test('claimReadsMax at once, and one of a tenant', async () => {
    const active = async () => {
      await admin.query('select pg_stat_clear_snapshot()');
      const { rows } = await admin.query(
        `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
          and application_name like '%-claims'`,
      );
      return rows[0].count as number;
    };
    /** So many tokens of each read while nobody can end it: how many readings there are, once there are as many as expected. */
    const most = async (tenants: readonly string[], expected: number) => {
      await admin.query('begin');
      await admin.query('lock table accord.relationship in access exclusive mode');
      const all = Promise.all(tenants.map((tenant) => tokens(10, tenant, patient)));
      await until(`${expected} readings`, async () => (await active()) >= expected);
      let seen = 0;
      for (let n = 0; n < 20; n++) seen = Math.max(seen, await active());
      await admin.query('rollback');
      expect((await all).flat().every(isWhole)).toBe(true);
      return seen;
    };
    expect(await most(['one'], 1)).toBe(1);
    expect(await most(['one', 'two', 'three'], limits.claimReadsMax)).toBe(limits.claimReadsMax);
    // Those of the other enrichment are kept open; and one that is ended may not be gone yet.
    expect(proxy.connections.most).toBeLessThanOrEqual(2 * limits.claimReadsMax + 1);
  });

  test('claimReadTokensMax of a tenant go in one reading', async () => {
    let readings = 0;
    const read: Database['read'] = (tenant, work) => {
      readings++;
      return database.read(tenant, work);
    };
    const reader = new ClaimReader({ read }, systemClock);
    const ask = (user: number) =>
      new Promise((answer, fail) => {
        const question = { relationshipsOf: { type: 'user', id: `u${user}` }, givenBy: undefined };
        reader.ask('one', { question, isOver: () => false, answer, fail, refuse: () => fail(new Error('refused')) });
      });
    const all = (count: number) => Promise.all(Array.from({ length: count }, (_, n) => ask(n + 1)));
    await all(1 + limits.claimReadTokensMax); // the first goes at once
    expect(readings).toBe(2);
    await all(2 + limits.claimReadTokensMax);
    expect(readings).toBe(5);
  });

  test('claimReadsWaitingMax: past it, the tenant with most loses its oldest at once, and the others lose nothing', async () => {
    await admin.query('begin');
    await admin.query('lock table accord.relationship in access exclusive mode');
    const inside =
      limits.claimReadsMax === 2 ? [token('one', 1, { by: patient }), token('two', 1, { by: patient })] : [];
    const flood = tokens(limits.claimReadsWaitingMax - 1, 'three', patient);
    const another = token('two', 2, { by: patient });
    await turns();
    expect(reasons()).toEqual(new Set());
    const more = [token('three', 3, { by: patient }), token('two', 3, { by: patient })];
    const dropped = () =>
      observations.flatMap((one) => (one.kind === 'claim_left_out' ? [`${one.tenant} ${one.reason}`] : []));
    await expect.poll(dropped).toEqual(Array(4).fill('three busy')); // two tokens, two claims each
    await admin.query('rollback');
    await Promise.all([...inside, flood, another, ...more]);
  });

  test('a flood of one tenant does not keep another from its claims', async () => {
    const other = async () => {
      const flood = tokens(limits.claimReadsWaitingMax, 'one');
      const one = await token('two');
      await flood;
      return isWhole(one);
    };
    await expect.poll(other).toBe(true);
  });

  test('a request that has ended is not read for, and nobody is told', async () => {
    const gone = new AbortController();
    gone.abort();
    expect(isBare(await token('one', 1, { signal: gone.signal }))).toBe(true);
    proxy.fallSilent();
    const ended = new AbortController();
    const waiting = token('one', 1, { signal: ended.signal });
    ended.abort();
    expect(isBare(await waiting)).toBe(true);
    expect(reasons()).toEqual(new Set());
  });
});

test('an error of any kind is no error of the token', async () => {
  const broken = {
    spec,
    get definitions(): never {
      throw new Error('no definitions');
    },
  };
  const actor = { type: 'user', id: 'u1' };
  expect(await enrichment.claimsFor({ tenant: 'one', snapshot: broken, actor, scopes })).toEqual({});
  expect(reasons()).toEqual(new Set(['failed']));
});
