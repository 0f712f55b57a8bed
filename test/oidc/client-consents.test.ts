/** What a person allowed an application of others lasts, and covers what was allowed and nothing else. */
import { decodeJwt } from 'jose';
import * as oc from 'openid-client';
import { expect, test } from 'vitest';
import { deleteClient } from '../../server/clients/index.ts';
import { apiOwner } from '../../server/core/ownership.ts';
import { actingScope } from '../../server/oidc/audience.ts';
import { listGrantedClients, revokeClient } from '../../server/oidc/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { begin, createAccount, logIn, password, webSpec } from './logging-in.ts';
import { audience, createOidcServer, type Visited } from './relying-party.ts';

const server = await createOidcServer();
const { services } = server;
const second = 'https://second.test';
const tenant = await server.tenant({ audiences: [audience, second] });

async function clientOf(clientId: string) {
  const spec = {
    ...webSpec,
    firstParty: false,
    scopes: [...(webSpec.scopes ?? []), 'relationships'],
    audiences: [audience, second],
  };
  const secret = (await server.register(tenant, clientId, spec as typeof webSpec)) as string;
  return server.discover(tenant, clientId, oc.ClientSecretBasic(secret));
}

const [config, other] = [await clientOf('web'), await clientOf('other')];
let count = 0;
const someone = async () => {
  const email = `consenting${++count}@example.org`;
  return { email, id: await createAccount(server, tenant, email) };
};

const asks = (page: Visited) => page.left === undefined && page.text.includes('value="allow"');
/** Logs in, in a new browser. */
const start = async (email: string, of = config, parameters: Record<string, string> = {}) => {
  const begun = await begin(server, of, parameters);
  return { ...begun, page: await begun.browser.submit(begun.page, '/log-in', { email, password }) };
};
const allow = ({ browser, page }: Awaited<ReturnType<typeof start>>) =>
  browser.submit(page, '/consent', { decision: 'allow' });

test('asked once: another browser, and another session after a log-out, are not asked again', async () => {
  const { email } = await someone();
  const first = await start(email, config, { scope: 'openid email' });
  expect(asks(first.page)).toBe(true);
  const done = await allow(first);
  const tokens = await first.grant(done.left as URL);
  const again = await start(email, config, { scope: 'openid email' });
  expect((await again.grant(again.page.left as URL)).scope).toBe('openid email');
  // Log-out ends the grant of the session, and not what the person allowed.
  const url = oc.buildEndSessionUrl(config, { id_token_hint: tokens.id_token as string });
  await first.browser.submit(await first.browser.open(url), '/end-session/confirm', { logout: 'yes' });
  const back = await begin(server, config, { scope: 'openid email' }, { jar: first.browser.jar });
  expect(back.page.text).toContain('name="password"');
  expect((await back.browser.submit(back.page, '/log-in', { email, password })).left).toBeDefined();
});

test('less than what was allowed is not asked for, and is all that the token has', async () => {
  const { email } = await someone();
  await allow(await start(email, config, { scope: 'openid email profile' }));
  const less = await start(email, config, { scope: 'openid' });
  expect((await less.grant(less.page.left as URL)).scope).toBe('openid');
});

test('what is new is asked for, and only that; refused, the old stays', async () => {
  const { email } = await someone();
  await allow(await start(email, config, { scope: 'openid' }));
  const more = await start(email, config, { scope: 'openid email' });
  expect([asks(more.page), more.page.text.includes('See your email address')]).toEqual([true, true]);
  expect(more.page.text).not.toContain('Know who you are');
  const refused = await more.browser.submit(more.page, '/consent', { decision: 'deny' });
  expect(refused.left?.searchParams.get('error')).toBe('access_denied');
  expect((await start(email, config, { scope: 'openid' })).page.left).toBeDefined();
  expect(asks((await start(email, config, { scope: 'openid email' })).page)).toBe(true);
});

test('scopes of an audience are kept apart from those of the user', async () => {
  const { email } = await someone();
  const parameters = { scope: 'openid relationships', resource: audience };
  await allow(await start(email, config, parameters));
  expect((await start(email, config, parameters)).page.left).toBeDefined();
  expect(asks((await start(email, config, { ...parameters, resource: second })).page)).toBe(true);
});

test('a token for the APIs of the tenant, which acts for the person, is asked for, and shown', async () => {
  const { email, id } = await someone();
  const acts = 'Act for you';
  const plain = await start(email);
  expect([asks(plain.page), plain.page.text.includes(acts)]).toEqual([true, false]);
  await allow(plain);
  const more = await start(email, config, { audience });
  expect([asks(more.page), more.page.text.includes(acts)]).toEqual([true, true]);
  expect(more.page.text).not.toContain('Know who you are');
  const quiet = await begin(server, config, { audience, prompt: 'none' }, { jar: plain.browser.jar });
  expect(quiet.page.left?.searchParams.get('error')).toBe('consent_required');
  const { access_token: token } = await more.grant((await allow(more)).left as URL);
  expect(decodeJwt(token)).toMatchObject({ aud: audience, sub: id });
  expect(decodeJwt(token).scope ?? '').toBe('');
  const again = await start(email, config, { audience });
  expect((await again.grant(again.page.left as URL)).access_token).toContain('.');
  expect(asks((await start(email, config, { audience: second })).page)).toBe(true);
  const whole = await start(email, config, { audience, prompt: 'consent' });
  expect([asks(whole.page), whole.page.text.includes(acts)]).toEqual([true, true]);
  const [granted] = await listGrantedClients(services.oidc, tenant, id);
  expect(granted?.scopes).toEqual(['openid', actingScope]);
});

test('claims are shown as the scopes that have them, on the page that asks and to the person later', async () => {
  const { email, id } = await someone();
  const sees = ['See your email address', 'See your name'];
  const shown = (page: Visited) => sees.map((text) => page.text.includes(text));
  const claims = JSON.stringify({ userinfo: { email: null, name: null, sub: null }, id_token: { email: null } });
  const first = await start(email, config, { scope: 'openid', claims });
  expect(shown(first.page)).toEqual([true, true]);
  await allow(first);
  const again = await start(email, config, { scope: 'openid', claims, prompt: 'consent' });
  expect(shown(again.page)).toEqual([true, true]);
  const [granted] = await listGrantedClients(services.oidc, tenant, id);
  expect(granted?.scopes).toEqual(['openid', 'email', 'profile']);
});

test('claims that were not allowed are asked for', async () => {
  const { email } = await someone();
  await allow(await start(email, config, { scope: 'openid' }));
  const claims = JSON.stringify({ id_token: { email: null } });
  const more = await start(email, config, { scope: 'openid', claims });
  expect(asks(more.page)).toBe(true);
  await allow(more);
  expect((await start(email, config, { scope: 'openid', claims })).page.left).toBeDefined();
});

test('prompt=consent asks in any case, for all of it', async () => {
  const { email } = await someone();
  await allow(await start(email, config, { scope: 'openid email' }));
  const again = await start(email, config, { scope: 'openid email', prompt: 'consent' });
  expect([asks(again.page), again.page.text.includes('See your email address')]).toEqual([true, true]);
  expect((await allow(again)).left).toBeDefined();
});

test('prompt=none is answered without a page once it is allowed, and with consent_required before', async () => {
  const { email } = await someone();
  const first = await start(email);
  const none = async () => {
    const { page } = await begin(server, config, { prompt: 'none' }, { jar: first.browser.jar });
    return page.left?.searchParams.get('error') ?? 'code';
  };
  // The log-in is under way: the session has none of the application yet.
  expect(await none()).toMatch(/^(login|consent)_required$/);
  await allow(first);
  expect(await none()).toBe('code');
});

test('is of one person and one application', async () => {
  const [one, another] = [await someone(), await someone()];
  await allow(await start(one.email));
  expect(asks((await start(another.email)).page)).toBe(true);
  expect(asks((await start(one.email, other)).page)).toBe(true);
});

const ending = (account: string) => ({
  ...{ tenant: services.snapshots.get(tenant) as never, account, name: `user/${account}` },
  author: { tenant, by: { actor: `user:user:${account}` } },
});

test('is listed, and taken back with all tokens of the application and no others', async () => {
  const { email, id } = await someone();
  const parameters = { scope: 'openid email offline_access', prompt: 'consent', resource: audience };
  const [one, two] = [await start(email, config, parameters), await start(email, other, parameters)];
  const tokens = await one.grant((await allow(one)).left as URL, { resource: audience });
  const kept = await two.grant((await allow(two)).left as URL, { resource: audience });
  const elsewhere = await start(email, config, { scope: 'openid' });
  const code = elsewhere.page.left as URL; // of another browser, not exchanged yet
  const listed = await listGrantedClients(services.oidc, tenant, id);
  expect(listed.map(({ clientId, scopes }) => [clientId, scopes.includes('email')])).toEqual([
    ['other', true],
    ['web', true],
  ]);
  const read = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    return (await server.app.inject({ url: `/${tenant}/consents/me`, headers })).statusCode;
  };
  expect([await read(tokens.access_token), await read(kept.access_token)]).toEqual([200, 200]);
  expect(await revokeClient(services.oidc, ending(id), 'web')).toBe(true);
  expect([await read(tokens.access_token), await read(kept.access_token)]).toEqual([401, 200]);
  await expect(oc.refreshTokenGrant(config, tokens.refresh_token as string)).rejects.toThrow();
  await expect(elsewhere.grant(code)).rejects.toThrow();
  expect((await oc.refreshTokenGrant(other, kept.refresh_token as string)).access_token).toBeTruthy();
  expect((await listGrantedClients(services.oidc, tenant, id)).map(({ clientId }) => clientId)).toEqual(['other']);
  const back = await begin(server, config, { scope: 'openid' }, { jar: one.browser.jar });
  expect(asks(back.page)).toBe(true);
  expect(await revokeClient(services.oidc, ending(id), 'web')).toBe(false);
});

test('taken back while an application is being let in, nothing of it stays', async () => {
  const { email, id } = await someone();
  await allow(await start(email));
  const begun = await begin(server, config);
  const [done] = await Promise.all([
    begun.browser.submit(begun.page, '/log-in', { email, password }),
    revokeClient(services.oidc, ending(id), 'web'),
  ]);
  // Whoever was first: the person is asked, or has a code that is worth nothing.
  if (done.left === undefined) expect(asks(done)).toBe(true);
  else await expect(begun.grant(done.left)).rejects.toThrow();
});

test('goes with the application, also when another is registered with its id', async () => {
  const { email } = await someone();
  const gone = await clientOf('gone');
  await allow(await start(email, gone));
  const writer = { owner: apiOwner, actor: 'member:test' };
  await deleteClient(services.clients, writer, tenant, 'gone');
  await services.snapshots.refresh(tenant);
  expect(asks((await start(email, await clientOf('gone'))).page)).toBe(true);
});

test('a first-party application is not among what the person allowed', async () => {
  const { email } = await someone();
  const secret = (await server.register(tenant, 'own', webSpec)) as string;
  const own = await server.discover(tenant, 'own', oc.ClientSecretBasic(secret));
  await logIn(server, own, { email });
  expect(await asAdmin(server.db.adminUrl, "select * from accord.client_consent where client_id = 'own'")).toEqual([]);
});
