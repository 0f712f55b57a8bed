/** CORS by tenant, on a whole server: what a browser reads from the answers. */
import { describe, expect, test } from 'vitest';
import { disableTenant, putTenant } from '../../server/tenants/index.ts';
import { createTestServer, manifestWriter, tenantSpec } from '../helpers/server.ts';

const page = 'https://app.example.com';
const server = await createTestServer();
const open = await server.tenant({ allowedOrigins: [page, 'http://localhost:3000'] });
const closed = await server.tenant();
const other = await server.tenant({ allowedOrigins: ['https://other.example.com'] });
const token = await server.user(open, 'alice');

type Call = {
  url: string;
  origin?: string;
  method?: 'GET' | 'POST' | 'OPTIONS' | 'PUT';
  bearer?: string;
  wants?: string;
};
const call = async ({ url, origin = page, method = 'POST', bearer, wants }: Call) => {
  const { statusCode, headers } = await server.app.inject({
    method,
    url,
    headers: {
      ...(origin === '' ? {} : { origin }),
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(wants === undefined ? {} : { 'access-control-request-method': wants }),
    },
  });
  const cors = Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')));
  return { status: statusCode, cors, vary: headers.vary, allow: headers.allow };
};

const paths = (tenant: string) =>
  [
    ['POST', `/authz/${tenant}`],
    ['POST', `/authz/${tenant}/batch`],
    ['POST', `/${tenant}/consents`],
    ['GET', `/${tenant}/consents/me`],
    ['GET', `/${tenant}/actors/me`],
    ['POST', `/${tenant}/actors/user/alice/relationships`],
    ['POST', `/${tenant}/sharing/invitations`],
    ['POST', `/${tenant}/sharing/invitations/preview`],
    ['POST', `/${tenant}/access/v1/evaluation`],
    ['GET', `/${tenant}/.well-known/jwks.json`],
  ] as const;

describe('a preflight', () => {
  test.each(paths(open))('of %s %s allows the page what it may send, and no credentials', async (method, url) => {
    const { status, cors, vary } = await call({ url, method: 'OPTIONS', wants: method });
    expect(status).toBe(204);
    expect(cors['access-control-allow-origin']).toBe(page);
    expect(String(cors['access-control-allow-methods']).split(', ')).toContain(method);
    expect(cors['access-control-allow-headers']).toMatch(/Authorization.*Content-Type.*Idempotency-Key.*If-Match/);
    expect(cors['access-control-max-age']).toBe('600');
    expect(cors).not.toHaveProperty('access-control-allow-credentials');
    expect(vary).toMatch(/^Origin,/);
  });

  test.each([
    ['another tenant', other, page],
    ['a tenant without origins', closed, page],
    ['another port', open, `${page}:8443`],
    ['another scheme', open, 'http://app.example.com'],
    ['a subdomain', open, 'https://x.app.example.com'],
    ['null', open, 'null'],
    ['two origins', open, `${page}, ${page}`],
  ])('of %s is answered without CORS headers', async (_what, tenant, origin) => {
    expect(await call({ url: `/authz/${tenant}`, origin, method: 'OPTIONS', wants: 'POST' })).toMatchObject({
      status: 204,
      cors: {},
      allow: 'POST',
    });
  });

  test('of the Config API, and of no tenant, is none', async () => {
    for (const url of [`/tenants/${open}/policies`, '/portal/invitations/redeem', '/openapi.json'])
      expect(await call({ url, method: 'OPTIONS', wants: 'GET' })).toMatchObject({ status: 404, cors: {} });
    expect(await call({ url: '/authz/unknown', method: 'OPTIONS', wants: 'POST' })).toMatchObject({
      status: 404,
      cors: {},
    });
  });
});

describe('an answer', () => {
  test('is for the page of an allowed origin, which may read what clients need', async () => {
    const { status, cors, vary } = await call({ url: `/authz/${open}`, bearer: token });
    expect([status, cors['access-control-allow-origin'], vary]).toEqual([200, page, 'Origin']);
    const exposed = String(cors['access-control-expose-headers']).split(', ');
    for (const name of ['ETag', 'Location', 'Link', 'Retry-After', 'RateLimit', 'RateLimit-Policy', 'Accord-Revision'])
      expect(exposed).toContain(name);
  });

  test('that is an error is for it too', async () => {
    expect(await call({ url: `/authz/${open}` })).toMatchObject({
      status: 401,
      cors: { 'access-control-allow-origin': page },
    });
    const url = `/${open}/actors/user`;
    expect(await call({ url, method: 'GET', bearer: token })).toMatchObject({
      status: 403,
      cors: { 'access-control-allow-origin': page },
    });
  });

  test('to another origin, and to none, comes without CORS headers', async () => {
    const foreign = await call({ url: `/authz/${open}`, origin: 'https://evil.example', bearer: token });
    expect(foreign).toMatchObject({ status: 200, cors: {}, vary: 'Origin' });
    expect(await call({ url: `/authz/${open}`, origin: '', bearer: token })).toMatchObject({ status: 200, cors: {} });
  });

  test('of the Config API has none, whatever the origin', async () => {
    const member = await server.member(open, 'security-admin');
    expect(await call({ url: `/tenants/${open}/policies`, method: 'GET', bearer: member })).toMatchObject({
      status: 200,
      cors: {},
      vary: undefined,
    });
  });

  test('that caches may keep varies by origin, also without one', async () => {
    const url = `/${open}/.well-known/jwks.json`;
    expect(await call({ url, method: 'GET', origin: '' })).toMatchObject({ status: 200, cors: {}, vary: 'Origin' });
  });
});

describe('the text of a consent document, which is for everybody', () => {
  const text = (tenant: string) => `/${tenant}/consents/documents/terms/1/a/en`;

  test.each([
    ['a page of another origin', open, 'https://evil.example'],
    ['a page of an allowed origin', open, page],
    ['a tenant without origins', closed, page],
    ['a page in a sandbox', open, 'null'],
    ['nobody in particular', open, ''],
  ])('may be read by %s', async (_who, tenant, origin) => {
    const { cors, vary } = await call({ url: text(tenant), method: 'GET', origin });
    expect(cors['access-control-allow-origin']).toBe('*');
    expect(String(cors['access-control-expose-headers']).split(', ')).toEqual(
      expect.arrayContaining(['ETag', 'Repr-Digest']),
    );
    expect(cors).not.toHaveProperty('access-control-allow-credentials');
    expect(vary ?? '').not.toContain('Origin');
  });

  test('may be asked for again with If-None-Match', async () => {
    const { status, cors, allow } = await call({
      ...{ url: text(closed), method: 'OPTIONS', origin: 'https://evil.example', wants: 'GET' },
    });
    expect([status, allow, cors['access-control-allow-origin']]).toEqual([204, 'GET, HEAD', '*']);
    expect(cors['access-control-allow-headers']).toContain('If-None-Match');
  });
});

test('a change of the origins holds from the next revision on, and a disabled tenant has none', async () => {
  const tenant = await server.tenant({ allowedOrigins: [page] });
  const allowed = async (origin: string) =>
    Object.keys((await call({ url: `/authz/${tenant}`, origin })).cors).length > 0;
  expect([await allowed(page), await allowed('https://new.example.com')]).toEqual([true, false]);
  const spec = tenantSpec({ allowedOrigins: ['https://new.example.com'] });
  await putTenant(server.services.tenants, manifestWriter, tenant, spec);
  await server.services.snapshots.refresh(tenant);
  expect([await allowed(page), await allowed('https://new.example.com')]).toEqual([false, true]);
  await disableTenant(server.services.tenants, manifestWriter, tenant);
  await server.services.snapshots.refresh(tenant);
  expect(await allowed('https://new.example.com')).toBe(false);
});
