/** Consents that were given elsewhere: imported once, with their dates; what is wrong is refused by its line. */
import { expect, test } from 'vitest';
import { seedConsents } from '../../server/consents/index.ts';
import { lockErasingExclusive } from '../../server/pseudonyms/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';
import { WallClock } from '../invitations/inviting.ts';
import { consenting, item } from './consenting.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
const line = (userId: string, document: string, more: object = {}) =>
  JSON.stringify({ userId, ...item('news', document), givenAt: '2025-01-01T00:00:00Z', ...more });

test('dates are kept, once; a tenant that was asked anything gets nothing', async () => {
  const { define, end, tenant, user, ledger } = await consenting(server, clock);
  await define('news', { '1 a en': 0, '2 a en': 1000 });
  await end('news', '1', { startDate: 2000, endDate: 100_000, gracePeriod: 'PT50S' });
  clock.advance(3000);
  const invitedAt = new Date(clock.now() - 500).toISOString();
  const lines = [line('alice', '1 a en', { invitedAt }), '', line('bob', '2 a en')];
  expect(await seedConsents(server.services.consents, tenant, lines)).toEqual([]);
  const active = '/active?name=news&language=en';
  expect((await user('alice')('GET', active)).body).toMatchObject({
    status: 'grace',
    gracePeriodEnds: new Date(clock.now() - 500 + 50_000).toISOString(),
  });
  const [given] = (await user('bob')('GET', '/me')).body.consents;
  expect(given).toMatchObject({ givenAt: '2025-01-01T00:00:00.000Z', status: 'given' });
  await user('bob')('DELETE', `/${given.id}`);
  expect(await seedConsents(server.services.consents, tenant, lines)).toEqual([]);
  expect((await user('bob')('GET', '/me')).body.consents).toEqual([]);
  expect((await ledger()).filter((one) => one.includes('imported'))).toHaveLength(2);
});

test('an invitation may be stated as so long before the import', async () => {
  const { define, end, tenant, user } = await consenting(server, clock);
  await define('news', { '1 a en': 0, '2 a en': 1000 });
  await end('news', '1', { startDate: 2000, endDate: 100_000, gracePeriod: 'PT50S' });
  clock.advance(40_000);
  const lines = [line('alice', '1 a en', { invitedAgo: 'PT20S' })];
  expect(await seedConsents(server.services.consents, tenant, lines)).toEqual([]);
  expect((await user('alice')('GET', '/active?name=news&language=en')).body).toMatchObject({
    status: 'grace',
    gracePeriodEnds: new Date(clock.now() + 30_000).toISOString(),
  });
});

test('a wrong line is refused by itself', async () => {
  const { define, tenant, admin } = await consenting(server, clock);
  await define('news', { '1 a en': 0 });
  const lines = [
    '{"userId":',
    line('a', '9 a en'),
    line('b', '1 a en', { givenAt: '2999-01-01T00:00:00Z' }),
    line('c', '1 a en', { givenAt: 'yesterday' }),
    line('d', '1 a en', { more: 1 }),
    line('e', '1 a en'),
    line('f', '1 a en', { invitedAgo: 'a week' }),
    line('g', '1 a en', { invitedAgo: 'P9999Y' }),
    line('h', '1 a en', { invitedAgo: 'P1D', invitedAt: '2025-01-02T00:00:00Z' }),
  ];
  const refused = await seedConsents(server.services.consents, tenant, lines);
  expect(refused.map((one) => one.line)).toEqual([1, 2, 3, 4, 5, 7, 8, 9]);
  expect(refused[2]?.detail).toContain('/givenAt');
  expect(refused[4]?.detail).toMatch(/^\/more: Unknown field; /);
  expect((await admin('GET', '')).body.consents).toMatchObject([{ userId: 'e' }]);
});

test('seeding waits for an erasure that begins, as all that writes records does', async () => {
  const { define, tenant } = await consenting(server, clock);
  await define('news', { '1 a en': 0 });
  let seeding: Promise<unknown> | undefined;
  await server.services.database.tenant(tenant, async (tx) => {
    await lockErasingExclusive(tx, tenant);
    seeding = seedConsents(server.services.consents, tenant, [line('alice', '1 a en')]);
    const waits = `select from pg_locks where locktype = 'advisory' and not granted and mode = 'ShareLock'
      and database = (select oid from pg_database where datname = current_database())`;
    let done = false;
    void seeding.then(() => {
      done = true;
    });
    await until('it to wait', async () => done || (await asAdmin(server.db.adminUrl, waits)).length > 0);
    expect(done).toBe(false);
  });
  expect(await seeding).toEqual([]);
});
