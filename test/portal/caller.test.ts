/** Requests to the Config API by the portal's cookie session: whose they are, and each way in which they are refused. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Database } from '../../server/core/db/database.ts';
import { limits } from '../../server/core/limits.ts';
import { ensurePortalTenant, findSession } from '../../server/portal/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import type { Browser } from '../helpers/browser.ts';
import { createTestServer } from '../helpers/server.ts';
import { WallClock } from '../invitations/inviting.ts';
import { enrolling } from './enrolling.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
const { services } = server;
await ensurePortalTenant(services);
await services.snapshots.refresh('portal');
const { enrolled, logOut } = enrolling(server);

type Headers = Record<string, string>;
const own: Headers = { 'x-accord-portal': '1', 'sec-fetch-site': 'same-origin' };

const cookieOf = (browser: Browser, name = 'accord_portal_session') =>
  browser.cookies.find((one) => one.name === name) ?? { name, value: '', path: '' };
const cookieHeader = (browser: Browser) => `accord_portal_session=${cookieOf(browser).value}`;

type Asked = { method?: 'GET' | 'PUT' | 'POST' | 'DELETE'; path?: string; headers?: Headers; payload?: object };

async function ask(
  tenant: string,
  cookie: string,
  { method = 'GET', path = '/policies', headers = own, payload }: Asked = {},
) {
  const response = await server.app.inject({
    method,
    url: `/tenants/${tenant}${path}`,
    headers: { ...headers, ...(cookie === '' ? {} : { cookie }) },
    ...(payload === undefined ? {} : { payload }),
  });
  return { status: response.statusCode, body: response.body === '' ? undefined : response.json() };
}

const openapi = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8')) as {
  paths: Record<string, object>;
};
const rego = 'package door\n\ndefault outcome := "deny"\n';
const memberRow = 'tenant = $1 and email = $2';

/** The accounts' services without a database: nothing listens there. */
const unreachable = () => {
  const url = 'postgres://nobody@127.0.0.1:1/none';
  const database = new Database({ url, poolMax: 1, applicationName: 'none', observe: () => {} });
  return { oidc: services.oidc, accounts: { ...services.accounts, database } };
};

test('a value of a session that somebody made up, or of another tenant, is not looked up', async () => {
  const { browser } = await enrolled(await server.tenant(), 'support');
  const { value } = cookieOf(browser);
  const find = (tenant: string, one: string) => findSession(unreachable(), tenant, one);
  await expect(find('portal', value)).rejects.toThrow();
  const first = value.startsWith('A') ? 'B' : 'A';
  const middle = `${value.slice(0, 30)}${value[30] === 'A' ? 'B' : 'A'}${value.slice(31)}`;
  for (const madeUp of [`${first}${value.slice(1)}`, middle, 'A'.repeat(43), randomBytes(32).toString('base64url')])
    expect(await find('portal', madeUp)).toBeUndefined();
  expect(await find('acme', value)).toBeUndefined();
});

describe('a request of a page of the portal', () => {
  test('is the member that the person is, and writes as that member', async () => {
    const tenant = await server.tenant();
    const { browser, email } = await enrolled(tenant, 'config-editor');
    const cookie = cookieHeader(browser);
    expect(cookieOf(browser).path).toBe('/');
    const put = { method: 'PUT', path: '/policies/door:open', payload: { rego } } as const;
    expect(await ask(tenant, cookie, put)).toMatchObject({ status: 200 });
    expect(await ask(tenant, cookie)).toMatchObject({ status: 200, body: { resources: ['door:open'] } });
    expect((await ask(tenant, cookie, { path: '/members' })).status).toBe(403);
    const changes = await asAdmin(
      server.db.adminUrl,
      `select actor from accord.audit_entry where tenant = $1 and object_kind = 'policy'`,
      [tenant],
    );
    expect(changes).toEqual([{ actor: `member:${email}` }]);
  });

  test('has the role that the member has at that moment', async () => {
    const tenant = await server.tenant();
    const { browser, email } = await enrolled(tenant, 'config-viewer');
    const put = () =>
      ask(tenant, cookieHeader(browser), { method: 'PUT', path: '/policies/door:open', payload: { rego } });
    expect((await put()).status).toBe(403);
    await asAdmin(server.db.adminUrl, `update accord.member set role = 'config-editor' where ${memberRow}`, [
      tenant,
      email,
    ]);
    expect((await put()).status).toBe(200);
    await asAdmin(server.db.adminUrl, `update accord.member set role = 'config-viewer' where ${memberRow}`, [
      tenant,
      email,
    ]);
    expect((await put()).status).toBe(403);
  });

  test('makes a portal token, shown once, while the log-in is recent', async () => {
    const tenant = await server.tenant();
    const { browser } = await enrolled(tenant, 'config-editor');
    const cookie = cookieHeader(browser);
    const made = await ask(tenant, cookie, { method: 'POST', path: '/portal-tokens' });
    expect(made).toMatchObject({ status: 201, body: { jti: expect.any(String), token: expect.any(String) } });
    const bearer = { authorization: `Bearer ${made.body.token}` };
    expect((await ask(tenant, '', { headers: bearer })).status).toBe(200);
    const again = await ask(tenant, '', { method: 'POST', path: '/portal-tokens', headers: bearer });
    expect(again).toMatchObject({ status: 403, body: { code: 'portal_token_cannot_mint' } });
    expect(JSON.stringify((await ask(tenant, cookie, { path: '/portal-tokens' })).body)).not.toContain(made.body.token);
    const entries = await asAdmin(
      server.db.adminUrl,
      `select object_name as name from accord.audit_entry where tenant = $1 and object_kind = 'portal_token'`,
      [tenant],
    );
    expect(entries).toEqual([{ name: made.body.jti }]);
    clock.advance(limits.portalRecentLogInMs);
    const late = await ask(tenant, cookie, { method: 'POST', path: '/portal-tokens' });
    expect(late).toMatchObject({ status: 403, body: { code: 'recent_log_in_needed' } });
  });

  test('of the support desk is audited', async () => {
    const tenant = await server.tenant();
    const { browser, email } = await enrolled(tenant, 'support');
    expect((await ask(tenant, cookieHeader(browser))).status).toBe(200);
    const reads = await asAdmin(
      server.db.adminUrl,
      `select actor, action, object_name from accord.audit_entry where tenant = $1 and object_kind = 'route'`,
      [tenant],
    );
    expect(reads).toEqual([{ actor: `member:${email}`, action: 'read', object_name: 'GET /tenants/:tenant/policies' }]);
  });

  test('works where the browser does not say where it comes from (Sec-Fetch-Site)', async () => {
    const tenant = await server.tenant();
    const { browser } = await enrolled(tenant);
    const headers = (more: Headers) => ({ 'x-accord-portal': '1', ...more });
    const statusOf = async (more: Headers) =>
      (await ask(tenant, cookieHeader(browser), { headers: headers(more) })).status;
    expect(await statusOf({})).toBe(200);
    expect(await statusOf({ origin: 'http://accord.test' })).toBe(200);
    expect(await statusOf({ origin: 'https://evil.example' })).toBe(401);
    expect(await statusOf({ origin: 'null' })).toBe(401);
  });
});

/** Every write of the Config API, as docs/openapi.json has it. */
const writes = Object.entries(openapi.paths).flatMap(([path, operations]) =>
  Object.keys(operations)
    .filter((method) => path.startsWith('/tenants/{tenant}/') && ['put', 'post', 'patch', 'delete'].includes(method))
    .map((method) => ({ method: method.toUpperCase(), path: path.replace('/tenants/{tenant}', '') })),
);

/** What is no write of the tenant: the member's own tokens, and questions that are asked by POST. */
const ofEachRole = ['DELETE /portal-tokens/{jti}', 'POST /graphql', 'POST /portal-tokens'];
const questions = 'POST /mail/templates/{name}/{language}/preview';
const ofConfiguration =
  /^[A-Z]+ \/(actor-types|resource-types|relationship-types|policies|policy-data|policy-libraries|consent-definitions|mail\/templates)\//;

describe('what a role may not do is refused', () => {
  test.each([
    ['config-viewer', [questions]],
    ['support', [questions, 'POST /decisions/{id}/explain']],
    [
      'config-editor',
      [
        ...['POST /decisions/{id}/explain', 'POST /access/v1/search/', 'POST /tokens/check'],
        ...['POST /policy-format', 'POST /resources/manifest/check'],
      ],
    ],
  ] as const)('%s', async (role, asks) => {
    const tenant = await server.tenant();
    const { browser } = await enrolled(tenant, role);
    const headers = { ...own, cookie: cookieHeader(browser) };
    const allowed: string[] = [];
    for (const { method, path } of writes) {
      const url = `/tenants/${tenant}${path.replaceAll(/\{[^}]+\}/g, 'x')}`;
      const answer = await server.app.inject({ method: method as 'POST', url, headers, payload: {} });
      // Each is answered, and those that are refused are refused for the role, before anything of them is read.
      expect(answer.statusCode, `${method} ${path}`).toBeLessThan(500);
      if (answer.statusCode !== 403) allowed.push(`${method} ${path}`);
    }
    expect(writes.length).toBeGreaterThan(50);
    const isKnown = (one: string) =>
      ofEachRole.includes(one) ||
      asks.some((ask) => one.startsWith(ask)) ||
      (role === 'config-editor' && ofConfiguration.test(one));
    expect(allowed.filter((one) => !isKnown(one))).toEqual([]);
    expect(allowed).toEqual(expect.arrayContaining(ofEachRole));
  });
});

describe('the session does not count', () => {
  test.each<[string, Headers]>([
    ['without the header of our pages', { 'sec-fetch-site': 'same-origin' }],
    ['with another value of it', { ...own, 'x-accord-portal': '0' }],
    ['with the header twice', { ...own, 'x-accord-portal': '1, 1' }],
    ['for a page of another site', { ...own, 'sec-fetch-site': 'cross-site' }],
    ['for a page of another host of the site', { ...own, 'sec-fetch-site': 'same-site' }],
    ['for what a person opens', { ...own, 'sec-fetch-site': 'none' }],
    ['beside a token that is refused', { ...own, authorization: 'Bearer nonsense' }],
    ['beside an Authorization header of another scheme', { ...own, authorization: 'Basic eDp5' }],
    ['beside an empty Authorization header', { ...own, authorization: '' }],
  ])('%s', async (_, headers) => {
    const tenant = await server.tenant();
    const { browser } = await enrolled(tenant);
    const cookie = cookieHeader(browser);
    expect((await ask(tenant, cookie)).status).toBe(200);
    expect(await ask(tenant, cookie, { headers })).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    const write = { method: 'PUT', path: '/policies/door:open', payload: { rego }, headers } as const;
    expect((await ask(tenant, cookie, write)).status).toBe(401);
    expect((await ask(tenant, cookie)).body.resources).toEqual([]);
  });

  test.each<[string, (cookie: string) => string]>([
    ['without a cookie', () => ''],
    ['with a cookie of nobody', () => `accord_portal_session=${'x'.repeat(43)}`],
    ['with a planted cookie beside the own', (cookie) => `accord_portal_session=planted; ${cookie}`],
    ['with the same cookie twice', (cookie) => `${cookie}; ${cookie}`],
    ['with a cookie of another name', (cookie) => cookie.replace('session', 'log_in')],
  ])('%s', async (_, change) => {
    const tenant = await server.tenant();
    const { browser } = await enrolled(tenant);
    expect(await ask(tenant, change(cookieHeader(browser)))).toMatchObject({
      status: 401,
      body: { code: 'unauthenticated' },
    });
  });

  test('after the member was removed, from the next request on', async () => {
    const tenant = await server.tenant();
    const { browser, email } = await enrolled(tenant, 'config-editor');
    expect((await ask(tenant, cookieHeader(browser))).status).toBe(200);
    await asAdmin(server.db.adminUrl, `delete from accord.member where ${memberRow}`, [tenant, email]);
    expect(await ask(tenant, cookieHeader(browser))).toMatchObject({
      status: 401,
      body: { detail: 'Who is logged in at the portal is not a member of this tenant.' },
    });
  });

  test('after it has ended', async () => {
    const tenant = await server.tenant();
    const { browser } = await enrolled(tenant);
    const cookie = cookieHeader(browser);
    await logOut(browser);
    expect((await ask(tenant, cookie)).status).toBe(401);
  });

  test('after pageSessionTtlMs', async () => {
    const tenant = await server.tenant();
    const { browser } = await enrolled(tenant);
    clock.advance(limits.pageSessionTtlMs - 60_000);
    expect((await ask(tenant, cookieHeader(browser))).status).toBe(200);
    clock.advance(60_000);
    expect((await ask(tenant, cookieHeader(browser))).status).toBe(401);
  });

  test('after the account was disabled', async () => {
    const tenant = await server.tenant();
    const { browser, email } = await enrolled(tenant);
    const disable = `update accord.account set enabled = false where tenant = 'portal' and email = $1`;
    await asAdmin(server.db.adminUrl, disable, [email]);
    expect((await ask(tenant, cookieHeader(browser))).status).toBe(401);
  });

  test('at another tenant', async () => {
    const [tenant, other] = [await server.tenant(), await server.tenant()];
    const { browser } = await enrolled(tenant);
    expect((await ask(other, cookieHeader(browser))).status).toBe(401);
    expect((await ask('portal', cookieHeader(browser))).status).toBe(404);
    expect((await ask('nowhere', cookieHeader(browser))).status).toBe(404);
  });

  test('at the APIs of applications', async () => {
    const tenant = await server.tenant();
    const { browser } = await enrolled(tenant);
    const headers = { ...own, cookie: cookieHeader(browser) };
    const decision = { method: 'POST', url: `/authz/${tenant}`, headers, payload: {} } as const;
    expect((await server.app.inject(decision)).statusCode).toBe(401);
    expect((await server.app.inject({ url: `/${tenant}/consents/me`, headers })).statusCode).toBe(401);
  });
});

test('an Authorization header wins over the session', async () => {
  const tenant = await server.tenant();
  const { browser } = await enrolled(tenant);
  const headers = { ...own, authorization: `Bearer ${await server.member(tenant, 'config-viewer')}` };
  expect((await ask(tenant, cookieHeader(browser), { path: '/members' })).status).toBe(200);
  expect((await ask(tenant, cookieHeader(browser), { path: '/members', headers })).status).toBe(403);
});

test('CORS lets no page of an allowed origin send the header of our pages', async () => {
  const tenant = await server.tenant({ allowedOrigins: ['https://app.example'] });
  const preflight = await server.app.inject({
    method: 'OPTIONS',
    url: `/tenants/${tenant}/policies`,
    headers: {
      origin: 'https://app.example',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'x-accord-portal',
    },
  });
  expect(preflight.headers['access-control-allow-origin']).toBeUndefined();
  expect(preflight.headers['access-control-allow-headers']).toBeUndefined();
});
