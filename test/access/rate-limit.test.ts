/** Who is counted as whom, exactly: real tokens, a clock that stands still unless it is told to go on. */
import { expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { mintClientToken } from '../../server/keys/index.ts';
import { ensureLocalMember, mintPortalToken } from '../../server/members/index.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { createTestApp } from './test-app.ts';

const MAX = 5;
const server = await createTestApp(
  await createTestDatabase(),
  (app) => {
    app.get('/open/:tenant', { config: { access: { api: 'public' } } }, async () => ({}));
    app.get('/ask/:tenant', { config: { access: { api: 'management', scope: 'authz:evaluate', users: true } } }, () =>
      Promise.resolve({}),
    );
    app.get('/mail/:tenant', { config: { access: { api: 'management', scope: 'mail:send', users: false } } }, () =>
      Promise.resolve({}),
    );
    app.get('/read/:tenant', { config: { access: { api: 'config', roles: ['support'] } } }, () => Promise.resolve({}));
  },
  MAX,
);
await server.tenant('demo');
await server.tenant('other');

let addresses = 0;
const newAddress = () => `192.0.2.${++addresses}`;
const clientToken = async (clientId: string, tenant = 'demo') =>
  (await mintClientToken(server.keyed, tenant, { clientId, scopes: ['authz:evaluate'], ttlMs: 3_600_000 })).token;

async function statuses(count: number, remoteAddress: string, authorization: (n: number) => string, url = '/ask/demo') {
  const answers: number[] = [];
  for (let n = 0; n < count; n++) {
    const headers = { authorization: authorization(n) };
    answers.push((await server.app.inject({ url, remoteAddress, headers })).statusCode);
  }
  return answers;
}

const times = (count: number, status: number) => Array<number>(count).fill(status);

test('no way of writing the header gets a caller a new count', async () => {
  const token = await clientToken('spelling');
  const ways = [`Bearer ${token}`, `bearer ${token}`, `BEARER    ${token}`, `Bearer ${token}  `];
  expect(await statuses(MAX + 4, newAddress(), (n) => ways[n % 4] as string)).toEqual([
    ...times(MAX, 200),
    ...times(4, 429),
  ]);
  server.clock.advance(1000);
  expect(await statuses(1, newAddress(), () => `Bearer ${token}`)).toEqual([200]);
});

test('another token of the same client is the same caller; another client, and one of the same name elsewhere, are not', async () => {
  const [one, two] = [await clientToken('same'), await clientToken('same')];
  expect(one).not.toBe(two);
  expect(await statuses(MAX, newAddress(), () => `Bearer ${one}`)).toEqual(times(MAX, 200));
  expect(await statuses(1, newAddress(), () => `Bearer ${two}`)).toEqual([429]);
  const different = await clientToken('different');
  expect(await statuses(1, newAddress(), () => `Bearer ${different}`)).toEqual([200]);
  const elsewhere = await clientToken('same', 'other');
  expect(await statuses(1, newAddress(), () => `Bearer ${elsewhere}`, '/ask/other')).toEqual([200]);
});

test('bad tokens that all differ, a missing one and an unknown tenant are counted by address, before they are verified', async () => {
  const address = newAddress();
  const [header, claims] = (await clientToken('victim')).split('.');
  const forged = (n: number) => `Bearer ${header}.${claims}.${'A'.repeat(85)}${'ABCDEFGH'[n % 8]}`;
  expect(await statuses(MAX - 1, address, forged)).toEqual(times(MAX - 1, 401));
  expect(await statuses(1, address, () => 'Basic abc')).toEqual([401]);
  expect(await statuses(3, address, forged)).toEqual(times(3, 429));
  for (const url of ['/ask/nobody', '/open/demo', '/read/demo', '/no/such/route']) {
    expect(await statuses(1, address, forged, url), url).toEqual([429]);
  }
  expect(await statuses(1, newAddress(), forged)).toEqual([401]);
});

test('a caller whose token was verified goes on from an address whose count is used up', async () => {
  const address = newAddress();
  const token = await clientToken('busy');
  expect(await statuses(1, address, () => `Bearer ${token}`)).toEqual([200]);
  expect(await statuses(MAX, address, (n) => `Bearer bad${n}`)).toEqual([...times(MAX - 1, 401), 429]);
  expect(await statuses(1, address, () => `Bearer ${token}`)).toEqual([200]);
});

test('what a caller may not do is counted too', async () => {
  const token = await clientToken('forbidden');
  expect(await statuses(MAX + 1, newAddress(), () => `Bearer ${token}`, '/mail/demo')).toEqual([
    ...times(MAX, 403),
    429,
  ]);
});

test('members, who are looked up at each request, use up no address that they share', async () => {
  const address = newAddress();
  const tokenOf = async (role: 'support' | 'security-admin') =>
    (await mintPortalToken(server.keyed, 'demo', await ensureLocalMember(server.keyed, 'demo', role), 'cli')).token;
  const [support, admin] = [await tokenOf('support'), await tokenOf('security-admin')];
  expect(await statuses(MAX + 1, address, () => `Bearer ${support}`, '/read/demo')).toEqual([...times(MAX, 200), 429]);
  expect(await statuses(MAX, address, () => `Bearer ${admin}`, '/read/demo')).toEqual(times(MAX, 403));
  expect(await statuses(1, address, () => 'Bearer bad', '/read/demo')).toEqual([401]);
});

test('an IPv6 host is its /64, however many addresses it takes', async () => {
  for (let n = 0; n < MAX; n++) {
    expect(await statuses(1, `2001:db8:0:1::${n + 1}`, () => 'Bearer bad')).toEqual([401]);
  }
  expect(await statuses(1, '2001:db8:0:1:ffff::1', () => 'Bearer bad')).toEqual([429]);
  expect(await statuses(1, '2001:db8:0:2::1', () => 'Bearer bad')).toEqual([401]);
  expect(await statuses(1, '::ffff:198.51.100.1', () => 'Bearer bad')).toEqual([401]);
  expect(await statuses(MAX, '198.51.100.1', () => 'Bearer bad')).toEqual([...times(MAX - 1, 401), 429]);
});

test('who is refused is told its limit and when to come again, as a caller and as an address; nobody else is', async () => {
  const token = await clientToken('headers');
  const remoteAddress = newAddress();
  const told = async (authorization: string) => {
    const { headers } = await server.app.inject({ url: '/ask/demo', remoteAddress, headers: { authorization } });
    return Object.fromEntries(Object.entries(headers).filter(([name]) => /^(ratelimit|retry-after)/.test(name)));
  };
  const refusal = { 'ratelimit-policy': '"caller";q=5;w=1', ratelimit: '"caller";r=0;t=1', 'retry-after': '1' };
  for (let n = 0; n < MAX; n++) expect(await told(`Bearer ${token}`)).toEqual({});
  expect(await told(`Bearer ${token}`)).toEqual(refusal);
  for (let n = 0; n < MAX - 1; n++) expect(await told('Bearer bad')).toEqual({});
  expect(await told('Bearer bad')).toEqual(refusal);
});

test("what asks for no token and takes the database's time is counted for more", async () => {
  const generous = await createTestApp(await createTestDatabase(), () => {}, 1000);
  const post = async (remoteAddress: string) => {
    const payload = { token: `nobody.${'a'.repeat(43)}` };
    return (await generous.app.inject({ method: 'POST', url: '/portal/invitations/redeem', remoteAddress, payload }))
      .statusCode;
  };
  const address = newAddress();
  const answers: number[] = [];
  for (let n = 0; n < 40; n++) answers.push(await post(address));
  expect(answers.filter((status) => status === 404).length).toBeGreaterThanOrEqual(limits.scarcePerSecondMax);
  expect(answers.filter((status) => status === 404).length).toBeLessThanOrEqual(limits.scarcePerSecondMax + 1);
  expect(answers.at(-1)).toBe(429);
  expect(await post(newAddress())).toBe(404);
  generous.clock.advance(1000);
  expect(await post(address)).toBe(404);
});
