/** The secret of the log-in at an issuer, set by the Config API: written, never shown, and sent nowhere else. */
import { expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { putIssuer } from '../../server/issuers/index.ts';
import { exportedIssuer } from '../../server/issuers/rules.ts';
import { loadIssuers } from '../../server/issuers/store.ts';
import { ensureLocalMember, mintPortalToken } from '../../server/members/index.ts';
import { readTenantSecret } from '../../server/tenants/index.ts';
import { baseUrl, createTestApp, operator, send } from '../access/test-app.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestDatabase } from '../helpers/database.ts';

const db = await createTestDatabase();
const server = await createTestApp(db);
const { app, keyed } = server;
const secret = 'the secret that the issuer has given';

let count = 0;
async function tenantWith() {
  const tenant = `t${count++}-log-in`;
  await server.tenant(tenant, {}, operator(tenant));
  const member = await ensureLocalMember(keyed, tenant, 'security-admin');
  const { token } = await mintPortalToken(keyed, tenant, member, 'cli');
  const path = `/tenants/${tenant}/trusted-issuers/idp`;
  const call = (method: 'GET' | 'PUT' | 'DELETE', body?: unknown) =>
    send(app, method, path, { token, ...(body === undefined ? {} : { body }) });
  const put = (login: object | undefined, issuer = 'https://idp.example') =>
    call('PUT', { issuer, ...(login === undefined ? {} : { login }) });
  const stored = () =>
    keyed.database.read(tenant, (tx) => readTenantSecret(keyed.encrypter, tx, tenant, 'trusted_issuer/idp/login'));
  return { tenant, call, put, stored };
}
const login = (more: object = {}) => ({ clientId: 'accord', displayName: 'Log in', ...more });

test('is stored encrypted and never shown', async () => {
  const { tenant, call, put, stored } = await tenantWith();
  expect((await put(login({ clientSecret: secret }))).status).toBe(200);
  expect(await stored()).toEqual({ client_secret: secret });
  const shown = { clientId: 'accord', displayName: 'Log in', scopes: ['openid', 'email', 'profile'] };
  const got = await call('GET');
  expect(got.body.login).toEqual({ ...shown, hasClientSecret: true });
  expect(JSON.stringify(got.body)).not.toContain(secret);
  for (const table of ['tenant_secret', 'trusted_issuer', 'audit_entry']) {
    const rows = await asAdmin<{ text: string }>(
      db.adminUrl,
      `select r::text as text from accord.${table} r where tenant = '${tenant}'`,
    );
    expect(rows.length, table).toBeGreaterThan(0);
    for (const { text } of rows) expect(text).not.toContain(secret);
  }
});

test('stays when it is not given, is replaced, and goes with null, with login and with the issuer', async () => {
  const { call, put, stored } = await tenantWith();
  await put(login({ clientSecret: secret }));
  expect((await put(login({ displayName: 'Another name' }))).status).toBe(200);
  expect(await stored()).toEqual({ client_secret: secret });
  await put(login({ clientSecret: 'another' }));
  expect(await stored()).toEqual({ client_secret: 'another' });
  expect((await put(login({ clientSecret: null }))).status).toBe(200);
  expect([await stored(), (await call('GET')).body.login.hasClientSecret]).toEqual([undefined, false]);
  await put(login({ clientSecret: secret }));
  await put(undefined);
  expect(await stored()).toBeUndefined();
  expect((await put(login())).status).toBe(200);
  await put(login({ clientSecret: secret }));
  await call('DELETE');
  expect(await stored()).toBeUndefined();
});

test('is not sent to another issuer, nor for another client: it must be given again', async () => {
  const { call, put, stored } = await tenantWith();
  await put(login({ clientSecret: secret }));
  for (const [settings, issuer] of [
    [login(), 'https://evil.example'],
    [login({ clientId: 'evil' }), 'https://idp.example'],
  ] as const) {
    expect(await put(settings, issuer)).toMatchObject({
      status: 400,
      body: { code: 'login_secret_missing', errors: [{ pointer: '/login/clientSecret' }] },
    });
    expect((await call('GET')).body).toMatchObject({ issuer: 'https://idp.example', login: { clientId: 'accord' } });
  }
  expect((await put(login({ clientSecret: null }), 'https://evil.example')).status).toBe(200);
  expect(await stored()).toBeUndefined();
});

test('an export names the Secret that it needs, and has no value', async () => {
  const { tenant, put } = await tenantWith();
  await put(login({ clientSecret: secret }));
  const [row] = await keyed.database.read(tenant, (tx) => loadIssuers(tx, tenant));
  const exported = exportedIssuer('idp', row?.spec as Parameters<typeof exportedIssuer>[1]);
  expect(exported.spec.login?.secretRef).toEqual({ name: 'idp-login' });
  expect(exported.comments).toEqual(['The Secret idp-login needs the key client_secret.']);
});

test('of a manifest whose Secret cannot be read is not sent to another issuer', async () => {
  const { tenant, stored } = await tenantWith();
  const services = { database: keyed.database, clock: keyed.clock, encrypter: keyed.encrypter, baseUrl };
  const apply = (host: string, loginSecret?: string) => {
    const of = { ...login(), scopes: ['openid'], secretRef: { name: 'idp' } };
    const spec = { algorithms: ['ES256' as const], sharesActors: true, clients: 'none' as const, login: of };
    return putIssuer(services, operator('idp'), tenant, 'idp', { issuer: `https://${host}`, ...spec }, { loginSecret });
  };
  await apply('idp.example', secret);
  await apply('idp.example');
  expect(await stored()).toEqual({ client_secret: secret });
  await apply('evil.example');
  expect(await stored()).toBeUndefined();
});

test.each([
  ['an empty one', { clientSecret: '' }],
  ['one that is too long', { clientSecret: 'x'.repeat(limits.secretValueBytesMax + 1) }],
  ['the name of a Secret, which a manifest has', { secretRef: { name: 'x' } }],
])('%s is refused', async (_what, more) => {
  const { put, stored } = await tenantWith();
  expect((await put(login(more))).status).toBe(400);
  expect(await stored()).toBeUndefined();
});
