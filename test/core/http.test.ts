/** What holds for every endpoint: request ids, security headers, strict queries, errors as problems, and nothing said about what failed inside. */
import { type AddressInfo, connect } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { InjectOptions } from 'fastify';
import { describe, expect, test, vi } from 'vitest';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';

const server = await createTestServer();
const tenant = await server.tenant();
const backend = await server.client(tenant, 'authz:evaluate');
const ask = ({ headers, ...request }: InjectOptions = {}) =>
  server.app.inject({
    method: 'POST',
    url: `/authz/${tenant}`,
    payload: {},
    ...request,
    headers: { authorization: `Bearer ${backend}`, ...headers },
  });

describe('X-Request-ID', () => {
  test.each(['abc-123', 'x'.repeat(128), 'Root=1-67891233-abcdef01/1:a.b_c+d='])('%s is echoed', async (id) => {
    expect((await ask({ headers: { 'x-request-id': id } })).headers['x-request-id']).toBe(id);
  });
  test.each([
    ['with a space', 'a b'],
    ['beyond ASCII', 'é'],
    ['too long', 'x'.repeat(129)],
    ['empty', ''],
    ['with a mail address', 'carol@example.com'],
    ['with markup', '<b>'],
  ])('one %s is replaced by one of ours', async (_, id) => {
    expect((await ask({ headers: { 'x-request-id': id } })).headers['x-request-id']).toMatch(/^[\w-]{12}-[0-9a-z]+$/);
  });
  test('is in every problem', async () => {
    for (const url of [`/authz/${tenant}`, '/nowhere', '/%ZZ', `/authz/${tenant}?nonsense=1`]) {
      const response = await server.app.inject({ method: 'POST', url, headers: { 'x-request-id': 'mine' } });
      expect([response.headers['x-request-id'], response.json().requestId], url).toEqual(['mine', 'mine']);
    }
  });
});

test('no answer is read as another type than it says', async () => {
  for (const url of [`/authz/${tenant}`, '/nowhere', '/%ZZ']) {
    expect((await ask({ url })).headers['x-content-type-options'], url).toBe('nosniff');
  }
});

describe('a problem', () => {
  test('has all members of RFC 9457 and ours', async () => {
    const response = await server.app.inject({ method: 'GET', url: '/nowhere?x=1', headers: { 'x-request-id': 'r' } });
    expect(response.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(response.json()).toEqual({
      type: 'urn:accord:problem:not_found',
      title: 'Not found',
      status: 404,
      detail: expect.any(String),
      instance: '/nowhere?x=1',
      code: 'not_found',
      requestId: 'r',
    });
  });

  test('names every wrong place of a small body, and at most twenty', async () => {
    const few = await ask({ payload: { a: 1, b: 2, action: 3 } });
    expect(
      few
        .json()
        .errors.map((one: { pointer: string }) => one.pointer)
        .sort(),
    ).toEqual(['/a', '/action', '/b']);
    const many = await ask({ payload: Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`f${n}`, n])) });
    expect(many.json().errors).toHaveLength(20);
  });

  test('escapes what a field is called in its pointer', async () => {
    expect((await ask({ payload: { 'a/b~c': 1 } })).json().errors[0].pointer).toBe('/a~1b~0c');
    const deep = await ask({ payload: { context: { 'a/b~c': '\ud800' } } });
    expect(deep.json().errors[0].pointer).toBe('/context/a~1b~0c');
  });

  test('says nothing about what failed inside; the log has it', async () => {
    await asAdmin(server.db.adminUrl, 'alter table accord.decision rename to hidden');
    const authorization = `Bearer ${await server.member(tenant, 'config-editor')}`;
    const response = await ask({ method: 'GET', url: `/tenants/${tenant}/decisions`, headers: { authorization } });
    await asAdmin(server.db.adminUrl, 'alter table accord.hidden rename to decision');
    expect([response.statusCode, response.json().code]).toEqual([500, 'internal_error']);
    expect(response.payload).not.toMatch(/relation|accord\.decision/);
    const failed = server.observations.findLast((one) => one.kind === 'request_failed');
    expect(String(failed?.error)).toContain('relation "accord.decision" does not exist');
  });
});

describe('instants in queries', async () => {
  const editor = await server.member(tenant, 'config-editor');
  const read = async (start: string) => {
    const url = `/tenants/${tenant}/decisions?start=${encodeURIComponent(start)}`;
    return (await server.app.inject({ method: 'GET', url, headers: { authorization: `Bearer ${editor}` } })).statusCode;
  };
  test.each([
    '2026-01-31T23:59:59Z',
    '2028-02-29T00:00:00.123456789+05:30',
    '2026-01-01t00:00:00z',
    '2026-01-01T00:00:00-23:59',
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
  ])('%s is one', async (instant) => {
    expect(await read(instant)).toBe(200);
  });
  test.each([
    '2026-02-30T00:00:00Z',
    '2027-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01',
    '2026-01-01T00:00:00',
    '2026-01-01 00:00:00Z',
    '2026-01-01T25:00:00Z',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+10:00',
    '9999-12-31T23:59:59-10:00',
    'yesterday',
  ])('%s is none', async (instant) => {
    expect(await read(instant)).toBe(400);
  });
});

describe('the rate limit', async () => {
  const limited = await createTestServer({ ACCORD_RATE_LIMIT: '5' });
  const code = await limited.tenant();
  const send = (token: string | undefined, address = '192.0.2.1') =>
    limited.app.inject({
      method: 'POST',
      url: `/authz/${code}`,
      headers: token ? { authorization: `Bearer ${token}` } : {},
      payload: {},
      remoteAddress: address,
    });

  // Far more at once than a second's worth: however slow this machine is, some are too many. test/access/rate-limit.test.ts
  // counts exactly, on a clock that stands still.
  test('holds for strangers by address, and not for a caller whose token is known', async () => {
    const token = await limited.client(code, 'authz:evaluate');
    expect((await send(token)).statusCode).toBe(200);
    const bad = await Promise.all(Array.from({ length: 300 }, (_, n) => send(`nonsense${n}`)));
    expect(new Set(bad.map((one) => one.statusCode))).toEqual(new Set([401, 429]));
    expect((await send(token)).statusCode).toBe(200);
    expect((await send(undefined, '192.0.2.2')).statusCode).toBe(401);
  });

  test('holds for the pages that describe the API, and for addresses without a route', async () => {
    const get = (url: string) => limited.app.inject({ url, remoteAddress: '192.0.2.3' });
    expect((await get('/openapi.json')).statusCode).toBe(200);
    const answers = await Promise.all(Array.from({ length: 300 }, () => get('/no/such')));
    expect(new Set(answers.map((one) => one.statusCode))).toEqual(new Set([404, 429]));
  });

  test('says when to come again', async () => {
    const response = await until('a refusal', async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, () => send('other')));
      return answers.find((one) => one.statusCode === 429);
    });
    expect(response.json().code).toBe('rate_limited');
    expect(Number(response.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(response.headers['ratelimit-policy']).toBe('"caller";q=5;w=1');
  });
});

describe('a header that must be single', async () => {
  await server.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = server.app.server.address() as AddressInfo;
  const raw = (lines: string[]) =>
    new Promise<string>((done, failed) => {
      const socket = connect(port, '127.0.0.1');
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('end', () => done(text)).on('error', failed);
      socket.write(`${[...lines, 'connection: close'].join('\r\n')}\r\n\r\n`);
    });
  const authorization = `authorization: Bearer ${backend}`;

  test('Host or Authorization sent twice is refused, whoever asks and whatever for', async () => {
    const post = [`POST /authz/${tenant} HTTP/1.1`, 'host: a', authorization];
    expect(await raw(post)).toMatch(/^HTTP\/1.1 200/);
    expect(await raw([...post, 'HOST: b'])).toMatch(/^HTTP\/1.1 400[\s\S]*more than one Host header/);
    expect(await raw([...post, 'Authorization: Bearer x'])).toMatch(/^HTTP\/1.1 400[\s\S]*one Authorization header/);
    const get = ['GET /openapi.json HTTP/1.1', 'host: a'];
    expect(await raw(get)).toMatch(/^HTTP\/1.1 200/);
    expect(await raw([...get, 'host: a'])).toMatch(/^HTTP\/1.1 400[\s\S]*more than one Host header/);
  });
});

describe('the description of the API', () => {
  const get = (url: string, headers: Record<string, string> = {}) => server.app.inject({ url, headers });
  const unpacked = { br: brotliDecompressSync, gzip: gunzipSync, identity: (bytes: Buffer) => bytes };

  test.each(['/openapi.json', '/docs/json', '/docs/yaml'])('%s is made once, for each encoding', async (url) => {
    const made = vi.spyOn(server.app, 'swagger');
    const plain = await get(url);
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(url === '/docs/yaml' ? plain.body : plain.json()).toEqual(
      server.app.swagger({ yaml: url === '/docs/yaml' } as never),
    );
    made.mockClear();
    for (const [encoding, unpack] of Object.entries(unpacked)) {
      const { rawPayload, headers } = await get(url, { 'accept-encoding': encoding });
      expect([headers['content-encoding'] ?? 'identity', headers.etag, headers.vary]).toEqual([
        ...[encoding, plain.headers.etag, 'accept-encoding'],
      ]);
      expect(unpack(rawPayload).toString()).toBe(plain.body);
      expect(headers['content-length']).toBe(String(rawPayload.length));
    }
    const etag = String(plain.headers.etag);
    for (const known of [etag, `"other", ${etag.slice(2)}`, '*']) {
      const { statusCode, body } = await get(url, { 'if-none-match': known });
      expect([statusCode, body]).toEqual([304, '']);
    }
    expect((await get(url, { 'if-none-match': '"other"' })).statusCode).toBe(200);
    expect(made).not.toHaveBeenCalled();
    made.mockRestore();
  });
});

describe('Cache-Control', async () => {
  const member = await server.member(tenant, 'security-admin');
  const client = await server.client(tenant, 'pg:tenant:admin');
  const get = (url: string, token?: string) =>
    server.app.inject({ url, headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });

  test('no answer about persons may be kept, nor a refusal', async () => {
    expect((await ask()).headers['cache-control']).toBe('no-store');
    expect((await ask({ payload: 'x' })).headers['cache-control']).toBe('no-store');
    for (const [url, token, status] of [
      [`/${tenant}/actors`, client, 404],
      [`/${tenant}/consents`, client, 200],
      [`/${tenant}/consents/events`, client, 200],
      [`/${tenant}/consents/export`, client, 200],
      [`/${tenant}/relationships/export`, client, 200],
      [`/tenants/${tenant}/members`, member, 200],
      [`/tenants/${tenant}/decisions`, member, 200],
      [`/tenants/${tenant}/members`, undefined, 401],
      ['/nowhere', undefined, 404],
      ['/%ZZ', undefined, 400],
    ] as const) {
      const answer = await get(url, token);
      expect([answer.statusCode, answer.headers['cache-control']], url).toEqual([status, 'no-store']);
    }
  });

  test('keys and metadata may be', async () => {
    for (const path of ['oidc/jwks', '.well-known/jwks.json'])
      expect((await get(`/${tenant}/${path}`)).headers['cache-control'], path).toBe('public, max-age=300');
  });
});
