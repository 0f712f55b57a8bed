/** The portal's web application as the server gives it: its document, its assets, who is logged in, and what stands in its place. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ensurePortalTenant } from '../../server/portal/index.ts';
import type { PortalOptions } from '../../server/room/room.ts';
import { Browser } from '../helpers/browser.ts';
import { createTestServer } from '../helpers/server.ts';
import { makeBundle, script } from './bundle.ts';
import { enrolling, password } from './enrolling.ts';

const directory = join(mkdtempSync(join(tmpdir(), 'accord-portal-')), 'dist');
let building: ReturnType<NonNullable<PortalOptions['building']>>;
const portal = { directory, building: () => building, mailbox: () => 'http://127.0.0.1:8081/dev/mail' };
const server = await createTestServer({ ACCORD_ENVIRONMENT: 'staging' }, undefined, undefined, portal);
const { services } = server;
await ensurePortalTenant(services);
await services.snapshots.refresh('portal');
const { enrolled, invited, logIn } = enrolling(server);

type Headers = Record<string, string>;
const own: Headers = { 'x-accord-portal': '1', 'sec-fetch-site': 'same-origin' };
const cookieOf = (browser: Browser) => browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
const get = (url: string, headers: Headers = {}) => server.app.inject({ url, headers });

// In this order: the application is there from the last of these tests on.
describe('while the application is not built', () => {
  test('a page says what to run', async () => {
    const { browser } = await enrolled(await server.tenant());
    const page = await browser.get('/portal');
    expect([page.status, page.text]).toEqual([503, expect.stringContaining('npm run build:portal')]);
    expect(page.html).not.toContain('<script');
    expect((await browser.get('/portal/t/demo/policies')).status).toBe(503);
    expect((await get('/portal/assets/index-abc.js')).statusCode).toBe(404);
  });

  test('a page that is loaded again and again says that it is being built', async () => {
    building = 'building';
    const { browser } = await enrolled(await server.tenant());
    const page = await get('/portal', { cookie: cookieOf(browser) });
    expect([page.statusCode, page.headers.refresh]).toEqual([503, '2']);
    expect(page.body).toContain('The portal is being built');
    expect(page.body).not.toContain('<script');
  });

  test('a page says why it could not be built', async () => {
    building = { failed: 'portal/src/<x>.tsx: unexpected token' };
    const { browser } = await enrolled(await server.tenant());
    const page = await browser.get('/portal');
    expect(page.html).toContain('portal/src/&lt;x&gt;.tsx: unexpected token');
    expect(page.text).toContain('npm run build:portal');
  });

  test('a stranger is asked to log in first, and told how members get in for the first time', async () => {
    const page = await new Browser(server).get('/portal');
    expect(page.url).toContain('/portal/oidc/interaction/');
    expect(page.text).toContain('Members get in by the link of their invitation.');
    // Only an `accord start` takes such links.
    expect(page.text).not.toContain('accord log-in');
  });

  test('the address of the installation leads people to the portal, and clients to nothing', async () => {
    const browsers = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const page = await get('/', { accept: browsers });
    expect([page.statusCode, page.headers.location]).toEqual([303, `${services.baseUrl}/portal`]);
    expect(page.headers.vary).toContain('accept');
    for (const accept of ['*/*', 'application/json', 'application/json, text/html;q=0.5', undefined]) {
      const answer = await get('/', accept === undefined ? {} : { accept });
      expect([accept, answer.statusCode, answer.json().code]).toEqual([accept, 404, 'not_found']);
    }
  });

  test('it appears without a restart', async () => {
    const { browser } = await enrolled(await server.tenant());
    makeBundle(directory);
    expect((await browser.get('/portal')).status).toBe(200);
  });
});

describe('the document', () => {
  test.each(['/portal', '/portal/t/demo', '/portal/t/demo/policies/car:drive?tab=graph'])(
    'of %s has a nonce of its own, and the strict policy',
    async (url) => {
      const { browser } = await enrolled(await server.tenant());
      const pages = [await get(url, { cookie: cookieOf(browser) }), await get(url, { cookie: cookieOf(browser) })];
      const nonces = pages.map(({ body }) => /name="csp-nonce" content="([^"]+)"/.exec(body)?.[1] ?? '');
      expect(nonces[0]).toMatch(/^[\w+/]{22}==$/);
      expect(nonces[0]).not.toBe(nonces[1]);
      const [first] = pages;
      expect(first?.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'x-frame-options': 'DENY',
        'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonces[0]}'; img-src 'self' data:; font-src 'self'; connect-src 'self'; worker-src 'self'; frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types default`,
      });
      expect(first?.body).toContain('src="/portal/assets/index-abc.js"');
      expect(first?.body).not.toContain('__ACCORD_');
    },
  );

  test('is for who is logged in; others come back to the same address after the log-in', async () => {
    const tenant = await server.tenant();
    const { email } = await enrolled(tenant);
    const wanted = `/portal/t/${tenant}/people/user%2Fann?since=PT1H`;
    const back = await logIn(new Browser(server), email, password, wanted);
    expect([back.status, back.url]).toEqual([200, wanted]);
  });

  test.each([
    ['', ''],
    ['/members', '/settings/members'],
    ['/invitations', '/settings/members'],
    ['/invitations/new', '/settings/members'],
    ['/tokens', '/settings/token'],
  ])('is where the former address /portal/tenants/demo%s leads', async (former, place) => {
    const { headers, statusCode } = await get(`/portal/tenants/demo${former}`);
    expect([statusCode, headers.location]).toEqual([303, `http://accord.test/portal/t/demo${place}`]);
  });

  test('is where the former choice of a tenant leads, and no other address leads there or elsewhere', async () => {
    expect((await get('/portal/tenants')).headers.location).toBe('http://accord.test/portal');
    for (const path of [
      'demo/other',
      '..%2f..%2fevil',
      '%2f%2fevil.example',
      'Demo',
      'demo@evil.example',
      'demo%0d%0ax',
    ])
      expect([path, (await get(`/portal/tenants/${path}`)).statusCode]).toEqual([path, 404]);
  });

  test('is where an accepted invitation leads', async () => {
    const tenant = await server.tenant();
    expect((await enrolled(tenant)).home.url).toBe(`/portal/t/${tenant}`);
  });
});

describe('an asset', () => {
  test('is kept for ever, and sent compressed to who can read it', async () => {
    const small = await get('/portal/assets/index-abc.js', { 'accept-encoding': 'gzip, br' });
    expect(small.headers).toMatchObject({
      'content-encoding': 'br',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'application/javascript; charset=utf-8',
      'x-content-type-options': 'nosniff',
    });
    expect(brotliDecompressSync(small.rawPayload).toString()).toBe(script);
    const plain = await get('/portal/assets/index-abc.js');
    expect([plain.headers['content-encoding'], plain.body]).toEqual([undefined, script]);
    const css = await get('/portal/assets/plain-abc.css', { 'accept-encoding': 'br' });
    expect([css.headers['content-encoding'], css.body]).toEqual([undefined, 'body{}']);
  });

  test.each([
    '/portal/assets/nothing.js',
    '/portal/assets/',
    '/portal/assets/../index.html',
    '/portal/assets/..%2findex.html',
    '/portal/assets/%2e%2e/index.html',
    '/portal/assets//etc/passwd',
    '/portal/assets/%2fetc%2fpasswd',
    '/portal/assets/..%5cindex.html',
  ])('%s is none', async (url) => {
    const { statusCode, body, headers } = await get(url);
    expect([400, 403, 404]).toContain(statusCode);
    expect(headers['content-type']).toContain('application/problem+json');
    expect(body).not.toContain('csp-nonce');
    expect(headers['cache-control']).toBe('no-store');
  });
});

test('clickjacking: no page and no asset of the portal may be framed, nor what stands in place of one', async () => {
  const tenant = await server.tenant();
  const { browser } = await enrolled(tenant);
  const { token } = await invited(tenant, 'support', 'invited@team.example');
  const stranger = new Browser(server);
  await stranger.post('/portal/invitations/open', { token });
  const asked = async (who: Browser, url: string) =>
    [url, await get(url, { cookie: cookieOf(who), accept: 'text/html' })] as const;
  const answers = await Promise.all([
    ...['/portal', `/portal/t/${tenant}/policies`, '/portal/tenants', '/portal/logged-out', '/portal/log-in'].map(
      (url) => asked(browser, url),
    ),
    asked(browser, `/portal/tenants/${tenant}/members`),
    ...['/portal/invitations/accept', '/portal/invitations/enrol'].map((url) => asked(stranger, url)),
    ...['/portal/assets/index-abc.js', '/portal/assets/plain-abc.css', '/portal/assets/none.js'].map((url) =>
      asked(stranger, url),
    ),
    ...['/portal/tenants/none', '/portal/nowhere', '/portal/invitations/enrol'].map((url) => asked(browser, url)),
  ]);
  const open = answers.filter(([, { statusCode, headers }]) =>
    // A redirect and an error of the API show nothing.
    statusCode < 300 || String(headers['content-type']).includes('html')
      ? headers['x-frame-options'] !== 'DENY' ||
        !String(headers['content-security-policy']).includes("frame-ancestors 'none'")
      : false,
  );
  expect(open.map(([url, { statusCode }]) => `${statusCode} ${url}`)).toEqual([]);
  expect(answers.filter(([, { statusCode }]) => statusCode === 200).length).toBe(7);
});

describe('GET /portal/session', () => {
  test('says who is logged in, until when, and where a member', async () => {
    const [tenant, other] = [await server.tenant({ displayName: 'Cars & Sons' }), await server.tenant()];
    const { browser, email } = await enrolled(tenant, 'config-editor');
    const { token } = await invited(other, 'support', email);
    await browser.post('/portal/invitations/open', { token });
    const question = await browser.get('/portal/invitations/accept');
    await browser.submit(question, '/portal/invitations/accept', { decision: 'accept' });
    const { statusCode, headers, body } = await get('/portal/session', { ...own, cookie: cookieOf(browser) });
    expect([statusCode, headers['cache-control']]).toEqual([200, 'no-store']);
    const { tenants, ...person } = JSON.parse(body);
    expect(person).toEqual({
      email,
      displayName: 'Ann',
      authenticatedAt: expect.stringMatching(/^20.*Z$/),
      expiresAt: expect.stringMatching(/^20.*Z$/),
      environment: 'staging',
      mailbox: 'http://127.0.0.1:8081/dev/mail',
      guide: '/docs/guide/',
    });
    expect(Date.parse(person.expiresAt)).toBeGreaterThan(Date.parse(person.authenticatedAt));
    expect(tenants).toHaveLength(2);
    expect(tenants).toContainEqual({ code: tenant, name: 'Cars & Sons', role: 'config-editor' });
    expect(tenants).toContainEqual({ code: other, name: 'Test', role: 'support' });
  });

  test.each<[string, Headers, boolean]>([
    ['nobody', own, false],
    ['a request without the header of our pages', { 'sec-fetch-site': 'same-origin' }, true],
    ['a page of another site', { ...own, 'sec-fetch-site': 'cross-site' }, true],
  ])('tells %s nothing', async (_, headers, isLoggedIn) => {
    const { browser } = await enrolled(await server.tenant());
    const answer = await get('/portal/session', { ...headers, ...(isLoggedIn ? { cookie: cookieOf(browser) } : {}) });
    expect([answer.statusCode, answer.json().code]).toEqual([401, 'unauthenticated']);
  });
});

describe('POST /portal/session/end', () => {
  const end = (cookie: string, headers: Headers = own) =>
    server.app.inject({ method: 'POST', url: '/portal/session/end', headers: { ...headers, cookie } });

  test('ends the session and the log-in, and says where to go', async () => {
    const tenant = await server.tenant();
    const { email } = await enrolled(tenant);
    const browser = new Browser(server);
    await logIn(browser, email, password, '/portal');
    const before = browser.cookies;
    const ended = await end(cookieOf(browser));
    expect([ended.statusCode, ended.json()]).toEqual([200, { location: 'http://accord.test/portal/logged-out' }]);
    expect(ended.headers['set-cookie']).toContain('accord_portal_session=; Path=/; Max-Age=0');
    expect((await get('/portal/session', { ...own, cookie: cookieOf(browser) })).statusCode).toBe(401);
    // The log-in at the issuer has ended, too: who is sent there is asked again.
    browser.replaceCookies(before);
    expect((await browser.get('/portal')).url).toContain('/portal/oidc/interaction/');
  });

  test('of who enrolled leads to the issuer, where a log-in may be left', async () => {
    const { browser } = await enrolled(await server.tenant());
    const { location } = (await end(cookieOf(browser))).json();
    expect(location).toMatch(/^http:\/\/accord\.test\/portal\/oidc\/end-session\?client_id=accord-portal&/);
  });

  test.each<[string, Headers]>([
    ['a form', { 'sec-fetch-site': 'same-origin' }],
    ['a page of another site', { ...own, 'sec-fetch-site': 'cross-site' }],
  ])('does not end it for %s', async (_, headers) => {
    const { browser } = await enrolled(await server.tenant());
    expect((await end(cookieOf(browser), headers)).statusCode).toBe(401);
    expect((await get('/portal/session', { ...own, cookie: cookieOf(browser) })).statusCode).toBe(200);
  });
});
