/** People log in: the authorization code flow and what belongs to it, against the whole application. */
import { decodeJwt, decodeProtectedHeader } from 'jose';
import * as oc from 'openid-client';
import { describe, expect, test } from 'vitest';
import { begin, createAccount, logIn, password, webSpec } from './logging-in.ts';
import { audience, Browser, basic, callback, createOidcServer } from './relying-party.ts';

const server = await createOidcServer({}, { basePath: '/accord' });
const { issuerOf, register, post, discover } = server;
const tenant = await server.tenant({ allowedOrigins: ['https://app.example.com'] });
const email = 'alice@example.org';
const alice = await createAccount(server, tenant, email);
const secret = (await register(tenant, 'web', webSpec)) as string;
await register(tenant, 'spa', { ...webSpec, applicationType: 'spa', tokenEndpointAuthMethod: 'none' });
const config = await discover(tenant, 'web', oc.ClientSecretBasic(secret));
const spa = await discover(tenant, 'spa', oc.None());
const refused = (promise: Promise<unknown>) =>
  promise.then(
    () => 'accepted',
    (error: { error?: string; code?: string }) => error.error ?? error.code ?? String(error),
  );

describe('the code flow', () => {
  test('logs in by password: ID token RS256, access token, userinfo, iss (RFC 9207)', async () => {
    const { grant, left, browser, page } = await logIn(server, config, {
      email,
      parameters: { scope: 'openid email profile' },
    });
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self'");
    expect(left.searchParams.get('iss')).toBe(issuerOf(tenant));
    const tokens = await grant();
    expect(decodeProtectedHeader(tokens.id_token as string).alg).toBe('RS256');
    expect(tokens.claims()).toMatchObject({ iss: issuerOf(tenant), sub: alice, aud: 'web' });
    expect(await oc.fetchUserInfo(config, tokens.access_token, alice)).toMatchObject({
      email,
      email_verified: true,
      name: 'A. User',
    });
    for (const { path, attributes } of browser.jar.cookies) {
      expect(path).toMatch(/^\/accord\/t[0-9a-f]+\/oidc/);
      expect(attributes.map((one) => one.toLowerCase())).toEqual(expect.arrayContaining(['httponly', 'samesite=lax']));
    }
  });

  test('tells how somebody logged in where that is asked for', async () => {
    const claims = JSON.stringify({ id_token: { acr: null, amr: null, auth_time: null } });
    const { grant } = await logIn(server, config, { email, parameters: { claims } });
    const told = { amr: ['pwd'], acr: 'urn:accord:password', auth_time: expect.any(Number) };
    expect((await grant()).claims()).toMatchObject(told);
  });

  test('gives a token for an audience that our own APIs take as the user’s', async () => {
    const { grant } = await logIn(server, config, { email, parameters: { audience, scope: 'openid email' } });
    const { access_token: token } = await grant();
    expect(decodeProtectedHeader(token)).toMatchObject({ typ: 'at+jwt', alg: 'ES256' });
    expect(decodeJwt(token)).toMatchObject({
      aud: audience,
      sub: alice,
      client_id: 'web',
      email,
      email_verified: true,
    });
    const mine = await fetch(`${server.origin}/${tenant}/actors/me`, { headers: { authorization: `Bearer ${token}` } });
    expect([200, 404]).toContain(mine.status);
  });

  test('single sign-on: the second application of the session does not ask, prompt=login does, prompt=none tells', async () => {
    const first = await logIn(server, config, { email });
    const again = await begin(server, spa, {}, { jar: first.browser.jar });
    expect(again.page.left?.searchParams.get('code')).toBeTruthy();
    const asked = await begin(server, config, { prompt: 'login' }, { jar: first.browser.jar });
    expect(asked.page.text).toContain('name="password"');
    const none = await begin(server, config, { prompt: 'none' });
    expect(none.page.left?.searchParams.get('error')).toBe('login_required');
  });

  test('another person logs in in the same browser: the session before ends first, by a page of ours', async () => {
    const other = 'another@example.org';
    const id = await createAccount(server, tenant, other);
    const first = await logIn(server, config, { email });
    const begun = await begin(server, config, { prompt: 'login', ui_locales: 'fr' }, { jar: first.browser.jar });
    const page = await begun.browser.submit(begun.page, '/log-in', { email: other, password });
    expect(page.status).toBe(200);
    expect(page.text).toContain('<html lang="fr">');
    expect(page.text).toMatch(/<button class="first">\p{L}/u);
    const done = await begun.browser.submit(page, '/end-session/confirm');
    expect((await begun.grant(done.left as URL)).claims()?.sub).toBe(id);
  });

  test('POST to the authorization endpoint is answered by a GET of the same (303)', async () => {
    const { url } = await begin(server, config);
    const answer = await post(tenant, '/oidc/authorize', url.search.slice(1));
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe(String(url));
  });

  test('the page says that credentials are wrong, and lets the person cancel', async () => {
    const { browser, page, checks } = await begin(server, config);
    const wrong = await browser.submit(page, '/log-in', { email, password: 'wrong wrong wrong' });
    expect(wrong.status).toBe(401);
    expect(wrong.text).toContain('name="password"');
    const cancelled = await browser.submit(wrong, '/cancel', { cancel: '1' });
    expect(cancelled.left?.searchParams.get('error')).toBe('access_denied');
    expect(cancelled.left?.searchParams.get('state')).toBe(checks.expectedState);
  });
});

describe('what is refused', () => {
  test('a public client without PKCE, and a challenge without a method (ferriskey#1102)', async () => {
    const without = await begin(server, spa, {}, { pkce: false });
    expect(without.page.left?.searchParams.get('error')).toBe('invalid_request');
    const plain = await begin(server, spa, { code_challenge: 'a'.repeat(43) }, { pkce: false });
    expect(plain.page.left?.searchParams.get('error')).toBe('invalid_request');
    const method = await begin(
      server,
      spa,
      { code_challenge: 'a'.repeat(43), code_challenge_method: 'plain' },
      { pkce: false },
    );
    expect(method.page.left?.searchParams.get('error')).toBe('invalid_request');
  });

  test('KC#26808: a verifier without a challenge', async () => {
    const { left } = await logIn(server, config, { email, pkce: false });
    const code = left.searchParams.get('code') as string;
    const body = { grant_type: 'authorization_code', code, redirect_uri: callback };
    const exchange = (more: Record<string, string>) =>
      post(tenant, '/oidc/token', { ...body, ...more }, basic('web', secret));
    expect((await exchange({ code_verifier: 'v'.repeat(43) })).body.error).toBe('invalid_grant');
  });

  test.each([
    ['another path', `${callback}/x`],
    ['user information', 'http://127.0.0.1:9@evil.test/cb'],
    ['dot segments', 'http://127.0.0.1:9/x/../cb'],
    ['another case', 'http://127.0.0.1:9/CB'],
    ['a query', `${callback}?x=1`],
    ['javascript:', 'javascript:alert(1)//http://127.0.0.1:9/cb'],
    ['IPv6', 'http://[::1]:9/cb'],
    ['a fragment', `${callback}#x`],
  ])('a redirect URI with %s: a page, and no redirect', async (_what, uri) => {
    const { page } = await begin(server, config, { redirect_uri: uri });
    expect(page.left).toBeUndefined();
    expect(page.status).toBe(400);
    expect(page.text).toContain('<h1>');
    expect(page.text).not.toContain(uri);
  });

  test('django-oidc-provider#410: a code is used once, also by eight at once, and its tokens end', async () => {
    const { left, checks } = await logIn(server, config, { email, parameters: { scope: 'openid' } });
    const body = {
      ...{ grant_type: 'authorization_code', redirect_uri: callback },
      code: left.searchParams.get('code') as string,
      code_verifier: checks.pkceCodeVerifier as string,
    };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => post(tenant, '/oidc/token', body, basic('web', secret))),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect(answers.filter(({ body: { error } }) => error === 'invalid_grant')).toHaveLength(7);
    const { refresh_token: refresh = 'none' } = (won[0]?.body ?? {}) as { refresh_token?: string };
    expect(await refused(oc.refreshTokenGrant(config, refresh))).toBe('invalid_grant');
  });

  test('mix-up: a code of one tenant or client at another', async () => {
    const { left, checks } = await logIn(server, config, { email });
    const code = left.searchParams.get('code') as string;
    const body = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: callback,
      code_verifier: checks.pkceCodeVerifier as string,
    };
    expect((await post(tenant, '/oidc/token', { ...body, client_id: 'spa' })).body.error).toBe('invalid_grant');
    const other = await server.tenant();
    const otherSecret = await register(other, 'web', webSpec);
    expect((await post(other, '/oidc/token', body, basic('web', otherSecret))).body.error).toBe('invalid_grant');
  });
});

describe('forms', () => {
  test('log-in CSRF: a form that we did not show to this browser is refused', async () => {
    const { page, browser } = await begin(server, config);
    const action = /action="([^"]*\/log-in)"/.exec(page.text)?.[1] as string;
    const send = (headers: Record<string, string>, body: Record<string, string>) =>
      fetch(server.strip(new URL(action, page.url)), {
        method: 'POST',
        redirect: 'manual',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: new URLSearchParams({ email, password, ...body }),
      });
    const csrf = /name="csrf" value="([^"]*)"/.exec(page.text)?.[1] as string;
    const cookie = browser.jar.header(page.url.pathname);
    expect((await send({ cookie }, {})).status).toBe(403);
    expect((await send({ cookie, 'sec-fetch-site': 'cross-site' }, { csrf })).status).toBe(403);
    expect((await send({}, { csrf })).status).toBe(400);
  });

  test('session fixation: the session that was there before the log-in is not the one after it', async () => {
    const begun = await begin(server, config);
    const before = begun.browser.jar.cookies.find(({ name }) => name === 'accord_session')?.value;
    await begun.browser.submit(begun.page, '/log-in', { email, password });
    const after = begun.browser.jar.cookies.find(({ name }) => name === 'accord_session')?.value;
    expect(after).toBeDefined();
    expect(after).not.toBe(before);
  });

  test('op#299: the back button after the log-in leads to a page that says what to do', async () => {
    const begun = await begin(server, config);
    await begun.browser.submit(begun.page, '/log-in', { email, password });
    const back = await begun.browser.open(begun.page.url);
    expect(back.status).toBe(400);
    expect(back.text).toContain('<h1>');
  });

  test('KC CVE-2026-7571: what a form says of the client counts for nothing', async () => {
    const { browser, page } = await begin(server, config);
    const forged = { client_id: 'spa', redirect_uri: 'https://evil.test/cb', scope: 'openid offline_access' };
    const done = await browser.submit(page, '/log-in', { email, password, ...forged });
    expect(done.left?.origin).toBe(new URL(callback).origin);
    expect(done.left?.searchParams.get('code')).toBeTruthy();
  });

  test('kanidm#3354: no answer to a form is a redirect to another site', async () => {
    const { browser, page } = await begin(server, config);
    const action = new URL(/action="([^"]*\/log-in)"/.exec(page.text)?.[1] as string, page.url);
    const csrf = /name="csrf" value="([^"]*)"/.exec(page.text)?.[1] as string;
    const response = await fetch(server.strip(action), {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: browser.jar.header(action.pathname), 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ csrf, email, password }),
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('refresh')).toContain('/oidc/authorize/');
  });

  test('op#1145: tabs that authorize at once share one session, and the code of each is good', async () => {
    const first = await logIn(server, config, { email });
    const ids = ['tab-1', 'tab-2', 'tab-3', 'tab-4'];
    for (const id of ids)
      await register(tenant, id, { ...webSpec, applicationType: 'spa', tokenEndpointAuthMethod: 'none' });
    const configs = await Promise.all(ids.map((id) => discover(tenant, id, oc.None())));
    const tabs = await Promise.all(configs.map((one) => begin(server, one, {}, { jar: first.browser.jar })));
    for (const { page } of tabs) expect(page.left?.searchParams.get('code')).toBeTruthy();
    const sids = await Promise.all(tabs.map(async (tab) => (await tab.grant()).claims()?.sub));
    expect(new Set(sids)).toEqual(new Set([alice]));
  });

  test("one tenant's session is none at another (op#95)", async () => {
    const other = await server.tenant();
    const otherSecret = await register(other, 'web', webSpec);
    const at = await discover(other, 'web', oc.ClientSecretBasic(otherSecret as string));
    const { browser } = await logIn(server, config, { email });
    const moved = browser.jar.clone();
    for (const cookie of moved.cookies) cookie.path = cookie.path.replace(tenant, other);
    const { page } = await begin(server, at, {}, { jar: moved });
    expect(page.text).toContain('name="password"');
  });
});

describe('CORS', () => {
  const page = 'https://app.example.com';
  const grant = { grant_type: 'authorization_code' };
  const corsOf = ({ headers }: { headers: Headers }) =>
    Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));
  const preflight = (path: string, origin: string, method = 'POST') =>
    fetch(`${server.origin}/${tenant}/oidc${path}`, {
      method: 'OPTIONS',
      headers: {
        ...{ origin, 'access-control-request-method': method },
        'access-control-request-headers': 'authorization,dpop',
      },
    });

  test.each([
    ['/token', 'POST'],
    ['/par', 'POST'],
    ['/userinfo', 'GET'],
    ['/revocation', 'POST'],
    ['/introspection', 'POST'],
    ['/device/authorize', 'POST'],
  ])('a preflight of %s allows the pages of the tenant a token and a proof', async (path, method) => {
    const answer = await preflight(path, page, method);
    expect(answer.status).toBe(204);
    const cors = corsOf(answer);
    expect(cors).toMatchObject({ 'access-control-allow-origin': page });
    expect(cors['access-control-allow-methods']?.split(', ')).toContain(method);
    expect(cors['access-control-allow-headers']?.split(', ')).toEqual(
      expect.arrayContaining(['Authorization', 'Content-Type', 'DPoP']),
    );
    expect(cors).not.toHaveProperty('access-control-allow-credentials');
    for (const other of ['https://evil.test', 'null']) expect(corsOf(await preflight(path, other, method))).toEqual({});
  });

  test.each([
    ['an error', () => basic('web', secret)],
    ['a refused client', () => basic('web', 'wrong')],
    ['an unknown client', () => basic('nobody', 'x')],
    ['no client', () => ({})],
  ])(
    '%s is answered for the pages of the tenant, which read the nonce of proofs; nobody else',
    async (_what, headers) => {
      const cors = corsOf(await post(tenant, '/oidc/token', grant, { origin: page, ...headers() }));
      expect(cors).toMatchObject({ 'access-control-allow-origin': page });
      expect(cors['access-control-expose-headers']?.split(', ')).toEqual(
        expect.arrayContaining(['DPoP-Nonce', 'WWW-Authenticate']),
      );
      expect(cors).not.toHaveProperty('access-control-allow-credentials');
      for (const origin of ['https://evil.test', 'null', undefined]) {
        const other = await post(tenant, '/oidc/token', grant, { ...(origin ? { origin } : {}), ...headers() });
        expect([origin, other.status >= 400, corsOf(other)]).toEqual([origin, true, {}]);
      }
    },
  );

  test('claims of a user are not for another page, also when the token is refused', async () => {
    for (const origin of ['https://evil.test', 'null', page]) {
      const answer = await fetch(`${server.origin}/${tenant}/oidc/userinfo`, {
        headers: { origin, authorization: 'Bearer x' },
      });
      expect([origin, answer.status]).toEqual([origin, 401]);
      expect(corsOf(answer)['access-control-allow-origin']).toBe(origin === page ? page : undefined);
    }
  });

  test('metadata and keys are for every page', async () => {
    for (const path of ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server', '/jwks']) {
      const answer = await fetch(`${server.origin}/${tenant}/oidc${path}`, { headers: { origin: 'null' } });
      expect([path, answer.status, corsOf(answer)['access-control-allow-origin']]).toEqual([path, 200, '*']);
    }
  });
});

test('a browser that never was here gets a page for a log-in that is over', async () => {
  const { page } = await begin(server, config);
  const stranger = await new Browser(server).open(page.url);
  expect(stranger.status).toBe(400);
});
