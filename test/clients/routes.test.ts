/** The Config API of clients: who may call it, what it shows, and secrets that are shown once. */
import { describe, expect, test } from 'vitest';
import { deleteClient, putClient, verifyClientSecret } from '../../server/clients/index.ts';
import { mintClientToken } from '../../server/keys/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer, manifestWriter } from '../helpers/server.ts';
import { clientSpec, spa } from './client.ts';

const server = await createTestServer({ ACCORD_RATE_LIMIT: '100000' });
const { app, services } = server;

type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';

async function tenantOf(role: Parameters<typeof server.member>[1] = 'security-admin') {
  const tenant = await server.tenant();
  const token = await server.member(tenant, role);
  const call = async (method: Method, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const answer = await app.inject({
      ...{ method, url: `/tenants/${tenant}/clients${path}` },
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(body === undefined ? {} : { payload: body as object }),
    });
    return { status: answer.statusCode, headers: answer.headers, body: answer.json() };
  };
  const verifies = (value: string) => {
    const snapshot = services.snapshot.snapshotOf(tenant);
    const client = snapshot.clients.get('app');
    return client !== undefined && verifyClientSecret(services.clients, snapshot, client, value, Date.now());
  };
  return { tenant, call, verifies };
}

const backend = { grantTypes: ['client_credentials'], scopes: ['pg:tenant:admin'] };

test('clients are put, read, listed and deleted', async () => {
  const { tenant, call } = await tenantOf();
  const put = await call('PUT', '/app', backend);
  expect(put).toMatchObject({ status: 200, body: {} });
  expect((await call('GET', '')).body).toEqual({ resources: ['app'], links: { self: `/tenants/${tenant}/clients` } });
  const got = await call('GET', '/app');
  expect(got.headers.etag).toBe(put.headers.etag);
  expect(got.body).toEqual({
    ...{ clientId: 'app', enabled: true, applicationType: 'web', grantTypes: ['client_credentials'] },
    ...{ scopes: ['pg:tenant:admin'], tokenEndpointAuthMethod: 'client_secret_basic' },
    ...{ dpopBoundAccessTokens: false, requirePushedAuthorizationRequests: false, firstParty: false },
    ...{ secrets: [], revision: expect.any(Number), updatedAt: expect.any(String) },
    ...{ updatedBy: 'member:security-admin@localhost', managedBy: 'api' },
  });
  const same = await call('PUT', '/app', { ...backend, enabled: true }, { 'if-match': String(put.headers.etag) });
  expect(same.headers['accord-revision']).toBe(put.headers['accord-revision']);
  expect((await call('PUT', '/app', backend, { 'if-match': '"1"' })).body.code).toBe('precondition_failed');
  expect((await call('DELETE', '/app')).status).toBe(200);
  for (const method of ['GET', 'DELETE'] as const)
    expect((await call(method, '/app')).body.code).toBe('client_not_found');
});

test('If-None-Match: * makes a client once, and leaves one that is there with its secret', async () => {
  const { call, verifies } = await tenantOf();
  const make = (body: object) => call('PUT', '/app', body, { 'if-none-match': '*' });
  const both = await Promise.all([make(backend), make({ ...backend, displayName: 'Another' })]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
  const { clientSecret } = (await call('POST', '/app/secrets')).body;
  const late = await make(spa);
  expect(late.body).toMatchObject({ code: 'precondition_failed', detail: expect.stringContaining('If-None-Match') });
  expect((await call('GET', '/app')).body).toMatchObject({ grantTypes: ['client_credentials'], secrets: [{}] });
  expect(verifies(clientSecret)).toBe(true);
  expect((await call('PUT', '/app', backend, { 'if-none-match': '"1"' })).status).toBe(400);
});

test('only a security-admin writes clients, and pg:tenant:admin comes only from here', async () => {
  for (const role of ['config-editor', 'config-viewer', 'support'] as const) {
    const { call } = await tenantOf(role);
    expect((await call('GET', '')).status).toBe(200);
    for (const [method, path, body] of [
      ['PUT', '/app', backend],
      ['DELETE', '/app', undefined],
      ['POST', '/app/secrets', undefined],
      ['DELETE', '/app/secrets/0b0d7c1e-6b1e-4b7e-9c58-3f1f4f2a1a11', undefined],
    ] as const)
      expect((await call(method, path, body)).body.code, `${role} ${method} ${path}`).toBe('forbidden');
  }
});

test.each<[object, string, string?]>([
  [{}, '/grantTypes'],
  [{ ...backend, tenantRef: { name: 'a' } }, '/tenantRef'],
  [{ ...backend, secretRef: { name: 'a' } }, '/secretRef'],
  [{ ...backend, generateSecret: { name: 'a' } }, '/generateSecret'],
  [{ ...backend, clientSecret: 'chosen' }, '/clientSecret'],
  [{ ...backend, scopes: ['root'] }, '/scopes/0'],
  [{ ...spa, generateSecret: undefined, redirectUris: ['https://a@b.example/'] }, '/redirectUris/0'],
  [{ ...backend, tokenEndpointAuthMethod: 'none' }, '/grantTypes'],
  [{ ...backend, audiences: ['https://other.test'] }, '/audiences/0'],
  [backend, '/params/id', 'accord-cli'],
  [backend, '/params/id', 'accord-account'],
  [backend, '/params/id', 'a%20b'],
])('a wrong body is refused with its place: %j', async (body, pointer, id = 'app') => {
  const { call } = await tenantOf();
  const answer = await call('PUT', `/${id}`, body);
  expect(answer.status).toBe(400);
  expect(answer.body.errors.map((place: { pointer: string }) => place.pointer)).toContain(pointer);
});

describe('secrets', () => {
  test('are generated, shown once, at most two, and ended one by one', async () => {
    const { tenant, call, verifies } = await tenantOf();
    await call('PUT', '/app', backend);
    const first = await call('POST', '/app/secrets');
    expect(first).toMatchObject({
      status: 201,
      body: { clientId: 'app', id: expect.any(String), clientSecret: expect.stringMatching(/^[\w-]{43}$/) },
    });
    expect(first.headers['cache-control']).toBe('no-store');
    const second = await call('POST', '/app/secrets');
    expect(second.body.clientSecret).not.toBe(first.body.clientSecret);
    expect([verifies(first.body.clientSecret), verifies(second.body.clientSecret)]).toEqual([true, true]);
    expect((await call('POST', '/app/secrets')).body.code).toBe('client_secrets_full');
    const shown = (await call('GET', '/app')).body;
    expect(shown.secrets.map(({ id }: { id: string }) => id).sort()).toEqual([first.body.id, second.body.id].sort());
    expect(JSON.stringify(shown)).not.toContain(second.body.clientSecret);
    expect((await call('DELETE', `/app/secrets/${first.body.id}`)).status).toBe(200);
    expect([verifies(first.body.clientSecret), verifies(second.body.clientSecret)]).toEqual([false, true]);
    expect((await call('DELETE', `/app/secrets/${first.body.id}`)).body.code).toBe('client_secret_not_found');
    expect((await call('DELETE', '/app/secrets/x')).body.code).toBe('client_secret_not_found');
    const written = await asAdmin<{ text: string }>(
      server.db.adminUrl,
      `select coalesce(jsonb_agg(to_jsonb(e))::text, '') as text from accord.audit_entry e where tenant = '${tenant}'`,
    );
    expect(written[0]?.text).toContain('put_secret');
    expect(written[0]?.text).not.toContain(second.body.clientSecret);
  });

  test('are not chosen by whoever asks: a field of the body is refused', async () => {
    const { call } = await tenantOf();
    await call('PUT', '/app', backend);
    const refused = await call('POST', '/app/secrets', { clientSecret: 'abc' });
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(refused.body.errors[0].pointer).toBe('/clientSecret');
    expect((await call('GET', '/app')).body.secrets).toEqual([]);
    expect((await call('POST', '/app/secrets', {})).status).toBe(201);
  });

  test('are not stored for an Idempotency-Key', async () => {
    const { call } = await tenantOf();
    await call('PUT', '/app', backend);
    const headers = { 'idempotency-key': 'once' };
    const first = await call('POST', '/app/secrets', undefined, headers);
    expect(first.status).toBe(201);
    const again = await call('POST', '/app/secrets', undefined, headers);
    expect(JSON.stringify(again.body)).not.toContain(first.body.clientSecret);
    expect((await call('GET', '/app')).body.secrets).toHaveLength(1);
  });

  test('are of clients that use them, and of the writer that owns the client', async () => {
    const { tenant, call } = await tenantOf();
    const { generateSecret: _, ...page } = spa;
    await call('PUT', '/app', page);
    expect((await call('POST', '/app/secrets')).body.code).toBe('client_has_no_secrets');
    await putClient(services.clients, manifestWriter, tenant, clientSpec());
    expect((await call('POST', '/backend/secrets')).body.code).toBe('owned_by_manifest');
    expect((await call('PUT', '/backend', backend)).body.code).toBe('owned_by_manifest');
    expect((await call('DELETE', '/backend')).body.code).toBe('owned_by_manifest');
    await deleteClient(services.clients, manifestWriter, tenant, 'backend');
    expect((await call('POST', '/nobody/secrets')).body.code).toBe('client_not_found');
  });
});

test('when the client is deleted, the next decision with its token is refused', async () => {
  const { tenant, call } = await tenantOf();
  await call('PUT', '/app', backend);
  const { token } = await mintClientToken(services.keys, tenant, { clientId: 'app', scopes: ['authz:evaluate'] });
  const ask = async () =>
    (
      await app.inject({
        method: 'POST',
        url: `/authz/${tenant}`,
        headers: { authorization: `Bearer ${token}` },
        payload: { subject: { type: 'user', id: 'a' }, action: 'read', resource: { type: 'car', id: '1' } },
      })
    ).statusCode;
  expect(await ask()).toBe(200);
  await call('PUT', '/app', { ...backend, enabled: false });
  expect(await ask()).toBe(401);
  await call('PUT', '/app', backend);
  await call('DELETE', '/app');
  expect(await ask()).toBe(401);
});
