/** What becomes of tokens: refreshing, introspection, revocation, PAR, DPoP, devices, and what ends them. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { decodeJwt } from 'jose';
import * as oc from 'openid-client';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { setAccountEnabled } from '../../server/accounts/index.ts';
import { type ClientSpec, deleteClient, putClient } from '../../server/clients/index.ts';
import { limits } from '../../server/core/limits.ts';
import { apiOwner } from '../../server/core/ownership.ts';
import type { TenantSnapshot } from '../../server/snapshot/index.ts';
import { asAdmin, waitingForLock } from '../helpers/admin.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { until } from '../helpers/wait.ts';
import { begin, createAccount, logIn, password, webSpec } from './logging-in.ts';
import { audience, Browser, basic, callback, createOidcServer, type Spec } from './relying-party.ts';

const server = await createOidcServer();
const { issuerOf, register, post, discover } = server;
const tenant = await server.tenant();
const email = 'alice@example.org';
const alice = await createAccount(server, tenant, email);
const secret = (await register(tenant, 'web', webSpec)) as string;
const config = await discover(tenant, 'web', oc.ClientSecretBasic(secret));
const back: Spec = { grantTypes: ['client_credentials'], scopes: ['authz:evaluate'] };
const apiSecret = await register(tenant, 'api', back);
const machineSecret = await register(tenant, 'machine', back);
/** What follows is of one second then, as good as always; it must be right when it is not. */
const beginningOfSecond = () => until('the beginning of a second', () => Date.now() % 1000 <= 300);
const outcome = (promise: Promise<unknown>) =>
  promise.then(
    () => 'accepted',
    (error: { error?: string; code?: string }) => error.error ?? error.code ?? String(error),
  );
const tokensOf = async (parameters: Record<string, string> = {}, as = config) =>
  (await logIn(server, as, { email, parameters })).grant();
const decide = (token: string, headers: Record<string, string> = {}, scheme = 'Bearer') =>
  fetch(`${server.origin}/authz/${tenant}`, {
    method: 'POST',
    headers: { authorization: `${scheme} ${token}`, 'content-type': 'application/json', ...headers },
    body: '{"subject":{"type":"user","id":"a"},"action":"x","resource":{"type":"car","id":"1"}}',
  });
const machineToken = async () =>
  (await post(tenant, '/oidc/token', { grant_type: 'client_credentials' }, basic('machine', machineSecret))).body
    .access_token as string;
const introspect = async (token: string, as = basic('api', apiSecret)) =>
  (await post(tenant, '/oidc/introspection', { token }, as)).body;
const revoke = (token: string, as = basic('web', secret)) => post(tenant, '/oidc/revocation', { token }, as);

describe('refresh tokens', () => {
  test('rotate, and a reused one ends its family (H#1831: also when the answer was lost; there is no grace period)', async () => {
    const first = await tokensOf();
    const second = await oc.refreshTokenGrant(config, first.refresh_token as string);
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect(await outcome(oc.refreshTokenGrant(config, first.refresh_token as string))).toBe('invalid_grant');
    expect(await outcome(oc.refreshTokenGrant(config, second.refresh_token as string))).toBe('invalid_grant');
  });

  test('of eight at once one succeeds, and its family is dead', async () => {
    const { refresh_token: token = '' } = await tokensOf();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        post(tenant, '/oidc/token', { grant_type: 'refresh_token', refresh_token: token }, basic('web', secret)),
      ),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    const next = won[0]?.body.refresh_token as string;
    expect(await outcome(oc.refreshTokenGrant(config, next))).toBe('invalid_grant');
  });

  test('of two that both find it unused one succeeds, and its family is dead', async () => {
    const { refresh_token: token = '' } = await tokensOf();
    const { adminUrl } = server.db;
    const holder = new pg.Client({ connectionString: adminUrl });
    await holder.connect();
    try {
      await holder.query('begin');
      const tokens = "select from accord.oidc_record where tenant = $1 and model = 'RefreshToken' for update";
      await holder.query(tokens, [tenant]);
      const both = [0, 1].map(() =>
        post(tenant, '/oidc/token', { grant_type: 'refresh_token', refresh_token: token }, basic('web', secret)),
      );
      await until('both to use it', async () => (await waitingForLock(adminUrl)) === 2);
      await holder.query('commit');
      const answers = await Promise.all(both);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
      const next = answers.find(({ status }) => status === 200)?.body.refresh_token as string;
      expect(await outcome(oc.refreshTokenGrant(config, next))).toBe('invalid_grant');
    } finally {
      await holder.end();
    }
  });

  test('Z CVE-2023-22492: of an account that was disabled they are refused, and its tokens too', async () => {
    const other = 'disabled@example.org';
    const id = await createAccount(server, tenant, other);
    const { grant } = await logIn(server, config, { email: other, parameters: { audience } });
    const tokens = await grant();
    await setAccountEnabled(server.services.accounts, tenant, { id, enabled: false }, { actor: 'member:test' });
    await server.services.snapshots.refresh(tenant);
    expect(await outcome(oc.refreshTokenGrant(config, tokens.refresh_token as string))).toBe('invalid_grant');
    expect((await decide(tokens.access_token)).status).toBe(401);
  });

  test('KC GHSA-895x-rfqp-jh5c: a scope that was taken away from the client is not refreshed', async () => {
    const narrowing = await register(tenant, 'narrowing', webSpec);
    const as = await discover(tenant, 'narrowing', oc.ClientSecretBasic(narrowing as string));
    const before = await tokensOf({ audience, scope: 'openid email' }, as);
    expect(decodeJwt(before.access_token).scope).toBe('email');
    await register(tenant, 'narrowing', { ...webSpec, scopes: ['openid'] }).catch(() => {});
    const after = await oc.refreshTokenGrant(as, before.refresh_token as string);
    const claims = decodeJwt(after.access_token);
    expect(claims.scope ?? '').not.toContain('email');
    expect(claims.email).toBeUndefined();
  });

  test('of a client that was deleted they are not those of a client that gets its id later', async () => {
    const as = async () =>
      discover(tenant, 'again', oc.ClientSecretBasic((await register(tenant, 'again', webSpec)) as string));
    const before = await tokensOf({ audience }, await as());
    await deleteClient(server.services.clients, { owner: apiOwner, actor: 'member:test' }, tenant, 'again');
    const config = await as();
    expect(await outcome(oc.refreshTokenGrant(config, before.refresh_token as string))).toBe('invalid_grant');
    expect((await decide(before.access_token)).status).toBe(401);
    const after = await tokensOf({ audience }, config);
    expect(await outcome(oc.refreshTokenGrant(config, after.refresh_token as string))).toBe('accepted');
  });

  test('Logto#7840: the grant behind a refresh token outlives it', async () => {
    expect(limits.grantSpareMs).toBeGreaterThan(0);
    const { refresh_token: token = '' } = await tokensOf({ scope: 'openid offline_access', prompt: 'consent' });
    expect(await outcome(oc.refreshTokenGrant(config, token))).toBe('accepted');
    const rows = await asAdmin<{ model: string; at: Date }>(
      server.db.adminUrl,
      `select model, max(expires_at) as at from accord.oidc_record where tenant = '${tenant}' and model in ('Grant', 'RefreshToken') group by 1`,
    );
    const at = Object.fromEntries(rows.map((row) => [row.model, +row.at]));
    expect(at.Grant).toBeGreaterThan(at.RefreshToken as number);
  });

  test('elsa-core#7482: a refresh token or an ID token is no access token', async () => {
    const tokens = await tokensOf({ audience });
    expect((await decide(tokens.access_token)).status).not.toBe(401);
    for (const wrong of [tokens.refresh_token as string, tokens.id_token as string])
      expect((await decide(wrong)).status).toBe(401);
    expect(await outcome(oc.fetchUserInfo(config, tokens.id_token as string, alice))).not.toBe('accepted');
  });
});

describe('introspection and revocation', () => {
  test('know access tokens that are JWTs', async () => {
    const token = await machineToken();
    expect(await introspect(token)).toMatchObject({
      ...{ active: true, client_id: 'machine', sub: 'machine', scope: 'authz:evaluate', aud: audience },
      ...{ iss: issuerOf(tenant), token_type: 'Bearer' },
    });
    expect(await introspect(`${token.slice(0, -6)}AAAAAA`)).toEqual({ active: false });
    expect((await post(tenant, '/oidc/introspection', { token })).body.error).toBe('invalid_client');
  });

  test('KC#35813, better-auth#9970: what was revoked is inactive, and refused from the next decision on', async () => {
    const token = await machineToken();
    expect((await decide(token)).status).toBe(200);
    const by = basic('machine', machineSecret);
    expect((await revoke(token, basic('api', apiSecret))).status).toBe(400);
    expect((await introspect(token)).active).toBe(true);
    expect((await revoke(token, by)).status).toBe(200);
    expect(await introspect(token)).toEqual({ active: false });
    expect((await decide(token)).status).toBe(401);
    expect((await revoke(token, by)).status).toBe(200);
    expect((await revoke('no-token', by)).status).toBe(200);
  });

  test('of refresh tokens: inactive once revoked or used', async () => {
    const { refresh_token: token = '' } = await tokensOf();
    expect((await introspect(token, basic('web', secret))).active).toBe(true);
    expect((await revoke(token)).status).toBe(200);
    expect(await introspect(token, basic('web', secret))).toEqual({ active: false });
    expect(await outcome(oc.refreshTokenGrant(config, token))).toBe('invalid_grant');
  });

  test('of a refresh token: the access tokens of its client and person are refused too (RFC 7009 section 2.1)', async () => {
    const other = (await register(tenant, 'revoking', webSpec)) as string;
    const as = await discover(tenant, 'revoking', oc.ClientSecretBasic(other));
    const first = await tokensOf({ audience }, as);
    const second = await oc.refreshTokenGrant(as, first.refresh_token as string);
    const elsewhere = await tokensOf({ audience });
    const family = [first.access_token, second.access_token];
    for (const one of family) expect((await decide(one)).status).not.toBe(401);
    expect((await revoke(second.refresh_token as string)).status).toBe(200); // by another client
    for (const one of family) expect((await decide(one)).status).not.toBe(401);
    expect((await revoke(second.refresh_token as string, basic('revoking', other))).status).toBe(200);
    for (const one of family) {
      expect((await decide(one)).status).toBe(401);
      expect(await introspect(one)).toEqual({ active: false });
    }
    expect((await decide(elsewhere.access_token)).status).not.toBe(401);
  });

  test('Z CVE-2026-27840: an opaque token that was cut short is none', async () => {
    const { access_token: token } = await tokensOf();
    expect(token).not.toContain('.');
    expect(await outcome(oc.fetchUserInfo(config, token, alice))).toBe('accepted');
    for (const cut of [token.slice(0, -1), token.slice(0, 20), `${token}x`]) {
      expect(await outcome(oc.fetchUserInfo(config, cut, alice))).not.toBe('accepted');
      expect(await introspect(cut)).toEqual({ active: false });
    }
  });
});

describe('pushed authorization requests', () => {
  test('are used once', async () => {
    const challenge = await oc.calculatePKCECodeChallenge('v'.repeat(43));
    const url = await oc.buildAuthorizationUrlWithPAR(config, {
      ...{ redirect_uri: 'http://127.0.0.1:9/cb', scope: 'openid', state: 's' },
      ...{ code_challenge: challenge, code_challenge_method: 'S256' },
    });
    expect(url.searchParams.get('request_uri')).toBeTruthy();
    const browser = new Browser(server);
    const page = await browser.open(url);
    const done = await browser.submit(page, '/log-in', { email, password });
    expect(done.left?.searchParams.get('code')).toBeTruthy();
    const again = await new Browser(server).open(url);
    const ended = again.left ?? (await new Browser(server).open(again.url)).left;
    expect(ended?.searchParams.get('code') ?? null).toBeNull();
  });

  test('are required of a client that says so', async () => {
    const pushing = await register(tenant, 'pushing', { ...webSpec, requirePushedAuthorizationRequests: true });
    const as = await discover(tenant, 'pushing', oc.ClientSecretBasic(pushing as string));
    const { page } = await begin(server, as);
    expect(page.left?.searchParams.get('error')).toBe('invalid_request');
  });
});

describe('DPoP', () => {
  const handleOf = async (as: oc.Configuration) => oc.getDPoPHandle(as, await oc.randomDPoPKeyPair('ES256'));

  test('binds tokens, which our own endpoints take with a proof and only so', async () => {
    const as = await discover(tenant, 'machine', oc.ClientSecretBasic(machineSecret as string));
    const DPoP = await handleOf(as);
    const got = await oc.clientCredentialsGrant(as, {}, { DPoP });
    expect(got.token_type).toBe('dpop');
    expect(decodeJwt(got.access_token).cnf).toEqual({ jkt: expect.any(String) });
    const url = new URL(`${server.origin}/authz/${tenant}`);
    const body = '{"subject":{"type":"user","id":"a"},"action":"x","resource":{"type":"car","id":"1"}}';
    const sent: string[] = [];
    const json = new Headers({ 'content-type': 'application/json' });
    const watching: oc.CustomFetch = (at, options) => {
      sent.push(new Headers(options.headers as never).get('dpop') as string);
      return fetch(at, options as RequestInit);
    };
    as[oc.customFetch] = watching;
    const answer = await oc.fetchProtectedResource(as, got.access_token, url, 'POST', body, json, { DPoP });
    expect(answer.status).toBe(200);
    const [proof = ''] = sent;
    const refused = async (headers: Record<string, string>, scheme = 'DPoP') => {
      const one = await decide(got.access_token, headers, scheme);
      return [one.status, one.headers.get('www-authenticate') ?? ''] as const;
    };
    expect(await refused({ dpop: proof })).toEqual([401, expect.stringContaining('used already')]);
    expect((await refused({}))[0]).toBe(401);
    expect((await refused({}))[1]).toBe(
      'DPoP error="invalid_dpop_proof", error_description="the header DPoP is missing", algs="ES256"',
    );
    expect((await refused({}, 'Bearer'))[0]).toBe(401);
    expect((await refused({ dpop: proof }, 'Bearer'))[0]).toBe(401);
    // A challenge is of the scheme that was used (RFC 9449 section 7.1), whatever was wrong with the token.
    const challenge = (why: string) => `DPoP error="invalid_token", error_description="${why}", algs="ES256"`;
    const unbound = await decide(await machineToken(), { dpop: proof }, 'DPoP');
    expect([unbound.status, unbound.headers.get('www-authenticate')]).toEqual([
      401,
      challenge('the token is not bound to a key, so the scheme is Bearer'),
    ]);
    for (const [scheme, expected] of [
      ['DPoP', /^DPoP error="invalid_token", error_description="[^"]+", algs="ES256"$/],
      ['dpop', /^DPoP /],
      ['Bearer', /^Bearer error="invalid_token"/],
    ] as const)
      for (const broken of ['nonsense', `${got.access_token.slice(0, -3)}abc`]) {
        const one = await decide(broken, { dpop: proof }, scheme);
        expect([one.status, one.headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(expected)]);
      }
    // A proof for another address of the same server.
    as[oc.customFetch] = async (_at, options) => {
      sent.push(new Headers(options.headers as never).get('dpop') as string);
      return new Response('{}');
    };
    await oc.fetchProtectedResource(as, got.access_token, new URL(`${url}/batch`), 'POST', body, json, { DPoP });
    expect(await refused({ dpop: sent.at(-1) as string })).toEqual([401, expect.stringContaining('htu is not')]);
    as[oc.customFetch] = watching;
    const stranger = await handleOf(as);
    await expect(
      oc.fetchProtectedResource(as, got.access_token, url, 'POST', body, json, { DPoP: stranger }),
    ).rejects.toThrow();
  });

  test('KC#38333: at userinfo a proof is bound to its token', async () => {
    const as = await discover(tenant, 'web', oc.ClientSecretBasic(secret));
    const DPoP = await handleOf(as);
    const { grant } = await logIn(server, as, { email });
    const tokens = await grant({}, { DPoP });
    expect(tokens.token_type).toBe('dpop');
    expect(await oc.fetchUserInfo(as, tokens.access_token, alice, { DPoP })).toMatchObject({ sub: alice });
    const bare = await fetch(`${server.origin}/${tenant}/oidc/userinfo`, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    expect(bare.status).toBe(401);
    expect(await outcome(oc.fetchUserInfo(as, tokens.access_token, alice, { DPoP: await handleOf(as) }))).not.toBe(
      'accepted',
    );
  });
});

describe('the device flow', () => {
  test('a person connects a device by its code', async () => {
    const grantTypes = ['urn:ietf:params:oauth:grant-type:device_code' as const, 'refresh_token' as const];
    await register(tenant, 'tv', {
      grantTypes,
      tokenEndpointAuthMethod: 'none',
      applicationType: 'native',
      scopes: ['openid'],
      firstParty: true,
    });
    const as = await discover(tenant, 'tv', oc.None());
    const started = await oc.initiateDeviceAuthorization(as, { scope: 'openid' });
    expect(started.verification_uri).toBe(`${issuerOf(tenant)}/device`);
    const browser = new Browser(server);
    const linked = await browser.open(started.verification_uri_complete as string);
    expect(linked.text).toContain(`value="${started.user_code}"`);
    expect([linked.text.includes('<script'), linked.headers.get('content-security-policy')]).toEqual([
      false,
      expect.not.stringContaining('script-src'),
    ]);
    const confirm = await browser.submit(linked, '/device', { user_code: started.user_code });
    expect(confirm.text).toContain('value="yes"');
    const strange = `${started.verification_uri}?user_code=${encodeURIComponent('Call <b>premium</b>')}`;
    expect((await browser.open(strange)).text).not.toContain('premium');
    let page = await browser.open(started.verification_uri);
    const wrong = await browser.submit(page, '/device', { user_code: 'BBBB-BBBB' });
    expect(wrong.text).toContain('No device is waiting with this code.');
    const back = await browser.submit(page, '/device', { user_code: started.user_code });
    expect(back.text).toContain('The page that you sent was not the latest one. Enter the code again.');
    page = await browser.submit(back, '/device', { user_code: started.user_code });
    expect(page.text).toContain(started.user_code);
    page = await browser.submit(page, '/device');
    if (page.text.includes('name="password"')) page = await browser.submit(page, '/log-in', { email, password });
    if (page.text.includes('value="allow"')) page = await browser.submit(page, '/consent', { decision: 'allow' });
    expect(page.status).toBe(200);
    const tokens = await oc.pollDeviceAuthorizationGrant(as, { ...started, interval: 1 });
    expect(tokens.claims()?.sub).toBe(alice);
  });
});

describe('logging out', () => {
  test('by the application, with a page that asks; its tokens end, and other clients are told (back channel)', async () => {
    const told: URLSearchParams[] = [];
    const receiver = createServer(async (request, response) => {
      told.push(new URLSearchParams((await request.toArray()).join('')));
      response.end();
    }).listen(0, '127.0.0.1');
    closeAtEnd(() => receiver.close());
    await once(receiver, 'listening');
    const { port } = receiver.address() as { port: number };
    const listening = await register(tenant, 'listening', {
      ...webSpec,
      backchannelLogoutUri: `http://127.0.0.1:${port}/out`,
    });
    const as = await discover(tenant, 'listening', oc.ClientSecretBasic(listening as string));
    const first = await logIn(server, as, { email, parameters: { audience } });
    const tokens = await first.grant();
    const url = oc.buildEndSessionUrl(as, {
      ...{ id_token_hint: tokens.id_token as string, state: 'z' },
      post_logout_redirect_uri: 'http://127.0.0.1:9/bye',
    });
    const page = await first.browser.open(url);
    expect(page.text).toContain('name="logout"');
    const done = await first.browser.submit(page, '/end-session/confirm', { logout: 'yes' });
    expect(String(done.left)).toBe('http://127.0.0.1:9/bye?state=z');
    expect(told).toHaveLength(1);
    const logoutToken = decodeJwt(told[0]?.get('logout_token') as string);
    expect(logoutToken).toMatchObject({ iss: issuerOf(tenant), aud: 'listening', sub: alice, sid: expect.any(String) });
    expect(await outcome(oc.refreshTokenGrant(as, tokens.refresh_token as string))).toBe('invalid_grant');
    expect((await decide(tokens.access_token)).status).toBe(401);
    const again = await begin(server, as, { prompt: 'none' }, { jar: first.browser.jar });
    expect(again.page.left?.searchParams.get('error')).toBe('login_required');
  });

  test('a token that another device refreshes at once is good, whatever second it is', async () => {
    const [here, there] = [
      await logIn(server, config, { email, parameters: { audience } }),
      await tokensOf({ audience }),
    ];
    const page = await here.browser.open(`${issuerOf(tenant)}/end-session?client_id=web`);
    await beginningOfSecond();
    await here.browser.submit(page, '/end-session/confirm', { logout: 'yes' });
    expect((await decide(there.access_token)).status).toBe(401);
    const refreshed = await oc.refreshTokenGrant(config, there.refresh_token as string);
    expect((await decide(refreshed.access_token)).status).toBe(403);
  });

  test('a client that was disabled and enabled gets a good token at once', async () => {
    await register(tenant, 'switched', back);
    await beginningOfSecond();
    const as = basic('switched', await register(tenant, 'switched', { ...back, enabled: false }));
    const held = server.services.snapshots.get(tenant) as TenantSnapshot;
    const { secrets: _, ...spec } = held.clients.get('switched') as object as ClientSpec & { secrets: unknown };
    const enabled = { ...spec, enabled: true } as ClientSpec;
    await putClient(server.services.clients, { owner: apiOwner, actor: 'member:test' }, tenant, enabled);
    await server.services.snapshots.refresh(tenant);
    const { body } = await post(tenant, '/oidc/token', { grant_type: 'client_credentials' }, as);
    expect((await decide(body.access_token as string)).status).toBe(200);
  });

  test('KC CVE-2026-4874, Logto#9234: back-channel logout goes through the guard of outgoing requests', async () => {
    const inside = await register(tenant, 'inside', {
      ...webSpec,
      backchannelLogoutUri: `https://169.254.169.254/latest`,
    });
    const as = await discover(tenant, 'inside', oc.ClientSecretBasic(inside as string));
    const { browser, grant } = await logIn(server, as, { email });
    await grant();
    const page = await browser.open(`${issuerOf(tenant)}/end-session?client_id=inside`);
    await browser.submit(page, '/end-session/confirm', { logout: 'yes' });
    const failed = server.observations.find((one) => one.kind === 'backchannel_logout_failed');
    expect(String((failed as { error?: unknown })?.error)).toContain('is not public');
  });

  test('KC#43887: a log-in under way does not survive it', async () => {
    const third = await register(tenant, 'third', { ...webSpec, firstParty: false });
    const as = await discover(tenant, 'third', oc.ClientSecretBasic(third as string));
    const first = await logIn(server, config, { email });
    const pending = await begin(server, as, {}, { jar: first.browser.jar });
    expect(pending.page.text).toContain('value="allow"');
    const page = await first.browser.open(`${issuerOf(tenant)}/end-session?client_id=web`);
    await first.browser.submit(page, '/end-session/confirm', { logout: 'yes' });
    const gone = await pending.browser.submit(pending.page, '/consent', { decision: 'allow' });
    expect(gone.left?.searchParams.get('code') ?? null).toBeNull();
  });

  test('an unregistered address is none to go back to', async () => {
    const { browser, grant } = await logIn(server, config, { email });
    const { id_token: hint = '' } = await grant();
    const url = `${issuerOf(tenant)}/end-session?id_token_hint=${hint}&post_logout_redirect_uri=https://evil.test/`;
    const page = await browser.open(url);
    expect([page.status, page.left]).toEqual([400, undefined]);
  });

  test('op#850: an answer by form (form_post) is a page of ours, whose policy lets its form and script go', async () => {
    const { page, browser } = await begin(server, config, {
      ...{ response_mode: 'form_post', prompt: 'none', ui_locales: 'nl', state: '"><b>' },
    });
    expect(page.status).toBe(400); // login_required
    expect(page.text).toContain('<html lang="nl">');
    expect(page.text).toContain(`<form method="post" action="${callback}">`);
    expect(page.text).toContain('name="error" value="login_required"');
    expect(page.text).toContain('name="state" value="&quot;&gt;&lt;b&gt;"');
    expect(page.text).toMatch(/<button class="first">Verder<\/button>/);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain('form-action');
    // Without it, whoever gets the form is told that it comes from nowhere.
    expect(page.headers.get('referrer-policy')).toBe('strict-origin');
    const script = /src="([^"]*form-post-[^"]+\.js)"/.exec(page.text)?.[1] as string;
    expect((await browser.open(new URL(script, server.origin).href)).text).toContain('.submit()');
  });
});

describe('an account that ends while its user is logged in', () => {
  test('KC#50632: a log-in under way and the session do not outlive it', async () => {
    const other = 'ending@example.org';
    const id = await createAccount(server, tenant, other);
    const first = await logIn(server, config, { email: other });
    const partner = await register(tenant, 'partner-2', { ...webSpec, firstParty: false });
    const as = await discover(tenant, 'partner-2', oc.ClientSecretBasic(partner as string));
    const pending = await begin(server, as, {}, { jar: first.browser.jar });
    expect(pending.page.text).toContain('value="allow"');
    await setAccountEnabled(server.services.accounts, tenant, { id, enabled: false }, { actor: 'member:test' });
    const gone = await pending.browser.submit(pending.page, '/consent', { decision: 'allow' });
    expect([gone.status, gone.left]).toEqual([400, undefined]);
    const again = await begin(server, config, {}, { jar: first.browser.jar });
    expect(again.page.text).toContain('name="password"');
  });
});

describe('consent', () => {
  test('is asked for a client of somebody else, once in a session, and can be refused', async () => {
    const other = await register(tenant, 'partner', { ...webSpec, firstParty: false });
    const as = await discover(tenant, 'partner', oc.ClientSecretBasic(other as string));
    const parameters = { scope: 'openid email' };
    const first = await logIn(server, as, { email, parameters });
    expect(first.done.text).toContain('value="allow"');
    const refused = await first.browser.submit(first.done, '/consent', { decision: 'deny' });
    expect(refused.left?.searchParams.get('error')).toBe('access_denied');
    const second = await begin(server, as, parameters, { jar: first.browser.jar });
    const allowed = await second.browser.submit(second.page, '/consent', { decision: 'allow' });
    const tokens = await second.grant(allowed.left);
    expect(await oc.fetchUserInfo(as, tokens.access_token, alice)).toMatchObject({ email });
    const third = await begin(server, as, parameters, { jar: first.browser.jar });
    expect(third.page.left?.searchParams.get('code')).toBeTruthy();
  });
});
