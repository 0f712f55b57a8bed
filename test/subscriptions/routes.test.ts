/** The Config API of event subscriptions: who may call it, what it shows, and secrets that are shown once. */
import { expect, test } from 'vitest';
import { systemClock } from '../../server/core/clock.ts';
import { limits } from '../../server/core/limits.ts';
import { putSubscription } from '../../server/subscriptions/actions.ts';
import { TestClock } from '../core/auth/test-clock.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer, manifestWriter } from '../helpers/server.ts';
import { dataOf, settingsOf } from './settings.ts';
import { subscriptionSpec } from './subscription.ts';

/** Its instants go on when they are told to; what waits for a while waits for so long. */
class WallClock extends TestClock {
  override monotonic = () => systemClock.monotonic();
}
const clock = new WallClock();
const env = { ACCORD_RATE_LIMIT: '100000', ACCORD_OUTBOUND_ALLOW: '127.0.0.1,10.1.0.0/16' };
const server = await createTestServer(env, undefined, clock);
const { app, services } = server;

type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';

async function tenantOf(role: Parameters<typeof server.member>[1] = 'security-admin') {
  const tenant = await server.tenant();
  const token = await server.member(tenant, role);
  const call = async (method: Method, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const answer = await app.inject({
      ...{ method, url: `/tenants/${tenant}/event-stream/subscriptions${path}` },
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(body === undefined ? {} : { payload: body as object }),
    });
    return { status: answer.statusCode, headers: answer.headers, body: answer.json() };
  };
  const settings = (id: string) => settingsOf(services, tenant, id);
  return { tenant, call, settings };
}

const endpoint = 'https://hooks.example/accord';
const all = { endpoint, eventTypes: ['*'] };
const whsec = /^whsec_[A-Za-z0-9+/]{43}=$/;

test('subscriptions are made, read, listed, changed and deleted', async () => {
  const { tenant, call } = await tenantOf();
  const made = await call('POST', '', all);
  const { id } = made.body;
  expect(made).toMatchObject({
    status: 201,
    body: { id: expect.any(String), signingSecret: expect.stringMatching(whsec) },
  });
  expect(made.headers).toMatchObject({
    ...{ location: `/tenants/${tenant}/event-stream/subscriptions/${id}`, 'cache-control': 'no-store' },
    etag: expect.any(String),
  });
  expect((await call('GET', '')).body.resources).toEqual([id]);
  const got = await call('GET', `/${id}`);
  expect(got.headers.etag).toBe(made.headers.etag);
  expect(got.body).toEqual({
    delivery: { state: 'active', cursor: expect.any(Number), waiting: expect.any(Number) },
    ...{ id, ...all, format: 'cloudevents', maxPerSecond: 100, numberOfRetries: 9, handshake: false },
    ...{ auth: { type: 'none' }, enabled: true, signingSecrets: [{ createdAt: expect.any(String) }] },
    ...{ revision: expect.any(Number), createdAt: expect.any(String), updatedAt: expect.any(String) },
    ...{ updatedBy: 'member:security-admin@localhost', managedBy: 'api' },
  });
  const same = await call('PUT', `/${id}`, { ...all, enabled: true }, { 'if-match': String(got.headers.etag) });
  expect(same).toMatchObject({ status: 200, body: {} });
  expect(same.headers['accord-revision']).toBe(made.headers['accord-revision']);
  const changed = {
    ...{ endpoint, eventTypes: ['RELATIONSHIP_*', 'INVITATION_CREATED'], format: 'cloudevents-batch', enabled: false },
    ...{ filters: { actorTypes: ['user'], resourceTypes: ['car'] }, maxPerSecond: 5, numberOfRetries: 0 },
  };
  expect((await call('PUT', `/${id}`, changed)).status).toBe(200);
  expect((await call('GET', `/${id}`)).body).toMatchObject(changed);
  expect((await call('PUT', `/${id}`, all, { 'if-match': '"1"' })).body.code).toBe('precondition_failed');
  const named = await call('PUT', '/named', all);
  expect(named).toMatchObject({ status: 201, body: { id: 'named', signingSecret: expect.stringMatching(whsec) } });
  expect((await call('GET', '')).body.resources).toEqual([id, 'named'].sort());
  for (const one of [id, 'named']) expect((await call('DELETE', `/${one}`)).status).toBe(200);
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/secret/rotate'],
  ] as const)
    expect((await call(method, `/${id}${path}`)).body.code).toBe('subscription_not_found');
});

test('filters by types that the tenant does not have are stored, and each answer says so until it has them', async () => {
  const { tenant, call } = await tenantOf();
  const filters = { actorTypes: ['user', 'robot'], resourceTypes: ['car'] };
  const warning = (pointer: string, type: string) => ({ pointer, detail: expect.stringContaining(`no type ${type}.`) });
  const warnings = [warning('/filters/actorTypes/1', 'robot'), warning('/filters/resourceTypes/0', 'car')];
  const made = await call('POST', '', { ...all, filters });
  expect(made).toMatchObject({ status: 201, body: { warnings } });
  const { id } = made.body;
  expect((await call('GET', `/${id}`)).body.warnings).toEqual(warnings);
  expect((await call('PUT', `/${id}`, { ...all, filters, maxPerSecond: 7 })).body).toEqual({ warnings });
  const headers = { authorization: `Bearer ${await server.member(tenant, 'security-admin')}` };
  for (const type of ['actor-types/robot', 'resource-types/car'])
    expect(
      (await app.inject({ method: 'PUT', url: `/tenants/${tenant}/${type}`, headers, payload: {} })).statusCode,
    ).toBe(200);
  expect((await call('GET', `/${id}`)).body.warnings).toBeUndefined();
  expect((await call('PUT', `/${id}`, { ...all, filters, maxPerSecond: 8 })).body).toEqual({});
});

test('only a security-admin writes subscriptions: events hold what others see masked', async () => {
  for (const role of ['config-editor', 'config-viewer', 'support'] as const) {
    const { call } = await tenantOf(role);
    expect((await call('GET', '')).status).toBe(200);
    for (const [method, path, body] of [
      ['POST', '', all],
      ['PUT', '/a', all],
      ['DELETE', '/a', undefined],
      ['POST', '/a/secret/rotate', undefined],
    ] as const)
      expect((await call(method, path, body)).body.code, `${role} ${method} ${path}`).toBe('forbidden');
  }
});

const literal = (host: string, scheme = 'https') => ({ ...all, endpoint: `${scheme}://${host}/accord` });
const bearer = { type: 'bearer', token: 'abc' };

test.each<[object, string, string?]>([
  [{}, '/endpoint'],
  [{ ...all, eventTypes: [] }, '/eventTypes'],
  [{ ...all, eventTypes: ['NO_SUCH'] }, '/eventTypes/0'],
  [{ ...all, eventTypes: ['*', 'NO_SUCH_*'] }, '/eventTypes/1'],
  [{ ...all, eventTypes: ['*_CREATED'] }, '/eventTypes/0'],
  [{ ...all, maxPerSecond: 0 }, '/maxPerSecond'],
  [{ ...all, numberOfRetries: limits.endpointRetriesMax + 1 }, '/numberOfRetries'],
  [{ ...all, format: 'xml' }, '/format'],
  [{ ...all, paused: true }, '/paused'],
  [{ ...all, secretRef: { name: 'a' } }, '/secretRef'],
  [{ ...all, signingSecret: 'whsec_chosen' }, '/signingSecret'],
  [{ ...all, filters: { actorTypes: ['a b'] } }, '/filters/actorTypes/0'],
  [{ ...all, endpoint: 'https://user:pass@hooks.example/' }, '/endpoint'],
  [{ ...all, endpoint: 'https://hooks.example/#secret' }, '/endpoint'],
  [{ ...all, endpoint: 'ftp://hooks.example/' }, '/endpoint'],
  [{ ...all, endpoint: 'https://hooks.example/?api_key=query-secret' }, '/endpoint'],
  [{ ...all, endpoint: 'https://hooks.example/?a=b&Access-Token=query-secret' }, '/endpoint'],
  [literal('192.168.0.1'), '/endpoint'],
  [literal('169.254.169.254'), '/endpoint'],
  [literal('127.0.0.2'), '/endpoint'],
  [literal('[::1]'), '/endpoint'],
  [literal('[::ffff:192.168.0.1]'), '/endpoint'],
  [literal('[64:ff9b::c0a8:1]'), '/endpoint'],
  [literal('3232235521'), '/endpoint'],
  [literal('0xc0.0xa8.0.1'), '/endpoint'],
  [literal('93.184.215.14', 'http'), '/endpoint'],
  [{ ...all, auth: { type: 'bearer' } }, '/auth/token'],
  [{ ...all, auth: { type: 'none', token: 'abc' } }, '/auth/token'],
  [{ ...all, auth: { ...bearer, password: 'abc' } }, '/auth/password'],
  [{ ...all, auth: { ...bearer, username: 'abc' } }, '/auth'],
  [{ ...all, auth: { type: 'bearer', token: 'a b' } }, '/auth/token'],
  [{ ...all, auth: { type: 'bearer', token: 'a\r\nb' } }, '/auth/token'],
  [{ ...all, auth: { type: 'basic', username: 'a:b', password: 'c' } }, '/auth/username'],
  [{ ...all, auth: { type: 'basic', password: 'c' } }, '/auth'],
  [
    { ...all, auth: { type: 'oauth2', tokenUrl: 'https://10.2.0.1/token', clientId: 'a', clientSecret: 'b' } },
    '/auth/tokenUrl',
  ],
  [{ ...all, auth: { type: 'oauth2', clientId: 'a', clientSecret: 'b' } }, '/auth'],
  [all, '/params/id', 'a%20b'],
  [all, '/params/id', 'A'],
])('a wrong body is refused with its place: %j', async (body, pointer, id) => {
  const { call } = await tenantOf();
  const answer = await (id === undefined ? call('POST', '', body) : call('PUT', `/${id}`, body));
  expect(answer.status, JSON.stringify(answer.body)).toBe(400);
  expect(answer.body.errors.map((place: { pointer: string }) => place.pointer)).toContain(pointer);
  expect(JSON.stringify(answer.body)).not.toMatch(/query-secret|pass@/);
  expect((await call('GET', '')).body.resources).toEqual([]);
});

test('an address of ACCORD_OUTBOUND_ALLOW may be an endpoint, by http too', async () => {
  const { call } = await tenantOf();
  for (const body of [
    literal('127.0.0.1:8080', 'http'),
    literal('10.1.2.3', 'http'),
    literal('10.1.2.3'),
    literal('hooks.test', 'http'),
  ])
    expect((await call('POST', '', body)).status).toBe(201);
});

test('the signing secret is stored encrypted, shown once, and rotated with a day of both', async () => {
  const { tenant, call, settings } = await tenantOf();
  const made = (await call('POST', '', all)).body;
  const { id } = made;
  expect((await settings(id))?.signingSecrets).toEqual([made.signingSecret]);
  const rotated = await call('POST', `/${id}/secret/rotate`);
  expect(rotated).toMatchObject({ status: 200, body: { id, signingSecret: expect.stringMatching(whsec) } });
  expect(rotated.headers['cache-control']).toBe('no-store');
  const { signingSecret: second, previousExpiresAt } = rotated.body;
  expect(Date.parse(previousExpiresAt)).toBe(clock.now() + limits.signingSecretOverlapMs);
  expect((await settings(id))?.signingSecrets).toEqual([second, made.signingSecret]);
  const shown = (await call('GET', `/${id}`)).body;
  expect(shown.signingSecrets).toEqual([
    { createdAt: expect.any(String) },
    { createdAt: expect.any(String), expiresAt: previousExpiresAt },
  ]);
  const [row] = await asAdmin(server.db.adminUrl, `select * from accord.event_subscription where tenant = '${tenant}'`);
  const audit = await asAdmin(server.db.adminUrl, `select * from accord.audit_entry where tenant = '${tenant}'`);
  const everywhere = JSON.stringify([shown, row, audit]) + String((row as { secrets: Buffer }).secrets);
  for (const secret of [made.signingSecret, second]) expect(everywhere).not.toContain(secret.slice(6));
  // Rotating twice ends the oldest one.
  const last = (await call('POST', `/${id}/secret/rotate`)).body.signingSecret;
  const now = (await settings(id))?.signingSecrets;
  expect(now).toEqual([last, second]);
  clock.advance(limits.signingSecretOverlapMs - 1);
  expect((await settings(id))?.signingSecrets).toEqual([last, second]);
  clock.advance(1);
  expect((await settings(id))?.signingSecrets).toEqual([last]);
});

test('a request with an Idempotency-Key makes one subscription, and its secret is not stored', async () => {
  const { tenant, call } = await tenantOf();
  const headers = { 'idempotency-key': 'make-1' };
  const first = await call('POST', '', all, headers);
  const second = await call('POST', '', all, headers);
  expect(first.status).toBe(201);
  expect((await call('GET', '')).body.resources).toEqual([first.body.id]);
  expect(JSON.stringify(second.body)).not.toContain(first.body.signingSecret);
  const rows = await asAdmin(server.db.adminUrl, `select * from accord.idempotency_key where tenant = '${tenant}'`);
  expect(JSON.stringify(rows)).not.toContain(first.body.signingSecret);
});

test('the secret of the authentication is never shown, stays, and does not move to another address', async () => {
  const { call, settings } = await tenantOf();
  const basic = { ...all, auth: { type: 'basic', username: 'accord', password: 'hunter2' } };
  const { id } = (await call('POST', '', basic)).body;
  expect((await call('GET', `/${id}`)).body.auth).toEqual({ type: 'basic', username: 'accord' });
  expect((await settings(id))?.auth).toEqual({ type: 'basic', username: 'accord', password: 'hunter2' });
  const without = { ...basic, auth: { type: 'basic', username: 'accord' } };
  expect((await call('PUT', `/${id}`, { ...without, maxPerSecond: 7 })).status).toBe(200);
  expect(await settings(id)).toMatchObject({ maxPerSecond: 7, auth: { password: 'hunter2' } });
  for (const body of [
    { ...without, endpoint: 'https://elsewhere.example/' },
    { ...without, auth: { type: 'basic', username: 'other' } },
    { ...without, auth: { type: 'bearer' } },
  ]) {
    expect((await call('PUT', `/${id}`, body)).body.code).toBe('endpoint_secret_missing');
  }
  expect(await settings(id)).toMatchObject({ endpoint, auth: { password: 'hunter2' } });
  const oauth2 = {
    ...{ type: 'oauth2', tokenUrl: 'https://login.example/token', clientId: 'accord', clientSecret: 's3cret' },
    scope: 'hooks:write',
  };
  expect((await call('PUT', `/${id}`, { ...all, auth: oauth2 })).status).toBe(200);
  expect((await settings(id))?.auth).toEqual(oauth2);
  const { clientSecret: _, ...bare } = oauth2;
  expect((await call('GET', `/${id}`)).body.auth).toEqual(bare);
  const moved = { ...all, auth: { ...bare, tokenUrl: 'https://elsewhere.example/token' } };
  expect((await call('PUT', `/${id}`, moved)).body.code).toBe('endpoint_secret_missing');
  expect((await call('PUT', `/${id}`, all)).status).toBe(200);
  expect((await settings(id))?.auth).toEqual({ type: 'none' });
  expect((await call('PUT', `/${id}`, { ...all, auth: bare })).body.code).toBe('endpoint_secret_missing');
});

test('a tenant has at most limits.subscriptionsMax subscriptions', async () => {
  const { tenant, call } = await tenantOf();
  const writer = { owner: { source: 'api' as const }, actor: 'cli' };
  for (let n = 0; n < limits.subscriptionsMax; n++)
    await putSubscription(services.subscriptions, writer, tenant, `s${n}`, subscriptionSpec());
  const refused = await call('POST', '', all);
  expect(refused).toMatchObject({ status: 409, body: { code: 'subscription_quota_reached' } });
  expect((await call('PUT', '/s0', { ...all, maxPerSecond: 3 })).status).toBe(200);
  await call('DELETE', '/s0');
  expect((await call('POST', '', all)).status).toBe(201);
});

test('what a manifest owns is not changed here, its secret neither', async () => {
  const { tenant, call } = await tenantOf();
  await putSubscription(services.subscriptions, manifestWriter, tenant, 'hooks', subscriptionSpec());
  for (const [method, path, body] of [
    ['PUT', '/hooks', all],
    ['POST', '/hooks/secret/rotate', undefined],
    ['DELETE', '/hooks', undefined],
  ] as const)
    expect((await call(method, path, body)).body.code).toBe('owned_by_manifest');
  expect((await call('GET', '/hooks')).body.managedBy).not.toBe('api');
});

test('each change is audited and is an event, without secrets', async () => {
  const { tenant, call } = await tenantOf();
  const { id } = (await call('POST', '', { ...all, auth: { type: 'bearer', token: 'hunter2' } })).body;
  await call('POST', `/${id}/secret/rotate`);
  await call('DELETE', `/${id}`);
  const told = await dataOf(server.db.adminUrl, tenant, `event_subscription/${id}`);
  expect(told.map(({ action }) => action)).toEqual(['put', 'rotate_secret', 'delete']);
  const audit = await asAdmin<{ action: string }>(
    server.db.adminUrl,
    `select action from accord.audit_entry where tenant = '${tenant}' and object_kind = 'event_subscription'`,
  );
  expect(audit.map(({ action }) => action).sort()).toEqual(['delete', 'put', 'rotate_secret']);
  expect(JSON.stringify([told, audit])).not.toMatch(/hunter2|whsec_/);
});
