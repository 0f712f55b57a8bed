/** Applications at the page of an account: what they were allowed, and taking it back. */
import { createServer } from 'node:http';
import { decodeJwt } from 'jose';
import * as oc from 'openid-client';
import { expect, test } from 'vitest';
import { begin, createAccount, password, webSpec } from '../oidc/logging-in.ts';
import { audience, Browser, callback, createOidcServer, type Spec } from '../oidc/relying-party.ts';

const server = await createOidcServer();
const { baseUrl, register, discover } = server;
const tenant = await server.tenant();
const asking: Spec = { ...webSpec, firstParty: false };
const secrets = {
  trips: (await register(tenant, 'trips', { ...asking, displayName: 'Trip Planner' })) as string,
  other: (await register(tenant, 'other', asking)) as string,
};
const configs = {
  trips: await discover(tenant, 'trips', oc.ClientSecretBasic(secrets.trips)),
  other: await discover(tenant, 'other', oc.ClientSecretBasic(secrets.other)),
};
const parameters = { audience, scope: 'openid email offline_access', prompt: 'consent', redirect_uri: callback };
let number = 0;

/** Somebody who has allowed an application what it asks for. */
async function person() {
  const email = `person${number++}@example.org`;
  const id = await createAccount(server, tenant, email);
  const browser = new Browser(server);
  return {
    ...{ email, id, browser },
    async allow(client: keyof typeof configs) {
      const begun = await begin(server, configs[client], parameters, { jar: browser.jar });
      const asked = begun.page.text.includes('name="password"')
        ? await begun.browser.submit(begun.page, '/log-in', { email, password })
        : begun.page;
      const done = await begun.browser.submit(asked, '/consent', { decision: 'allow' });
      return begun.grant(done.left as URL);
    },
    async show() {
      const page = await browser.open(`${baseUrl}/${tenant}/account`);
      return page.text.includes('name="password"') && page.url.pathname.includes('/interaction/')
        ? browser.submit(page, '/log-in', { email, password })
        : page;
    },
  };
}
const outcome = (promise: Promise<unknown>) =>
  promise.then(
    () => 'accepted',
    (error: { error?: string; code?: string }) => error.error ?? error.code ?? String(error),
  );
const decide = async (token: string) =>
  (await fetch(`${server.origin}/${tenant}/consents/me`, { headers: { authorization: `Bearer ${token}` } })).status;

test('an application is shown with what it may, and loses it: its tokens die, and those of others live', async () => {
  const alice = await person();
  const trips = await alice.allow('trips');
  const other = await alice.allow('other');
  expect(decodeJwt(trips.access_token).sub).toBe(alice.id);
  const page = await alice.show();
  expect(page.text).toContain('Trip Planner');
  expect(page.text).toContain('See your email address');
  expect(page.text).not.toContain('accord-account');
  expect([await decide(trips.access_token), await decide(other.access_token)]).toEqual([200, 200]);
  const [, csrf = ''] = /name="csrf" value="([^"]*)"/.exec(page.text) ?? [];
  const end = `${baseUrl}/${tenant}/account/clients/end`;
  const post = (fields: Record<string, string>) =>
    fetch(end, {
      method: 'POST',
      headers: { cookie: alice.browser.jar.header(`/${tenant}/account`), 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({ csrf, ...fields }),
    });
  const asked = await post({ id: 'trips' });
  expect(await asked.text()).toContain('Remove the access of Trip Planner?');
  expect(await decide(trips.access_token)).toBe(200);
  expect((await post({ id: 'trips', confirmed: '1' })).headers.get('refresh')).toContain('notice=ended');
  expect([await decide(trips.access_token), await decide(other.access_token)]).toEqual([401, 200]);
  expect(await outcome(oc.refreshTokenGrant(configs.trips, trips.refresh_token as string))).toBe('invalid_grant');
  expect(await outcome(oc.refreshTokenGrant(configs.other, other.refresh_token as string))).toBe('accepted');
  const after = await alice.show();
  expect(after.text).not.toContain('Trip Planner');
  expect(after.text).toContain('>other<');
  expect((await post({ id: 'trips', confirmed: '1' })).status).toBe(404);
  // What it is allowed from now on is good.
  const again = async () => decide((await alice.allow('trips')).access_token);
  await expect.poll(again).toBe(200); // a token of the same second may be one of before
});

test("another person's are neither shown nor ended", async () => {
  const [alice, bob] = [await person(), await person()];
  const tokens = await bob.allow('trips');
  const page = await alice.show();
  expect(page.text).toContain('No application has access.');
  const [, csrf = ''] = /name="csrf" value="([^"]*)"/.exec(page.text) ?? [];
  const answer = await fetch(`${baseUrl}/${tenant}/account/clients/end`, {
    method: 'POST',
    headers: { cookie: alice.browser.jar.header(`/${tenant}/account`) },
    body: new URLSearchParams({ csrf, id: 'trips', confirmed: '1' }),
  });
  expect(answer.status).toBe(404);
  expect(await decide(tokens.access_token)).toBe(200);
});

test('a log-in that the person ends from elsewhere is told to the application, and its tokens without offline_access die', async () => {
  const told: string[] = [];
  const listener = createServer((request, response) => {
    request.on('data', (chunk) => told.push(String(chunk)));
    request.on('end', () => response.end());
  });
  await new Promise<void>((done) => {
    listener.listen(0, '127.0.0.1', done);
  });
  try {
    const { port } = listener.address() as { port: number };
    const backchannelLogoutUri = `http://127.0.0.1:${port}/bye`;
    const secret = (await register(tenant, 'told', { ...webSpec, backchannelLogoutUri })) as string;
    const config = await discover(tenant, 'told', oc.ClientSecretBasic(secret));
    const alice = await person();
    const elsewhere = await begin(server, config, { audience, scope: 'openid', redirect_uri: callback });
    const done = await elsewhere.browser.submit(elsewhere.page, '/log-in', { email: alice.email, password });
    const tokens = await elsewhere.grant(done.left as URL);
    const page = await alice.show();
    const [, inside = ''] = /action="[^"]*\/sessions\/end">(.*?)<\/form>/s.exec(page.text) ?? [];
    const [, id = ''] = /name="id" value="([^"]*)"/.exec(inside) ?? [];
    const ended = await alice.browser.submit(page, '/sessions/end', { id });
    expect(ended.url.search).toBe('?notice=ended');
    expect(told).toHaveLength(1);
    const claims = decodeJwt(new URLSearchParams(told[0]).get('logout_token') ?? '');
    expect(claims).toMatchObject({ sub: alice.id, aud: 'told' });
    expect(await decide(tokens.access_token)).toBe(401);
    expect(await outcome(oc.refreshTokenGrant(config, tokens.refresh_token as string))).toBe('invalid_grant');
  } finally {
    listener.closeAllConnections();
    listener.close();
  }
});
