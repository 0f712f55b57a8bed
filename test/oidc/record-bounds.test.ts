/** How much one person can make the authorization server keep, however often it logs in, lets applications in and refreshes. */
import { errors } from 'oidc-provider';
import { expect, test } from 'vitest';
import { setAccountEnabled, signUp } from '../../server/accounts/index.ts';
import { systemClock } from '../../server/core/clock.ts';
import { limits } from '../../server/core/limits.ts';
import { Records } from '../../server/oidc/records.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';

const server = await createTestServer();
const { db, services } = server;
const tenant = await server.tenant();
const { encrypter } = services.oidc as unknown as { encrypter: ConstructorParameters<typeof Records>[0]['encrypter'] };
let request = {};
let clientSince = 1000;
let loggedIn: { id: string; epoch: number } | undefined;
const records = new Records(
  { database: db.database, encrypter, clock: systemClock },
  {
    ...{ tenant, errors, client: () => undefined, request: () => request, loggedIn: () => loggedIn },
    clientCreatedAtMs: () => clientSince,
  },
);
const accountOf = async (email: string) => {
  const made = await signUp(services.accounts, tenant, {
    email,
    password: 'correct horse battery',
    invitedEmail: email,
  });
  if (made.status !== 'created') throw new Error(made.status);
  return made.account.id;
};
const count = async (model: string, where = 'true') =>
  (
    await asAdmin<{ n: number }>(
      db.adminUrl,
      `select count(*)::int n from accord.oidc_record where tenant = '${tenant}' and model = '${model}' and ${where}`,
    )
  )[0]?.n;
const inTurn = async (times: number, work: (n: number) => Promise<unknown>, from = 0) => {
  for (let n = from; n < from + times; n++) await work(n);
};

test('sessionsPerAccountMax: with one more the oldest ends, and those of others stay', async () => {
  const sessions = records.adapter('Session');
  const ids = { alice: await accountOf('alice@example.org'), bob: await accountOf('bob@example.org') };
  const put = (n: number, name: 'alice' | 'bob' = 'alice') => {
    loggedIn = { id: ids[name], epoch: 1 };
    const payload = { uid: `${name}-uid-${n}`, accountId: ids[name], loginTs: n };
    return sessions.upsert(`${name}-${n}`, payload as never, 1000 + n);
  };
  await put(0, 'bob');
  await inTurn(limits.sessionsPerAccountMax, put);
  expect(await sessions.find('alice-0')).toBeDefined();
  await put(limits.sessionsPerAccountMax);
  expect(await sessions.find('alice-0')).toBeUndefined();
  expect(await sessions.find('alice-1')).toBeDefined();
  expect(await sessions.find('bob-0')).toBeDefined();
  // Used again, a session is not another one.
  await put(1);
  expect(await count('Session')).toBe(limits.sessionsPerAccountMax + 1);
});

test('a session that ended with all of its account is not written again by a request that was under way', async () => {
  const sessions = records.adapter('Session');
  const id = await accountOf('dave@example.org');
  const put = (uid: string) => sessions.upsert(`dave-${uid}`, { uid, accountId: id, loginTs: 1 } as never, 1000);
  loggedIn = { id, epoch: 1 };
  await put('first');
  loggedIn = undefined;
  await put('first');
  await expect(put('never began')).rejects.toMatchObject({ error_description: 'the session has ended' });
  for (const enabled of [false, true])
    await setAccountEnabled(services.accounts, tenant, { id, enabled }, { actor: 'member:test' });
  await expect(put('first')).rejects.toMatchObject({ error_description: 'the session has ended' });
  // A log-in of before that is only now resumed.
  loggedIn = { id, epoch: 1 };
  await expect(put('second')).rejects.toMatchObject({ error_description: 'the session has ended' });
  expect([await sessions.find('dave-first'), await sessions.find('dave-second')]).toEqual([undefined, undefined]);
  loggedIn = { id, epoch: 3 };
  await put('third');
  expect(await sessions.find('dave-third')).toBeDefined();
});

test('a session that is being written when all of its account end ends, too', async () => {
  const sessions = records.adapter('Session');
  const id = await accountOf('erin@example.org');
  const put = (n: number) =>
    sessions.upsert(`erin-${n}`, { uid: 'erin-uid', accountId: id, loginTs: 1 } as never, 1000);
  loggedIn = { id, epoch: 1 };
  await put(0);
  loggedIn = undefined;
  for (let round = 0; round < 5; round++) {
    let isOver = false;
    // A copy of the cookie asks again and again, with the same id and with new ones of the same log-in.
    const asking = Array.from({ length: 4 }, async (_, at) => {
      for (let n = 0; !isOver && n < 5000; n++) await put(at < 2 ? 0 : n).catch(() => {});
    });
    for (const enabled of [false, true])
      await setAccountEnabled(services.accounts, tenant, { id, enabled }, { actor: 'member:test' });
    isOver = true;
    await Promise.all(asking);
    const left = await asAdmin<{ n: number }>(
      db.adminUrl,
      `select count(*)::int as n from accord.oidc_record where tenant = '${tenant}' and model = 'Session' and uid = sha256('erin-uid')`,
    );
    expect([round, left[0]?.n]).toEqual([round, 0]);
    loggedIn = { id, epoch: 1 + 2 * (round + 1) };
    await put(0);
    loggedIn = undefined;
  }
});

test('grantsPerAccountAndClientMax: with one more the oldest goes with its tokens, and those of others stay', async () => {
  const [grants, tokens] = [records.adapter('Grant'), records.adapter('RefreshToken')];
  const put = (n: number, clientId = 'web') =>
    grants.upsert(`${clientId}-${n}`, { accountId: 'alice', clientId } as never, 1000 + n);
  await put(0, 'other');
  await inTurn(limits.grantsPerAccountAndClientMax, put);
  await tokens.upsert('first', { accountId: 'alice', clientId: 'web', grantId: 'web-0' } as never, 1000);
  await tokens.upsert('second', { accountId: 'alice', clientId: 'web', grantId: 'web-1' } as never, 1000);
  await put(limits.grantsPerAccountAndClientMax);
  expect([await grants.find('web-0'), await tokens.find('first')]).toEqual([undefined, undefined]);
  expect(await tokens.find('second')).toBeDefined();
  expect(await count('Grant')).toBe(limits.grantsPerAccountAndClientMax + 1);
  expect(await grants.find('other-0')).toBeDefined();
});

test('refreshTokensKeptMax: so many consumed ones of a grant are known, and then the oldest go', async () => {
  const tokens = records.adapter('RefreshToken');
  const of = (rotations: number) => ({ accountId: 'carol', clientId: 'web', grantId: 'family', rotations }) as never;
  await tokens.upsert('token-0', of(0), 1000);
  const last = 2 * limits.refreshTokensKeptMax;
  const rotate = async (n: number) => {
    request = {};
    await tokens.find(`token-${n - 1}`);
    await tokens.consume(`token-${n - 1}`);
    await tokens.upsert(`token-${n}`, of(n), 1000);
  };
  await inTurn(last - 1, rotate, 1);
  expect(await count('RefreshToken', 'consumed_at is not null')).toBe(last - 1);
  await rotate(last);
  expect(await count('RefreshToken', 'consumed_at is not null')).toBe(limits.refreshTokensKeptMax);
  expect(await tokens.find(`token-${last}`)).toMatchObject({ rotations: last });
  // The one before is known as consumed: used again, it ends the family.
  expect(await tokens.find(`token-${last - 1}`)).toMatchObject({ consumed: expect.any(Number) });
  expect(await tokens.find('token-0')).toBeUndefined();
});

test('what was issued to a client is not that of another one that got its id in the same second', async () => {
  const iat = Math.floor(Date.now() / 1000);
  clientSince = iat * 1000 + 100;
  const models = ['AuthorizationCode', 'RefreshToken', 'Grant', 'DeviceCode'];
  const payloadOf = (model: string, id: string) => {
    const userCode = model === 'DeviceCode' ? { userCode: `code-${id}` } : {};
    return { clientId: 'again', accountId: 'a', iat, ...userCode };
  };
  const put = (model: string, id: string) => records.adapter(model).upsert(id, payloadOf(model, id) as never, 60);
  const found = async (id: string) => {
    const all = await Promise.all(models.map((model) => records.adapter(model).find(id)));
    return [...all, await records.adapter('DeviceCode').findByUserCode(`code-${id}`)].map((one) => one !== undefined);
  };
  for (const model of models) await put(model, 'before');
  expect(await found('before')).toEqual(Array(5).fill(true));
  clientSince++;
  expect(await found('before')).toEqual(Array(5).fill(false));
  for (const model of models) await put(model, 'after');
  expect(await found('after')).toEqual(Array(5).fill(true));
  clientSince = 1000;
});
