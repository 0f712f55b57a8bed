/** Many at once: a consent is registered exactly once, a first invitation is made once, and a revocation holds. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import type { ServedTenant } from '../../server/snapshot/index.ts';
import { seed } from '../helpers/seed.ts';
import { createTestServer } from '../helpers/server.ts';
import { WallClock } from '../invitations/inviting.ts';
import { consenting, item } from './consenting.ts';

const clock = new WallClock();
const server = await createTestServer({ ACCORD_DATABASE_POOL: '20' }, undefined, clock);
const other = await createTestServer(
  { ACCORD_MASTER_KEY: server.config.ACCORD_MASTER_KEY as string, ACCORD_DATABASE_POOL: '20' },
  server.db,
  clock,
);
const count = <T>(list: readonly T[], value: T) => list.filter((one) => one === value).length;

/** Calls with one token on both servers in turn. */
async function callers(tenant: string, id: string) {
  const headers = { authorization: `Bearer ${await server.user(tenant, id)}` };
  await other.services.snapshots.refresh(tenant);
  let n = 0;
  return async (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) => {
    const { app } = n++ % 2 === 0 ? server : other;
    const url = `/${tenant}/consents${path}`;
    const response = await app.inject({ method, url, headers, ...(body ? { payload: body } : {}) });
    return { status: response.statusCode, body: response.payload === '' ? undefined : response.json() };
  };
}

test('fifty at once on two servers register one consent', async () => {
  const { define, tenant, ledger } = await consenting(server, clock);
  await define('news', { '1 a en': 0 });
  const alice = await callers(tenant, 'alice');
  const answers = await Promise.all(Array.from({ length: 50 }, () => alice('POST', '', item('news', '1 a en'))));
  const statuses = answers.map((one) => one.status);
  expect([count(statuses, 201), count(statuses, 200)]).toEqual([1, 49]);
  expect(new Set(answers.map((one) => one.body.id)).size).toBe(1);
  const entries = await ledger();
  expect(count(entries, 'registered registered of alice: news 1 a')).toBe(1);
  expect(count(entries, 'registered already_given of alice: news 1 a')).toBe(49);
});

test('lists of the same users in other orders do not wait for one another', async () => {
  const { define, tenant, admin } = await consenting(server, clock);
  await define('news', { '1 a en': 0 });
  const token = await server.client(tenant, 'pg:tenant:admin');
  await other.services.snapshots.refresh(tenant);
  const users = Array.from({ length: 20 }, (_, i) => item('news', '1 a en', { userId: `u${i}` }));
  const shuffled = fc.sample(fc.shuffledSubarray(users, { minLength: users.length }), { numRuns: 12, seed });
  const answers = await Promise.all(
    shuffled.map((drawn, i) => {
      const payload = i % 3 === 0 ? users : i % 3 === 1 ? users.toReversed() : drawn;
      const { app } = i % 2 === 0 ? server : other;
      return app.inject({
        method: 'POST',
        url: `/${tenant}/consents`,
        headers: { authorization: `Bearer ${token}` },
        payload,
      });
    }),
  );
  const statuses = answers.flatMap((one) => one.json().results.map((result: { status: number }) => result.status));
  expect([count(statuses, 201), count(statuses, 200)]).toEqual([20, 220]);
  expect((await admin('GET', '?name=news&limit=200')).body.consents).toHaveLength(20);
});

test('fifty first reads at once make one first invitation, and all say the same end', async () => {
  const { define, tenant, end, ledger } = await consenting(server, clock);
  await define('news', { '1 a en': 0, '2 a en': 1000 });
  await end('news', '1', { startDate: 2000, endDate: 100_000, gracePeriod: 'PT3S' });
  const alice = await callers(tenant, 'alice');
  await alice('POST', '', item('news', '1 a en'));
  clock.advance(2000);
  const ends = new Date(clock.now() + 3000).toISOString();
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      alice('GET', i % 5 === 0 ? '/outstanding?language=en' : '/active?name=news&language=en'),
    ),
  );
  const all = answers.map((one) => one.body.consents?.[0] ?? one.body);
  expect(new Set(all.map((one) => `${one.status} ${one.gracePeriodEnds}`))).toEqual(new Set([`grace ${ends}`]));
  const entries = await ledger();
  expect(count(entries, 'invited grace of alice: news 1')).toBe(1);
  expect(entries.filter((one) => one.startsWith('read'))).toHaveLength(50);
});

test('giving and revoking at once: what the ledger says last is what is there', async () => {
  const { define, tenant, ledger } = await consenting(server, clock);
  await define('news', { '1 a en': 0 });
  const alice = await callers(tenant, 'alice');
  for (let round = 0; round < 10; round++) {
    const { id } = (await alice('POST', '', item('news', '1 a en'))).body;
    const answers = await Promise.all([
      alice('DELETE', `/${id}`),
      alice('POST', '', item('news', '1 a en')),
      alice('DELETE', `/${id}`),
    ]);
    expect(answers.filter((one) => one.status === 204)).toHaveLength(1);
    const { status } = (await alice('GET', '/active?name=news&language=en')).body;
    const [given, revoked] = ['registered registered', 'revoked revoked'].map(
      async (what) => (await ledger()).filter((one) => one.startsWith(what)).length,
    );
    expect((await given) as number).toBe(((await revoked) as number) + (status === 'given' ? 1 : 0));
  }
});

test('more at once than registrationItemsMax and registrationsWritingMax: all are registered, in turn', async () => {
  const { define, admin } = await consenting(server, clock);
  await define('news', { '1 a en': 0 });
  const lists = Math.ceil(
    (limits.registrationItemsMax * (limits.registrationsWritingMax + 1)) / limits.consentBatchMax,
  );
  const answers = await Promise.all(
    Array.from({ length: lists }, (_, i) =>
      admin(
        'POST',
        '',
        Array.from({ length: limits.consentBatchMax }, (_, n) => item('news', '1 a en', { userId: `u${i}-${n}` })),
      ),
    ),
  );
  const statuses = answers.flatMap((one) => one.body.results.map((result: { status: number }) => result.status));
  expect(count(statuses, 201)).toBe(lists * limits.consentBatchMax);
});

test('what Postgres refuses of one request does not take the others with it', async () => {
  const { define, tenant } = await consenting(server, clock);
  await define('news', { '1 a en': 0 });
  const { batchWriter } = server.services.consents;
  const requestTenant = server.services.snapshots.served(tenant) as ServedTenant;
  const caller = { kind: 'backend', tenant, clientId: 'c', scopes: new Set<string>(), issuer: 'i' } as const;
  const wanted = (userId: string) => ({
    context: { tenant, requestTenant, caller, requestId: 'r' },
    item: item('news', '1 a en') as never,
    userId,
  });
  const outcomes = await Promise.allSettled(
    ['good', 'b\0d', 'fine'].map((userId) =>
      batchWriter.register(tenant, { wanted: [wanted(userId)], deniedEntries: [], batch: false }),
    ),
  );
  expect(outcomes.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});
