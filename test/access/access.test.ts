/**
 * The table "Who may call" of the API, a test for each cell: every caller at every class of route, with real tokens
 * of a real issuer whose keys are read over HTTP.
 */
import { connect } from 'node:net';
import Fastify from 'fastify';
import type { JWTPayload } from 'jose';
import { describe, expect, test } from 'vitest';
import { type Access, type Role, roles, type Scope, scopes } from '../../server/core/auth/schema.ts';
import { registerAccess } from '../../server/http/access.ts';
import type { App } from '../../server/http/fastify.ts';
import { deleteIssuer, putIssuer } from '../../server/issuers/index.ts';
import { mintClientToken, mintUserToken } from '../../server/keys/index.ts';
import { ensureLocalMember, mintPortalToken } from '../../server/members/index.ts';
import { startIdentityProvider } from '../core/auth/identity-provider.ts';
import { issuerSpec } from '../core/auth/tenant-auth.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { baseUrl, createTestApp, operator, send } from './test-app.ts';

const admin: readonly Role[] = ['security-admin'];
const editors: readonly Role[] = ['security-admin', 'config-editor'];

/** One route of each class that the API has. */
const routes: Record<string, Access> = {
  public: { api: 'public' },
  'config-read': { api: 'config', roles },
  'config-edit': { api: 'config', roles: editors },
  'config-admin': { api: 'config', roles: admin },
  ...Object.fromEntries(
    scopes.map((scope) => [`backend-${scope}`, { api: 'management', scope, users: false } as const]),
  ),
  ...Object.fromEntries(scopes.map((scope) => [`shared-${scope}`, { api: 'management', scope, users: true } as const])),
};

const pathOf = (route: string) => route.replaceAll(':', '.'); // a colon begins a parameter
const idp = await startIdentityProvider();
const key = await idp.addKey('one');
const server = await createTestApp(await createTestDatabase(), (app) => {
  for (const [name, access] of Object.entries(routes)) {
    app.get(`/x/:tenant/${pathOf(name)}`, { config: { access } }, async (request) => ({
      caller: request.caller?.kind ?? null,
    }));
  }
});
const { app, clock, keyed } = server;
await server.tenant('demo');
await server.tenant('other');
await putIssuer(
  { ...keyed, baseUrl },
  operator('idp'),
  'demo',
  'idp',
  issuerSpec({ issuer: idp.issuer, jwksUri: idp.jwksUri, clients: 'auth0' }),
);
await server.waitForRevision('demo');

const claims = (more: JWTPayload = {}): JWTPayload => ({
  iss: idp.issuer,
  sub: 'alice',
  aud: 'https://api.demo.example',
  exp: clock.seconds() + 3600,
  ...more,
});
const portalToken = async (tenant: string, role: Role) =>
  (await mintPortalToken(keyed, tenant, await ensureLocalMember(keyed, tenant, role), 'cli')).token;
const call = (name: string, token?: string, tenant = 'demo') =>
  send(app, 'GET', `/x/${tenant}/${pathOf(name)}`, token === undefined ? {} : { token });

const members = new Map<Role, string>();
for (const role of roles) members.set(role, await portalToken('demo', role));
const allScopes = scopes.join(' ');
const own = async (scope: Scope) =>
  (await mintClientToken(keyed, 'demo', { clientId: 'app', scopes: [scope], ttlMs: 3_600_000 })).token;
const trusted = (scope: string) => idp.sign(claims({ sub: 'app@clients', scope }));
const backends = new Map<string, string>();
for (const scope of scopes) {
  backends.set(`own issuer, ${scope}`, await own(scope));
  backends.set(`trusted issuer, ${scope}`, await trusted(scope));
}
backends.set('trusted issuer, no scope', await trusted(''));
const users = new Map<string, string>([
  ['own issuer', (await mintUserToken(keyed, 'demo', { userId: 'alice', ttlMs: 3_600_000 })).token],
  ['trusted issuer', await idp.sign(claims())],
  ['trusted issuer with every scope', await idp.sign(claims({ scope: allScopes, azp: 'app' }))],
  // Marks of clients of other providers than this issuer is.
  ['trusted issuer, sub is client_id', await idp.sign(claims({ scope: allScopes, sub: 'x', client_id: 'x' }))],
  ['trusted issuer, sub is azp', await idp.sign(claims({ scope: allScopes, sub: 'x', azp: 'x' }))],
]);
const wrong = new Map<string, string>([
  ['an invitation', await idp.sign(claims(), { typ: 'accord-invitation+jwt' })],
  ['a portal token of another issuer', await idp.sign(claims(), { typ: 'accord-portal+jwt' })],
  ['an expired token', await idp.sign(claims({ exp: clock.seconds() - 1 }))],
  [
    "another tenant's client",
    (await mintClientToken(keyed, 'other', { clientId: 'app', scopes: ['pg:tenant:admin'] })).token,
  ],
  ["another tenant's member", await portalToken('other', 'security-admin')],
  ['an unknown issuer', await idp.sign(claims({ iss: 'https://evil.example' }))],
  ['garbage', 'garbage'],
]);

const each = <T>(entries: Iterable<[string, T]>) =>
  [...entries].flatMap(([who, token]) =>
    Object.entries(routes).map(([route, access]) => [who, route, token, access] as const),
  );
const refused = (answer: { status: number; headers: Record<string, unknown> }) => {
  expect(answer.status).toBe(401);
  expect(answer.headers['www-authenticate']).toMatch(/^Bearer error="invalid_token", error_description="[^"]+"$/);
};

describe('members', () => {
  test.each(each(members))('%s at %s', async (role, route, token, access) => {
    const answer = await call(route, token);
    if (access.api === 'public') expect(answer).toMatchObject({ status: 200, body: { caller: null } });
    else if (access.api === 'management') refused(answer);
    else if (access.roles.includes(role as Role))
      expect(answer).toMatchObject({ status: 200, body: { caller: 'member' } });
    else expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  });
});

describe('back ends', () => {
  test.each(each(backends))('%s at %s', async (who, route, token, access) => {
    const answer = await call(route, token);
    const holds = access.api === 'management' && (who.endsWith(access.scope) || who.endsWith('pg:tenant:admin'));
    if (access.api === 'public') expect(answer).toMatchObject({ status: 200, body: { caller: null } });
    else if (access.api === 'config') refused(answer);
    else if (holds) expect(answer).toMatchObject({ status: 200, body: { caller: 'backend' } });
    else {
      expect(answer).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } });
      expect(answer.headers['www-authenticate']).toBe(`Bearer error="insufficient_scope", scope="${access.scope}"`);
    }
  });
});

describe('users', () => {
  test.each(each(users))('%s at %s', async (_, route, token, access) => {
    const answer = await call(route, token);
    if (access.api === 'public') expect(answer).toMatchObject({ status: 200, body: { caller: null } });
    else if (access.api === 'config') refused(answer);
    else if (access.users) expect(answer).toMatchObject({ status: 200, body: { caller: 'user' } });
    else expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  });
});

describe('wrong tokens', () => {
  test.each(each(wrong))('%s at %s', async (_, route, token, access) => {
    const answer = await call(route, token);
    if (access.api === 'public') expect(answer).toMatchObject({ status: 200, body: { caller: null } });
    else refused(answer);
  });
});

describe('nobody', () => {
  test.each(Object.entries(routes))('at %s', async (route, access) => {
    const answer = await call(route);
    if (access.api === 'public') return expect(answer).toMatchObject({ status: 200, body: { caller: null } });
    expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  });

  test.each(['Basic YTpi', 'Bearer', 'Token abc', 'abc'])('with the header %s', async (authorization) => {
    const answer = await send(app, 'GET', '/x/demo/config-read', { headers: { authorization } });
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  });

  test('with HEAD, which every GET route also answers', async () => {
    const head = (authorization?: string) =>
      app.inject({
        method: 'HEAD',
        url: '/x/demo/config-read',
        headers: authorization === undefined ? {} : { authorization },
      });
    expect((await head()).statusCode).toBe(401);
    expect((await head(`Bearer ${members.get('support')}`)).statusCode).toBe(200);
  });

  test('with a token in the query or as another scheme in small letters', async () => {
    const token = backends.get('own issuer, pg:tenant:admin') as string;
    expect((await send(app, 'GET', `/x/demo/shared-authz.evaluate?access_token=${token}`)).status).toBe(401);
    expect(
      (await send(app, 'GET', '/x/demo/shared-authz.evaluate', { headers: { authorization: `bearer ${token}` } }))
        .status,
    ).toBe(200);
  });

  test('with two Authorization headers', async () => {
    const address = await app.listen({ port: 0, host: '127.0.0.1' });
    const token = backends.get('own issuer, pg:tenant:admin') as string;
    const text = await new Promise<string>((done) => {
      let received = '';
      const socket = connect(Number(new URL(address).port), '127.0.0.1', () => {
        socket.write(
          `GET /x/demo/shared-authz.evaluate HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\nAuthorization: Bearer other\r\nconnection: close\r\n\r\n`,
        );
      });
      socket.on('data', (chunk) => {
        received += chunk;
      });
      socket.on('close', () => done(received));
    });
    expect(text).toContain('400 Bad Request');
    expect(text).toContain('more than one Authorization header');
  });
});

describe('tenants', () => {
  const token = () => backends.get('own issuer, pg:tenant:admin') as string;

  test.each(Object.keys(routes))('an unknown one is 404 for everybody at %s', async (route) => {
    for (const given of [undefined, token(), 'garbage']) {
      expect(await call(route, given, 'nobody')).toMatchObject({ status: 404, body: { code: 'tenant_not_found' } });
    }
  });

  test('a disabled one is the same 404, from then on, and its tokens are back when it is', async () => {
    await server.tenant('closing');
    const client = (await mintClientToken(keyed, 'closing', { clientId: 'app', scopes: ['authz:evaluate'] })).token;
    const member = await portalToken('closing', 'security-admin');
    expect((await call('shared-authz:evaluate', client, 'closing')).status).toBe(200);
    expect((await call('config-read', member, 'closing')).status).toBe(200);
    await server.disable('closing');
    const gone = await call('shared-authz:evaluate', client, 'closing');
    expect(gone).toMatchObject({ status: 404, body: { code: 'tenant_not_found' } });
    const unknown = await call('shared-authz:evaluate', client, 'nobody');
    expect(gone.body.detail).toBe(unknown.body.detail);
    expect((await call('config-read', member, 'closing')).status).toBe(404);
    await server.tenant('closing');
    expect((await call('shared-authz:evaluate', client, 'closing')).status).toBe(200);
  });

  test("an erased one's tokens do not open its successor of the same code", async () => {
    await server.tenant('phoenix');
    const client = (await mintClientToken(keyed, 'phoenix', { clientId: 'app', scopes: ['authz:evaluate'] })).token;
    const member = await portalToken('phoenix', 'security-admin');
    expect((await call('shared-authz:evaluate', client, 'phoenix')).status).toBe(200);
    await server.erase('phoenix');
    await server.tenant('phoenix');
    refused(await call('shared-authz:evaluate', client, 'phoenix'));
    refused(await call('config-read', member, 'phoenix'));
  });
});

describe('changes while it runs', () => {
  test('keys rotate without a restart', async () => {
    const two = await idp.addKey('two', 'RS256');
    const token = await idp.sign(claims(), {}, two);
    clock.advance(30_000);
    expect((await call('shared-authz:evaluate', token)).status).toBe(200);
    idp.removeKey('two');
  });

  test('an issuer that is trusted no longer is refused at once, cached tokens too', async () => {
    const second = issuerSpec({ issuer: `${idp.issuer}/second`, jwksUri: idp.jwksUri, actorIdPrefix: 'b-' });
    const services = { ...keyed, baseUrl };
    await putIssuer(services, operator('second'), 'demo', 'second', second);
    await server.waitForRevision('demo');
    const token = await idp.sign(claims({ iss: `${idp.issuer}/second` }), {}, key);
    expect((await call('shared-authz:evaluate', token)).status).toBe(200);
    expect((await call('shared-authz:evaluate', token)).status).toBe(200);
    await deleteIssuer(services, operator('second'), 'demo', 'second');
    await server.waitForRevision('demo');
    refused(await call('shared-authz:evaluate', token));
  });

  test("an issuer whose keys cannot be read is a 503, not the token's fault", async () => {
    await server.tenant('cut-off');
    const spec = issuerSpec({ issuer: 'http://127.0.0.1:9', jwksUri: 'http://127.0.0.1:9/keys' });
    await putIssuer({ ...keyed, baseUrl }, operator('x'), 'cut-off', 'x', spec);
    await server.waitForRevision('cut-off');
    const answer = await call(
      'shared-authz:evaluate',
      await idp.sign(claims({ iss: 'http://127.0.0.1:9' })),
      'cut-off',
    );
    expect(answer).toMatchObject({ status: 503, body: { code: 'issuer_unavailable' } });
    expect(answer.headers['retry-after']).toBe('5');
  });
});

describe('registration', () => {
  const services = {} as Parameters<typeof registerAccess>[1];
  const fresh = async () => {
    const bare = Fastify() as unknown as App;
    registerAccess(bare, services);
    return bare;
  };

  test('a route that does not state its access cannot be registered', async () => {
    const bare = await fresh();
    expect(() => bare.get('/tenants/:tenant/x', async () => ({}))).toThrow(
      'GET /tenants/:tenant/x does not state who may call it',
    );
  });

  test.each<Access>([
    { api: 'config', roles },
    { api: 'management', scope: 'authz:evaluate', users: true },
  ])('a route for callers of a tenant names it: $api', async (access) => {
    const bare = await fresh();
    expect(() => bare.get('/x', { config: { access } }, async () => ({}))).toThrow('names no tenant');
    expect(() => bare.get('/:tenants/x', { config: { access } }, async () => ({}))).toThrow('names no tenant');
  });

  test('an address without a route is 404 for everybody', async () => {
    expect((await send(app, 'GET', '/no/such/route')).status).toBe(404);
  });
});
