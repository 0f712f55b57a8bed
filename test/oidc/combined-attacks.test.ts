/** Attacks that nobody listed by number: of several parts at once, or of one that is smuggled past another. */
import { connect } from 'node:net';
import { decodeJwt, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import * as oc from 'openid-client';
import { describe, expect, test } from 'vitest';
import { createApp } from '../../server/app.ts';
import { createServices } from '../../server/services.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { begin, createAccount, logIn, webSpec } from './logging-in.ts';
import { audience, Browser, basic, callback, createOidcServer, type Spec } from './relying-party.ts';

const server = await createOidcServer();
const { issuerOf, register, post, discover, origin } = server;
const [tenant, other] = [await server.tenant(), await server.tenant({ audiences: ['https://other.test'] })];
const email = 'alice@example.org';
await createAccount(server, tenant, email);
const secret = (await register(tenant, 'web', webSpec)) as string;
const config = await discover(tenant, 'web', oc.ClientSecretBasic(secret));
const web = basic('web', secret);
const rivalSecret = (await register(tenant, 'rival', webSpec)) as string;
const rival = basic('rival', rivalSecret);
const rivalConfig = await discover(tenant, 'rival', oc.ClientSecretBasic(rivalSecret));
const back: Spec = { grantTypes: ['client_credentials'], scopes: ['authz:evaluate'] };
const machine = basic('machine', await register(tenant, 'machine', back));
const cc = { grant_type: 'client_credentials' };
const json = { 'content-type': 'application/json' };

const refresh = (token: string, more: Record<string, string> = {}, as = web) =>
  post(tenant, '/oidc/token', { grant_type: 'refresh_token', refresh_token: token, ...more }, as);
/** A log-in up to its code, and the request that exchanges it. */
async function codeOf(parameters: Record<string, string> = {}, as = config) {
  const { left, checks } = await logIn(server, as, { email, parameters });
  return {
    ...{ grant_type: 'authorization_code', redirect_uri: callback },
    code: left.searchParams.get('code') as string,
    code_verifier: checks.pkceCodeVerifier as string,
  };
}

describe('one code, one refresh token, and whoever else has them', () => {
  test('a code that is replayed while its refresh token is used: nothing of the family lives on', async () => {
    const body = await codeOf();
    const { body: first } = await post(tenant, '/oidc/token', body, web);
    const answers = await Promise.all([
      refresh(first.refresh_token as string),
      post(tenant, '/oidc/token', body, web),
      refresh(first.refresh_token as string),
      post(tenant, '/oidc/token', body, web),
    ]);
    expect(answers[1]?.body.error).toBe('invalid_grant');
    expect(answers[3]?.body.error).toBe('invalid_grant');
    const family = [first, ...answers.map((one) => one.body)].map((one) => one.refresh_token).filter(Boolean);
    for (const one of family) expect((await refresh(one as string)).body.error).toBe('invalid_grant');
  });

  const isKnown = async (token: unknown) =>
    (await post(tenant, '/oidc/introspection', { token: token as string }, web)).body.active;
  const decide = (token: unknown) =>
    fetch(`${origin}/authz/${tenant}`, {
      method: 'POST',
      headers: { ...json, authorization: `Bearer ${token}` },
      body: '{"subject":{"type":"user","id":"a"},"action":"x","resource":{"type":"car","id":"1"}}',
    }).then(({ status }) => status);

  test('a code that is exchanged twice: the access tokens of its family and of its account and client are refused', async () => {
    const { body: older } = await post(tenant, '/oidc/token', await codeOf({ audience }), web);
    const { body: others } = await post(tenant, '/oidc/token', await codeOf({ audience }, rivalConfig), rival);
    const body = await codeOf({ audience });
    const { body: first } = await post(tenant, '/oidc/token', body, web);
    const { body: second } = await refresh(first.refresh_token as string);
    const tokens = [older, first, second].map((one) => one.access_token);
    for (const one of tokens) expect([await decide(one), await isKnown(one)]).toEqual([403, true]);
    expect((await post(tenant, '/oidc/token', body, web)).body.error).toBe('invalid_grant');
    for (const one of tokens) expect([await decide(one), await isKnown(one)]).toEqual([401, false]);
    // Another client of the same account is nobody's victim, and no other family of refresh tokens is.
    expect(await decide(others.access_token)).toBe(403);
    expect((await refresh(older.refresh_token as string)).status).toBe(200);
  });

  test('a refresh token that is used twice, one after the other or at once: its access tokens are refused', async () => {
    const { body: first } = await post(tenant, '/oidc/token', await codeOf({ audience }), web);
    const { body: second } = await refresh(first.refresh_token as string);
    expect((await refresh(first.refresh_token as string)).body.error).toBe('invalid_grant');
    expect([await decide(first.access_token), await decide(second.access_token)]).toEqual([401, 401]);
    const { body: third } = await post(tenant, '/oidc/token', await codeOf({ audience }), web);
    const raced = await Promise.all([1, 2, 3].map(() => refresh(third.refresh_token as string)));
    const won = raced.flatMap(({ status, body }) => (status === 200 ? [body.access_token] : []));
    for (const one of [third.access_token, ...won]) expect(await decide(one)).toBe(401);
  });

  test('a refresh token that is revoked while it is used: nothing of the family lives on', async () => {
    const { body: first } = await post(tenant, '/oidc/token', await codeOf(), web);
    const token = first.refresh_token as string;
    const [used] = await Promise.all([refresh(token), post(tenant, '/oidc/revocation', { token }, web)]);
    for (const one of [token, used?.body.refresh_token].filter(Boolean))
      expect((await refresh(one as string)).body.error).toBe('invalid_grant');
  });

  test('a refresh token of another client is neither refreshed nor revoked by it', async () => {
    const { body: first } = await post(tenant, '/oidc/token', await codeOf(), web);
    const token = first.refresh_token as string;
    expect((await refresh(token, {}, rival)).body.error).toBe('invalid_grant');
    await post(tenant, '/oidc/revocation', { token }, rival);
    expect((await refresh(token)).status).toBe(200);
  });

  test.each<Record<string, string>>([
    { audience: 'bare-api' },
    { resource: 'urn:accord:aud:bare-api' },
    { resource: 'https://other.test' },
    { scope: 'openid email' },
    { scope: 'openid pg:tenant:admin' },
  ])('a refresh token gives no audience and no scope that its user did not let the client have: %j', async (more) => {
    const { body: first } = await post(tenant, '/oidc/token', await codeOf({ scope: 'openid', audience }), web);
    expect(decodeJwt(first.access_token as string).aud).toBe(audience);
    const { status, body } = await refresh(first.refresh_token as string, more);
    if (status !== 200) return expect(body.error).toMatch(/^invalid_/);
    const claims = decodeJwt(body.access_token as string);
    expect([claims.aud, claims.scope ?? '']).toEqual([audience, '']);
  });

  test('a token request that fails consumes no refresh token', async () => {
    const { body: first } = await post(tenant, '/oidc/token', await codeOf(), web);
    const token = first.refresh_token as string;
    expect((await refresh(token, { scope: 'openid phone' })).body.error).toBe('invalid_scope');
    expect((await refresh(token, {}, basic('web', 'wrong'))).body.error).toBe('invalid_client');
    expect((await refresh(token)).status).toBe(200);
  });
});

describe('pushed authorization requests', () => {
  const push = async (as: Record<string, string>, more: Record<string, string> = {}) =>
    (
      await post(
        tenant,
        '/oidc/par',
        {
          ...{ response_type: 'code', client_id: 'web', redirect_uri: callback, scope: 'openid', state: 's' },
          ...{ code_challenge: await oc.calculatePKCECodeChallenge('v'.repeat(43)), code_challenge_method: 'S256' },
          ...more,
        },
        as,
      )
    ).body.request_uri as string;
  const open = (at: string, query: Record<string, string>) =>
    new Browser(server).open(`${issuerOf(at)}/authorize?${new URLSearchParams(query)}`);

  test("another client's, and another tenant's, are none", async () => {
    const uri = await push(web);
    expect(uri).toMatch(/^urn:/);
    const stolen = await open(tenant, { client_id: 'rival', request_uri: uri });
    expect([stolen.status, stolen.left]).toEqual([400, undefined]);
    await register(other, 'web', webSpec);
    const elsewhere = await open(other, { client_id: 'web', request_uri: uri });
    expect([elsewhere.status, elsewhere.left]).toEqual([400, undefined]);
  });

  test('what the address says besides counts for nothing (PKCE downgrade)', async () => {
    const uri = await push(web);
    const page = await open(tenant, {
      ...{ client_id: 'web', request_uri: uri, redirect_uri: 'https://evil.test/cb', scope: 'openid email' },
      ...{ state: 'forged', code_challenge: 'v'.repeat(43), code_challenge_method: 'plain' },
    });
    if (page.status !== 200) return expect(page.left).toBeUndefined();
    const browser = new Browser(server);
    const again = await browser.open(page.url);
    expect(again.text).not.toContain('evil.test');
  });

  test('an address of the attacker is fetched by nobody', async () => {
    const page = await open(tenant, { client_id: 'web', request_uri: `${origin}/evil.jwt`, response_type: 'code' });
    expect(page.left?.searchParams.get('error') ?? page.status).toBe(400);
  });
});

describe('client assertions', async () => {
  const pair = await generateKeyPair('ES256');
  const spec: Spec = {
    ...back,
    tokenEndpointAuthMethod: 'private_key_jwt',
    jwks: { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'ES256' } as never] },
  };
  for (const one of [tenant, other]) await register(one, 'signer', spec);
  const assertion = async (at: string, claims: Record<string, unknown> = {}) => ({
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: await new SignJWT({ jti: crypto.randomUUID(), iss: 'signer', sub: 'signer', ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .setAudience(issuerOf(at))
      .setExpirationTime('1m')
      .sign(pair.privateKey),
  });

  test('used at one endpoint are used at all, whichever is asked first', async () => {
    for (const [first, second] of [
      ['/oidc/token', '/oidc/introspection'],
      ['/oidc/introspection', '/oidc/revocation'],
      ['/oidc/revocation', '/oidc/token'],
    ] as const) {
      const one = { ...(await assertion(tenant)), ...cc, token: 'x' };
      expect((await post(tenant, first, one)).status, first).toBe(200);
      const { status, body } = await post(tenant, second, one);
      expect([status, body.error], second).toEqual([expect.any(Number), expect.stringMatching(/^invalid_/)]);
    }
  });

  test('are of one tenant, also where another has the same client and key', async () => {
    const one = await assertion(tenant);
    expect((await post(other, '/oidc/token', { ...one, ...cc })).body.error).toBe('invalid_client');
    expect((await post(tenant, '/oidc/token', { ...one, ...cc })).status).toBe(200);
  });

  test.each([
    ['of another client', { sub: 'machine' }],
    ['by another issuer', { iss: 'machine' }],
    ['without an id', { jti: undefined }],
    ['without an end', { exp: undefined }],
    ['that is over', { exp: 1 }],
    ['that is not yet', { nbf: 4_000_000_000 }],
  ])('%s are refused', async (_what, claims) => {
    const { client_assertion_type, client_assertion } = await assertion(tenant);
    const payload = { ...decodeJwt(client_assertion), ...claims } as JWTPayload;
    const signed = await new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: 'k1' }).sign(pair.privateKey);
    const { body } = await post(tenant, '/oidc/token', { client_assertion_type, client_assertion: signed, ...cc });
    expect(body.error).toMatch(/^invalid_(client|request)$/);
  });
});

describe('DPoP proofs, at two servers of one database', async () => {
  const { config: first, db } = server;
  const services = await createServices(first, { applicationName: 'serve', observe: () => {} });
  await services.snapshots.start();
  const app = await createApp(first, services, { eventLoopDelayMsMax: 0 });
  await app.ready();
  closeAtEnd(async () => {
    await app.close();
    await services.snapshots.close();
    await services.close();
  });
  expect(db.url).toBe(first.ACCORD_DATABASE_URL);
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwk = await exportJWK(publicKey);
  const proof = async (htm: string, htu: string, more: Record<string, unknown> = {}) =>
    new SignJWT({ htm, htu, jti: crypto.randomUUID(), ...more })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
      .setIssuedAt()
      .sign(privateKey);
  const body = '{"subject":{"type":"user","id":"a"},"action":"x","resource":{"type":"car","id":"1"}}';

  test('a proof of the token endpoint is used once by both together', async () => {
    const dpop = await proof('POST', `${issuerOf(tenant)}/token`);
    const headers = { ...machine, dpop };
    const [here, there] = await Promise.all([
      post(tenant, '/oidc/token', cc, headers),
      app.inject({
        ...{ method: 'POST', url: `/${tenant}/oidc/token`, payload: new URLSearchParams(cc).toString() },
        headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
      }),
    ]);
    expect([here.status, there.statusCode].sort()).toEqual([200, 400]);
  });

  test('a proof of an endpoint of ours is used once by both together, and at no other tenant', async () => {
    const dpop = await proof('POST', `${issuerOf(tenant)}/token`);
    const got = (await post(tenant, '/oidc/token', cc, { ...machine, dpop })).body.access_token as string;
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(got)));
    const ath = Buffer.from(digest).toString('base64url');
    const once = await proof('POST', `${origin}/authz/${tenant}`, { ath });
    const headers = { authorization: `DPoP ${got}`, dpop: once, ...json };
    const there = () => app.inject({ method: 'POST', url: `/authz/${tenant}`, payload: body, headers });
    const here = () => fetch(`${origin}/authz/${tenant}`, { method: 'POST', headers, body });
    const [one, two] = await Promise.all([here(), there()]);
    expect([one.status, two.statusCode].sort()).toEqual([200, 401]);
    expect((await here()).status).toBe(401);
    expect((await there()).statusCode).toBe(401);
    expect((await fetch(`${origin}/authz/${other}`, { method: 'POST', headers, body })).status).toBe(401);
  });
});

describe('what is smuggled', () => {
  const scopesOf = (token: unknown) => (decodeJwt(token as string).scope as string | undefined)?.split(/\s/) ?? [];

  test.each([
    'authz:evaluate pg:tenant:admin',
    'authz:evaluate\tpg:tenant:admin',
    'authz:evaluate\npg:tenant:admin',
    'authz:evaluate\u00a0pg:tenant:admin',
    'authz:evaluate,pg:tenant:admin',
    'AUTHZ:EVALUATE PG:TENANT:ADMIN',
    'authz:evaluate  pg:tenant:admin ',
    'pg:tenant:admin\u0000',
  ])('a scope by white space or case: %j', async (scope) => {
    for (const sent of [
      await post(tenant, '/oidc/token', { ...cc, scope }, machine),
      await post(tenant, '/oidc/token', JSON.stringify({ ...cc, scope }), { ...machine, ...json }),
    ]) {
      if (sent.status !== 200) expect(sent.body.error).toMatch(/^invalid_/);
      else expect(scopesOf(sent.body.access_token).filter((one) => one !== 'authz:evaluate')).toEqual([]);
    }
  });

  test.each([
    '{"grant_type":"client_credentials","scope":"authz:evaluate","scope":"pg:tenant:admin"}',
    '{"grant_type":"refresh_token","grant_type":"client_credentials"}',
    '{"grant_type":"client_credentials","\\u0067rant_type":"client_credentials"}',
    '{"grant_type":"client_credentials","x":"\\"","x":"\\\\"}',
  ])('a member that is there twice (duplicated JSON keys): %s', async (body) => {
    expect(await post(tenant, '/oidc/token', body, { ...machine, ...json })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
  });

  test('members whose names are those of objects are parameters like others', async () => {
    const body = '{"grant_type":"client_credentials","__proto__":"x","constructor":"y","toString":"z"}';
    expect((await post(tenant, '/oidc/token', body, { ...machine, ...json })).status).toBe(200);
  });

  test.each([
    ['no type', 'application/octet-stream'],
    ['a form with files', 'multipart/form-data; boundary=x'],
    ['text', 'text/plain'],
  ])('a body as %s', async (_what, type) => {
    const { status, body } = await post(tenant, '/oidc/token', new URLSearchParams(cc).toString(), {
      ...machine,
      'content-type': type,
    });
    expect([status, body.error]).toEqual([400, 'invalid_request']);
  });

  test.each([
    ['no colon', btoa('machine')],
    ['no secret', btoa('machine:')],
    ['no base64', '%%%'],
    ['a broken percent sign', btoa('machine:%zz')],
    ['a NUL', btoa('machine\u0000:x')],
    ['an object’s name', btoa('__proto__:x')],
    ['much', btoa(`machine:${'x'.repeat(9000)}`)],
  ])('Basic credentials with %s', async (_what, credentials) => {
    const { status, body } = await post(tenant, '/oidc/token', cc, { authorization: `Basic ${credentials}` });
    expect([status < 500, body.error]).toEqual([true, expect.stringMatching(/^invalid_(client|request)$/)]);
  });

  test('a wrong secret and an unknown client read the same', async () => {
    const wrong = await post(tenant, '/oidc/token', cc, basic('machine', 'wrong'));
    const unknown = await post(tenant, '/oidc/token', cc, basic('nobody', 'wrong'));
    expect([wrong.status, wrong.text]).toEqual([unknown.status, unknown.text]);
  });
});

/** One request, byte by byte. @returns status line, headers and body */
function raw(text: string): Promise<string> {
  const { port } = new URL(origin);
  return new Promise((done, failed) => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk)).on('close', () => done(answer));
    socket.on('error', failed);
  });
}

describe('host-header games', () => {
  test.each([
    ['an absolute address', (path: string) => `GET http://evil.test${path} HTTP/1.1\r\nHost: evil.test`],
    ['two of them', (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.test`],
    ['user information', (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1@evil.test`],
    ['a port that is none', (path: string) => `GET ${path} HTTP/1.1\r\nHost: evil.test:x"><script>`],
    ['none', (path: string) => `GET ${path} HTTP/1.0`],
    ['HTTP/2 names', (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\nX-Original-URL: /evil\r\nX-Host: evil.test`],
    ['an address of the network', (path: string) => `GET //evil.test${path} HTTP/1.1\r\nHost: a`],
    ['a fragment', (path: string) => `GET ${path}#@evil.test HTTP/1.1\r\nHost: a`],
  ])('%s', async (_what, head) => {
    const answer = await raw(
      `${head(`/${tenant}/oidc/.well-known/openid-configuration`)}\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 (200|400|404)/);
    expect(answer.replace(/^.*?\r\n\r\n/s, '')).not.toMatch(/https?:[^"]*evil/);
  });
});

describe('a body that is no request', () => {
  const head = (more: string) =>
    `POST /${tenant}/oidc/token HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: ${machine.authorization}\r\n` +
    `Content-Type: application/x-www-form-urlencoded\r\n${more}\r\n\r\n`;

  test('is refused when it is too large, also without a length', async () => {
    const chunk = `${(8192).toString(16)}\r\n${'x'.repeat(8192)}\r\n`;
    const body = `grant_type=client_credentials&x=`;
    const whole = `${body.length.toString(16)}\r\n${body}\r\n${chunk.repeat(16)}0\r\n\r\n`;
    const answer = await raw(`${head('Transfer-Encoding: chunked')}${whole}`);
    expect(answer).not.toContain('access_token');
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d|^$/);
  });

  test('is refused with two lengths, and with a length and chunks (request smuggling)', async () => {
    const body = 'grant_type=client_credentials';
    for (const lengths of [
      `Content-Length: ${body.length}\r\nContent-Length: 5`,
      `Content-Length: 5\r\nTransfer-Encoding: chunked`,
      `Content-Length: ${body.length}\r\nTransfer-Encoding: identity, chunked, identity`,
    ]) {
      const answer = await raw(`${head(lengths)}${body}`);
      expect(answer, lengths).toMatch(/^HTTP\/1\.1 400/);
    }
  });
});

describe('cookies', () => {
  const signed = async () => {
    const { browser } = await logIn(server, config, { email });
    return browser;
  };
  const silent = async (cookie: string) => {
    const { checks: _checks, url } = await begin(server, config, { prompt: 'none' });
    const answer = await fetch(url, { headers: { cookie }, redirect: 'manual' });
    const to = answer.headers.get('location');
    return [answer.status, to === null ? null : new URL(to).searchParams.get('error')] as const;
  };

  test('the signature of a session counts', async () => {
    const browser = await signed();
    const header = browser.jar.header(`/${tenant}/oidc/authorize`);
    expect(await silent(header)).toEqual([303, null]);
    const forged = header.replace(/(accord_session=)./, '$1A').replace(/(\.sig=)./, '$1_');
    for (const one of [forged, header.replace(/; [^;]*\.sig=[^;]*/g, ''), header.replace(/(\.sig=)[^;]*/g, '$1')])
      expect(await silent(one), one).toEqual([303, 'login_required']);
  });

  test.each([
    ['many', Array.from({ length: 200 }, (_, i) => `c${i}=${'x'.repeat(40)}`).join('; ')],
    ['a long one', `accord_session=${'x'.repeat(12_000)}; accord_session.sig=x`],
    ['one twice', 'accord_session=a; accord_session=b; accord_session.sig=c'],
    ['bytes', 'accord_session=%00%ff"\\; accord_session.sig="'],
    ['names of objects', '__proto__=x; constructor=y; accord_session=__proto__'],
  ])('oversized or odd: %s', async (_what, cookie) => {
    expect(await silent(cookie)).toEqual([303, 'login_required']);
  });

  test('too many bytes of them are refused, not taken in part', async () => {
    const [status] = await silent(`a=${'x'.repeat(40_000)}`);
    expect(status).toBe(431);
  });
});

describe('forms of another site', () => {
  test('nobody is logged out by an address, a picture or a form (log-out CSRF)', async () => {
    const { browser } = await logIn(server, config, { email });
    const cookie = browser.jar.header(`/${tenant}/oidc/end-session`);
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(`${origin}/${tenant}/oidc${path}`, { headers: { cookie, ...init.headers }, redirect: 'manual', ...init });
    const form = { 'content-type': 'application/x-www-form-urlencoded', cookie };
    const asked = await ask('/end-session');
    expect([asked.status, asked.headers.get('refresh'), asked.headers.get('location')]).toEqual([200, null, null]);
    expect((await ask('/end-session', { method: 'HEAD' })).status).toBe(405);
    for (const body of ['', 'logout=yes', 'logout=yes&xsrf=x', 'logout=yes&xsrf=']) {
      const answer = await ask('/end-session/confirm', { method: 'POST', headers: form, body });
      expect(answer.status, body).toBeGreaterThanOrEqual(400);
    }
    expect((await ask('/end-session/confirm')).status).toBe(405);
    const { page } = await begin(server, config, { prompt: 'none' }, { jar: browser.jar });
    expect(page.left?.searchParams.get('code')).toBeTruthy();
  });

  test('no device is connected by them (device confirmation CSRF)', async () => {
    await register(tenant, 'tv', {
      grantTypes: ['urn:ietf:params:oauth:grant-type:device_code'],
      ...{ tokenEndpointAuthMethod: 'none', applicationType: 'native', scopes: ['openid'], firstParty: true },
    });
    const started = (await post(tenant, '/oidc/device/authorize', { client_id: 'tv', scope: 'openid' })).body;
    const code = started.user_code as string;
    const { browser } = await logIn(server, config, { email });
    const page = await browser.open(`${issuerOf(tenant)}/device?user_code=${code}`);
    expect(page.text).toContain('user_code');
    const cookie = browser.jar.header(`/${tenant}/oidc/device`);
    for (const xsrf of ['', 'x', '&xsrf=']) {
      const body = `user_code=${code}&confirm=yes&xsrf=${xsrf}`;
      const headers = { 'content-type': 'application/x-www-form-urlencoded', cookie };
      const answer = await fetch(`${issuerOf(tenant)}/device`, { method: 'POST', headers, body, redirect: 'manual' });
      expect([answer.headers.get('location'), answer.headers.get('refresh')]).toEqual([null, null]);
    }
    const poll = (client = 'tv') =>
      post(tenant, '/oidc/token', {
        ...{ grant_type: 'urn:ietf:params:oauth:grant-type:device_code', client_id: client },
        device_code: started.device_code as string,
      });
    expect((await poll()).body.error).toBe('authorization_pending');
    await register(tenant, 'tv2', {
      grantTypes: ['urn:ietf:params:oauth:grant-type:device_code'],
      ...{ tokenEndpointAuthMethod: 'none', applicationType: 'native', scopes: ['openid'], firstParty: true },
    });
    expect((await poll('tv2')).body.error).toBe('invalid_grant');
    expect((await poll()).body.error).toBe('authorization_pending');
  });

  test('a device code that is guessed', async () => {
    const guesses = Array.from({ length: 40 }, (_, i) => `BCDF-${'BCDFGHJKLM'[i % 10]}HJ${'BCDF'[i % 4]}`);
    const browser = new Browser(server);
    const page = await browser.open(`${issuerOf(tenant)}/device`);
    for (const guess of guesses) {
      const answer = await browser.submit(page, '/device', { user_code: guess });
      expect(answer.text).not.toContain('value="yes"');
    }
  });
});

describe('odd parameters of an authorization request', async () => {
  const elsewhere = (await register(other, 'web2', webSpec)) as string;
  await createAccount(server, other, email);
  const strange = await server.discover(other, 'web2', oc.ClientSecretBasic(elsewhere));
  const hint = (await (await logIn(server, strange, { email })).grant()).id_token as string;
  const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${hint.split('.')[1]}.`;

  test.each([
    ['response_type', 'token'],
    ['response_type', 'code id_token token'],
    ['response_type', 'none'],
    ['response_mode', 'web_message'],
    ['response_mode', 'query.jwt'],
    ['prompt', 'none login'],
    ['prompt', 'create'],
    ['max_age', '-1'],
    ['max_age', '1e9'],
    ['max_age', '99999999999999999999'],
    ['claims', '{'],
    ['claims', '[]'],
    ['claims', '{"id_token":7}'],
    ['claims', '{"id_token":{"sub":{"value":"somebody"}}}'],
    ['claims', `{"id_token":${'['.repeat(3000)}${']'.repeat(3000)}}`],
    ['claims', '{"__proto__":{"x":1},"id_token":{"constructor":null}}'],
    ['id_token_hint', 'x'],
    ['id_token_hint', hint],
    ['id_token_hint', unsigned],
    ['request', unsigned],
    ['code_challenge_method', 'plain'],
    ['code_challenge', 'short'],
    ['audience', 'https://evil.test'],
    ['resource', 'https://other.test'],
    ['resource', 'not a URI'],
    ['dpop_jkt', 'x'],
    ['registration', '{}'],
  ])('%s=%j gives no code without a person, and fails nothing on our side', async (name, value) => {
    for (const more of [{}, { prompt: 'none' }]) {
      const { page } = await begin(server, config, { ...more, [name]: value });
      expect(page.left?.searchParams.get('code') ?? null).toBeNull();
      expect(page.left?.searchParams.get('error')).not.toBe('server_error');
      expect(page.status).toBeLessThan(500);
    }
  });

  test('a token of another tenant is inactive here, and two tokens in one request are refused', async () => {
    const theirs = (await (await logIn(server, strange, { email })).grant()).access_token;
    const token = async (one: string) => (await post(tenant, '/oidc/introspection', { token: one }, machine)).body;
    expect(await token(theirs)).toEqual({ active: false });
    expect(await token(hint)).toEqual({ active: false });
    const twice = await post(other, '/oidc/userinfo', { access_token: theirs }, { authorization: `Bearer ${theirs}` });
    expect([twice.status, twice.body.error]).toEqual([400, 'invalid_request']);
    const here = await fetch(`${issuerOf(tenant)}/userinfo`, { headers: { authorization: `Bearer ${theirs}` } });
    expect(here.status).toBe(401);
  });

  test('mailed links and forms are not for HEAD, which scanners of mail send', async () => {
    for (const path of ['/account/verify?token=x', '/account/reset?token=x', '/oidc/authorize', '/oidc/device'])
      expect((await fetch(`${origin}/${tenant}${path}`, { method: 'HEAD' })).status, path).toBe(405);
  });
});

describe('redirects', () => {
  test.each([
    'http://127.0.0.1:9/cb/../evil',
    'http://127.0.0.1:9/./cb',
    'http://127.0.0.1:9/%63b',
    'http://127.0.0.1:9/CB',
    'HTTP://127.0.0.1:9/cb',
    'http://127.0.0.1:9/cb?',
    'http://127.0.0.1:9/cb#evil',
    'http://127.0.0.1:9/cb\\@evil.test',
    'http://127.0.0.1:9\\@evil.test/cb',
    'http://[::ffff:127.0.0.1]:9/cb',
    'http://[::1]:9/cb',
    'http://0x7f.1:9/cb',
    'http://2130706433:9/cb',
    'http://127.0.0.1.:9/cb',
    ' http://127.0.0.1:9/cb',
    'http://127.0.0.1:9/cb\r\nSet-Cookie: a=b',
    '//127.0.0.1:9/cb',
    'javascript:alert(1)//http://127.0.0.1:9/cb',
  ])('%j is not the registered one', async (uri) => {
    const { page } = await begin(server, config, { redirect_uri: uri });
    expect([page.status, page.left, page.headers.get('set-cookie')?.includes('a=b') ?? false]).toEqual([
      400,
      undefined,
      false,
    ]);
    const after = await new Browser(server).open(
      `${issuerOf(tenant)}/end-session?client_id=web&post_logout_redirect_uri=${encodeURIComponent(uri)}`,
    );
    expect(after.left).toBeUndefined();
  });

  test.each(['state', 'nonce', 'scope', 'ui_locales', 'login_hint', 'client_id', 'prompt', 'display', 'acr_values'])(
    'markup in %s is text',
    async (name) => {
      const { page } = await begin(server, config, { [name]: '"><script>alert(1)</script>' });
      expect(page.text).not.toContain('<script>alert');
      if (page.left !== undefined) expect(page.left.origin).toBe('http://127.0.0.1:9');
    },
  );

  test('a parameter that is given twice', async () => {
    const { url } = await begin(server, config);
    for (const name of ['client_id', 'redirect_uri', 'scope', 'state', 'code_challenge', 'response_type', 'audience']) {
      const page = await new Browser(server).open(`${url}&${name}=x&${name}=y`);
      expect(page.left?.searchParams.get('code') ?? null, name).toBeNull();
      if (page.left === undefined) expect(page.status, name).toBe(400);
      else expect(page.left.searchParams.get('error'), name).toMatch(/^invalid_/);
    }
  });
});
