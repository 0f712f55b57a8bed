/** Bounds of what a request to the authorization server may say, of how much of it is kept, and of which methods there are. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { Beginnings } from '../../server/oidc/beginnings.ts';
import { tooLong } from '../../server/oidc/parameters.ts';
import { asAdmin } from '../helpers/admin.ts';
import { basic, callback, createOidcServer } from './relying-party.ts';

let stoodStill: number | undefined;
const clock = { now: () => Date.now(), monotonic: () => stoodStill ?? performance.now() };
const server = await createOidcServer({ ACCORD_TRUST_PROXY: '127.0.0.1' }, { clock });
const { post, origin } = server;
const tenant = await server.tenant();
const left = 'https://app.test/left?by=log-out';
const secret = (await server.register(tenant, 'web', {
  grantTypes: ['authorization_code'],
  redirectUris: [callback],
  postLogoutRedirectUris: [left],
  scopes: ['openid'],
})) as string;
await server.register(tenant, 'app', {
  grantTypes: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
  redirectUris: ['http://127.0.0.1/cb'],
  scopes: ['openid'],
  applicationType: 'native',
  tokenEndpointAuthMethod: 'none',
});
const machine = basic('web', secret);
const asked = { client_id: 'web', response_type: 'code', scope: 'openid', redirect_uri: callback };
const { oidcParameterCharsMax: most, oidcLongParameterCharsMax: longest, authorizationRequestCharsMax: all } = limits;

const authorize = async (parameters: Record<string, string>, headers: Record<string, string> = {}) => {
  const url = `${origin}/${tenant}/oidc/authorize?${new URLSearchParams(parameters)}`;
  const response = await fetch(url, { headers: { accept: 'text/html', ...headers }, redirect: 'manual' });
  return { status: response.status, location: response.headers.get('location') ?? '', text: await response.text() };
};
const rows = (model: string) =>
  asAdmin<{ n: number; bytes: number }>(
    server.db.adminUrl,
    `select count(*)::int n, coalesce(max(length(payload)), 0)::int bytes from accord.oidc_record
      where tenant = '${tenant}' and model = '${model}'`,
  ).then(([row]) => row as { n: number; bytes: number });

/** Others of the network took whatever it may begin, and no time passes in which it may begin more. */
async function whileUsedUp<T>(model: string, ip: string, work: () => Promise<T>): Promise<T> {
  const { beginnings } = server.services.oidc as unknown as { beginnings: Beginnings };
  stoodStill = performance.now();
  while (beginnings.take(tenant, model, ip));
  return work().finally(() => {
    stoodStill = undefined;
  });
}

describe('oversized parameters', () => {
  test('oidcParametersMax: one parameter that is repeated thousands of times is refused before it is read', async () => {
    const repeated = (count: number) => Array.from({ length: count }, () => `a=${'x'.repeat(20)}`).join('&');
    expect(tooLong(repeated(limits.oidcParametersMax), true)).toBeUndefined();
    expect(tooLong(repeated(limits.oidcParametersMax + 1), false)).toBe('there must be at most 100 parameters');
    const response = await fetch(`${origin}/${tenant}/oidc/authorize?${'a=1&'.repeat(3000)}`);
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('at most 100 parameters')]);
  });

  test('oidcParameterCharsMax: at the authorization endpoint one more is a page, and the browser is sent nowhere', async () => {
    expect((await authorize({ ...asked, state: 's'.repeat(most) })).location).toContain('/oidc/interaction/');
    const more = await authorize({ ...asked, state: 's'.repeat(most + 1) });
    expect([more.status, more.location]).toEqual([400, '']);
    expect(more.text).toContain('invalid_request');
    expect(more.text).toContain(`state must have at most ${most} characters`);
  });

  test.each(['nonce', 'login_hint', 'ui_locales', 'redirect_uri', 'code_challenge', 'resource', 'client_id'])(
    'of %s too, at each endpoint',
    async (name) => {
      const long = { ...asked, [name]: 'x'.repeat(most + 1) };
      expect((await authorize(long)).status).toBe(400);
      for (const path of ['/oidc/par', '/oidc/device/authorize', '/oidc/token']) {
        const { status, body } = await post(tenant, path, long, machine);
        expect([path, status, body]).toEqual([
          path,
          400,
          { error: 'invalid_request', error_description: `${name} must have at most ${most} characters` },
        ]);
      }
    },
  );

  test('oidcLongParameterCharsMax: of a token', async () => {
    const ask = (chars: number) => post(tenant, '/oidc/introspection', { token: 'x'.repeat(chars) }, machine);
    expect(await ask(longest)).toMatchObject({ status: 200, body: { active: false } });
    expect(await ask(longest + 1)).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    const json = JSON.stringify({ token: 'x'.repeat(longest + 1) });
    const headers = { ...machine, 'content-type': 'application/json' };
    expect(await post(tenant, '/oidc/introspection', json, headers)).toMatchObject({ status: 400 });
  });

  test('authorizationRequestCharsMax: what is kept of a request, pushed or not, is bounded together', async () => {
    const { claims, ...used } = { ...asked, claims: '', nonce: '' };
    const base = Object.values(used).join('').length + '{"userinfo":{"x":null}}'.length;
    const filled = (chars: number) => ({
      ...used,
      claims: `{"userinfo":{"x${'y'.repeat(chars - base)}":null}}`,
    });
    const fits = await post(tenant, '/oidc/par', filled(all), machine);
    expect([fits.status, fits.body.error]).toEqual([201, undefined]);
    expect(await post(tenant, '/oidc/par', filled(all + 1), machine)).toMatchObject({
      status: 400,
      body: {
        error: 'invalid_request',
        error_description: `the parameters must have at most ${all} characters together`,
      },
    });
    const pushed = { client_id: 'web', request_uri: fits.body.request_uri as string };
    expect((await authorize(pushed)).location).toContain('/oidc/interaction/');
    for (const model of ['PushedAuthorizationRequest', 'Interaction'])
      expect((await rows(model)).bytes, model).toBeLessThan(2 * all);
  });

  test('what nobody knows is ignored, however long it is, and is not kept', async () => {
    const before = await rows('PushedAuthorizationRequest');
    expect((await post(tenant, '/oidc/par', { ...asked, unknown: 'x'.repeat(40_000) }, machine)).status).toBe(201);
    const after = await rows('PushedAuthorizationRequest');
    expect(after).toEqual({ n: before.n + 1, bytes: before.bytes });
    expect(tooLong(`state=${'%41'.repeat(most)}`, true)).toBeUndefined();
  });

  test('a body that is too large is an error of OAuth', async () => {
    const large = `${new URLSearchParams(asked)}&x=${'x'.repeat(limits.oidcBodyBytesMax)}`;
    expect(await post(tenant, '/oidc/par', large, machine)).toMatchObject({
      status: 413,
      body: { error: 'invalid_request', error_description: expect.stringContaining('bytes') },
    });
  });

  test.each(['client_id', 'response_type', 'scope', 'redirect_uri'])(
    'repeated: %s is refused at the authorization endpoint and where it is pushed',
    async (name) => {
      const twice = `${new URLSearchParams(asked)}&${name}=other`;
      const { status, body } = await post(tenant, '/oidc/par', twice, machine);
      expect([status, body.error]).toEqual([400, 'invalid_request']);
      const url = `${origin}/${tenant}/oidc/authorize?${twice}`;
      const visited = await fetch(url, { headers: { accept: 'text/html' }, redirect: 'manual' });
      const to = visited.headers.get('location');
      expect([visited.status, to === null ? 'invalid_request' : new URL(to).searchParams.get('error')]).toEqual([
        to === null ? 400 : 303,
        'invalid_request',
      ]);
    },
  );
});

test.each(['http://127.0.0.1:99999/cb', 'http://127.0.0.1:65536/cb', 'http://127.0.0.1:00000/cb'])(
  'a redirect URI with a port that there is not (%s) is refused, and is no error of the server',
  async (uri) => {
    const parameters = { ...asked, client_id: 'app', redirect_uri: uri, code_challenge_method: 'S256' };
    const { status, location } = await authorize({ ...parameters, code_challenge: 'x'.repeat(43) });
    if (uri.includes('00000')) return expect(status).toBe(303);
    expect([status, location]).toEqual([400, '']);
    const pushed = await post(tenant, '/oidc/par', { ...parameters, code_challenge: 'x'.repeat(43) });
    expect([pushed.status, pushed.body.error]).toEqual([400, 'invalid_request']);
  },
);

describe('what a network begins', () => {
  const clock = { monotonic: () => now };
  let now = 0;

  test.each([
    ['Interaction', limits.beginningsPerSecondMax],
    ['DeviceCode', limits.beginningsPerSecondMax],
    ['Session', limits.beginningsPerSecondMax],
    ['PushedAuthorizationRequest', limits.pushedRequestsPerSecondMax],
  ])(
    '%s: beginningsBurstMax at once, then so many a second; of another network, tenant and kind apart',
    (model, rate) => {
      const beginnings = new Beginnings(clock);
      for (let i = 0; i < limits.beginningsBurstMax; i++) expect(beginnings.take('a', model, '192.0.2.1')).toBe(true);
      expect(beginnings.take('a', model, '192.0.2.1')).toBe(false);
      expect(beginnings.take('a', model, '198.51.100.1')).toBe(true);
      expect(beginnings.take('b', model, '192.0.2.1')).toBe(true);
      expect(beginnings.take('a', model === 'DeviceCode' ? 'Interaction' : 'DeviceCode', '192.0.2.1')).toBe(true);
      expect(beginnings.take('a', 'RefreshToken', '192.0.2.1')).toBe(true);
      now += 1000;
      for (let i = 0; i < rate; i++) expect(beginnings.take('a', model, '192.0.2.1')).toBe(true);
      expect(beginnings.take('a', model, '192.0.2.1')).toBe(false);
    },
  );

  test('past it, nothing is stored: the application is told temporarily_unavailable, and other networks log in', async () => {
    const from = (ip: string) => ({ 'x-forwarded-for': ip });
    const before = await rows('Interaction');
    const { location } = await whileUsedUp('Interaction', '203.0.113.7', () =>
      authorize({ ...asked, state: 's' }, from('203.0.113.7')),
    );
    expect(new URL(location).searchParams.get('error')).toBe('temporarily_unavailable');
    expect(await rows('Interaction')).toEqual(before);
    for (const [model, path, headers] of [
      ['DeviceCode', '/oidc/device/authorize', {}],
      ['PushedAuthorizationRequest', '/oidc/par', machine],
    ] as const) {
      const pushed = model === 'DeviceCode' ? { client_id: 'app' } : asked;
      const answer = await whileUsedUp(model, '203.0.113.7', () =>
        post(tenant, path, pushed, { ...from('203.0.113.7'), ...headers }),
      );
      expect(answer).toMatchObject({ status: 400, body: { error: 'temporarily_unavailable' } });
    }
    expect((await authorize({ ...asked, state: 's' }, from('203.0.114.7'))).location).toContain('/oidc/interaction/');
  });
});

describe('sessions of nobody', () => {
  const visit = async (path: string, cookie = '') => {
    const headers = { accept: 'text/html', cookie, 'x-forwarded-for': '198.51.100.9' };
    const response = await fetch(`${origin}/${tenant}/oidc${path}`, { headers, redirect: 'manual' });
    return { response, text: await response.text() };
  };
  const lasts = () =>
    asAdmin<{ n: number; ms: number }>(
      server.db.adminUrl,
      `select count(*)::int n, coalesce(max(extract(epoch from expires_at - now()) * 1000), 0)::float8 ms
        from accord.oidc_record where tenant = '${tenant}' and model = 'Session'`,
    ).then(([row]) => row as { n: number; ms: number });

  test('logging out nobody keeps nothing, asks nothing and runs no script: it leads where a log-out leads', async () => {
    const { n } = await lasts();
    const { response, text } = await visit('/end-session');
    expect([response.status, response.headers.getSetCookie()]).toEqual([200, []]);
    expect(text).not.toContain('<script');
    expect(text).toContain('<h1>You are logged out');
    expect(response.headers.get('content-security-policy')).toContain("form-action 'self'");
    const there = new URLSearchParams({ client_id: 'web', post_logout_redirect_uri: left, state: 's&1' });
    const redirected = await visit(`/end-session?${there}`);
    expect([redirected.response.status, redirected.response.headers.get('location')]).toEqual([
      303,
      `${left}&state=s%261`,
    ]);
    const elsewhere = new URLSearchParams({ client_id: 'web', post_logout_redirect_uri: 'https://evil.test/' });
    expect((await visit(`/end-session?${elsewhere}`)).response.status).toBe(400);
    expect((await lasts()).n).toBe(n);
  });

  test('what a form of a page is compared with is kept for the time of a log-in, and counted', async () => {
    const { response } = await visit('/device');
    expect(response.status).toBe(200);
    const { n, ms } = await lasts();
    expect(ms).toBeLessThanOrEqual(limits.interactionTtlMs);
    const refused = await whileUsedUp('Session', '198.51.100.9', () => visit('/device'));
    expect(refused.response.status).toBeGreaterThanOrEqual(400);
    expect((await lasts()).n).toBe(n);
  });
});

describe('other methods', () => {
  test.each([
    ['/oidc/token', 'GET', 'POST'],
    ['/oauth/token', 'GET', 'POST'],
    ['/oidc/par', 'PUT', 'POST'],
    ['/oidc/revocation', 'DELETE', 'POST'],
    ['/oidc/userinfo', 'PATCH', 'GET, POST'],
    ['/oidc/authorize', 'PUT', 'GET, POST'],
    ['/oidc/jwks', 'POST', 'GET'],
    ['/oidc/.well-known/openid-configuration', 'POST', 'GET'],
    ['/oidc/end-session/confirm', 'GET', 'POST'],
    ['/oidc/interaction/x/log-in', 'GET', 'POST'],
    ['/account', 'DELETE', 'GET'],
    ['/account/reset', 'PUT', 'GET, POST'],
  ])('%s by %s: 405, and Allow has those that there are', async (path, method, allow) => {
    for (const type of [{}, { 'content-type': 'text/plain' }] as Record<string, string>[]) {
      const body = method === 'GET' ? {} : { body: 'x' };
      const response = await fetch(`${origin}/${tenant}${path}`, {
        method,
        headers: { ...type, origin: 'https://a.test' },
        ...body,
      });
      expect([response.status, response.headers.get('access-control-allow-methods')]).toEqual([405, null]);
      const allowed = (response.headers.get('allow') ?? '')
        .split(', ')
        .filter((one) => one !== 'HEAD' && one !== 'OPTIONS');
      expect(allowed.toSorted().join(', ')).toBe(allow);
      expect(await response.json()).toMatchObject({ code: 'method_not_allowed', status: 405 });
    }
  });

  test('an address that there is not stays one', async () => {
    expect((await fetch(`${origin}/${tenant}/oidc/nothing`, { method: 'PUT' })).status).toBe(404);
    expect((await fetch(`${origin}/nobody/oidc/token`)).status).toBe(404);
  });
});
