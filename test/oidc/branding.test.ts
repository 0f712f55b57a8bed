/** C/branding and C/limits: parts of the Tenant, which have its owner. */
import { expect, test } from 'vitest';
import { apiOwner } from '../../server/core/ownership.ts';
import { putTenant } from '../../server/tenants/index.ts';
import { createTestServer, tenantSpec } from '../helpers/server.ts';

const server = await createTestServer({ ACCORD_RATE_LIMIT: '0' });
let count = 0;

/** A tenant that no manifest owns, as managementPolicy CreateOnly leaves it. */
async function ownTenant(spec: Parameters<typeof tenantSpec>[0] = {}): Promise<string> {
  const tenant = `branded-${count++}`;
  await putTenant(server.services.tenants, { owner: apiOwner, actor: 'test' }, tenant, tenantSpec(spec));
  await server.services.snapshots.refresh(tenant);
  return tenant;
}

type Role = Parameters<typeof server.member>[1];
async function call(
  tenant: string,
  role: Role,
  method: 'GET' | 'PUT',
  path: string,
  payload?: object,
  ifMatch?: string,
) {
  const answer = await server.app.inject({
    ...{ method, url: `/tenants/${tenant}/${path}` },
    headers: {
      authorization: `Bearer ${await server.member(tenant, role)}`,
      ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    },
    ...(payload === undefined ? {} : { payload }),
  });
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() };
}
const look = {
  displayName: 'Cars of Ghent',
  logo: 'https://cars.example/logo.svg',
  colours: { primary: '#123456', background: '#e8f0ff' },
  languages: ['nl', 'en'],
  sharingPage: true,
};

test('a security-admin sets how pages look, which the next page has, and who may sign up stays', async () => {
  const tenant = await ownTenant({ login: { selfRegistration: 'none' } });
  const before = await call(tenant, 'support', 'GET', 'branding');
  expect(before.body).toEqual({ displayName: 'Test', revision: expect.any(Number), managedBy: 'api' });
  const put = await call(tenant, 'security-admin', 'PUT', 'branding', look, String(before.headers.etag));
  expect(put).toMatchObject({ status: 200, body: {} });
  const after = await call(tenant, 'config-viewer', 'GET', 'branding');
  expect(after.body).toEqual({ ...look, revision: after.body.revision, managedBy: 'api' });
  expect(after.headers.etag).toBe(put.headers.etag);
  const { spec } = server.services.snapshot.snapshotOf(tenant);
  expect(spec.login).toEqual({
    ...{ selfRegistration: 'none', languages: ['nl', 'en'], sharingPage: true },
    brand: { logo: look.logo, colours: look.colours },
  });
  const page = await server.app.inject({ url: `/${tenant}/oidc/authorize`, headers: { accept: 'text/html' } });
  for (const part of [look.displayName, look.logo, '123456', 'lang="nl"']) expect(page.body).toContain(part);
  const [, theme = ''] = /href="(\/assets\/theme-[^"]+)"/.exec(page.body) ?? [];
  expect((await server.app.inject({ url: theme })).body).toContain('--paper: #e8f0ff');
  // Left out of the body is left out of the Tenant.
  await call(tenant, 'security-admin', 'PUT', 'branding', { displayName: 'Cars' });
  expect(server.services.snapshot.snapshotOf(tenant).spec.login).toEqual({ selfRegistration: 'none' });
  const admin = { authorization: `Bearer ${await server.member(tenant, 'security-admin')}` };
  const audit = await server.app.inject({ url: `/tenants/${tenant}/audit?kind=tenant&action=put`, headers: admin });
  expect(audit.json().entries[0]).toMatchObject({
    actor: 'member:security-admin@localhost',
    detail: { branding: { displayName: 'Cars' } },
  });
});

test('who read another version does not replace it, and the same again changes nothing', async () => {
  const tenant = await ownTenant();
  const { headers } = await call(tenant, 'security-admin', 'GET', 'branding');
  const first = await call(tenant, 'security-admin', 'PUT', 'branding', look, String(headers.etag));
  const late = await call(tenant, 'security-admin', 'PUT', 'branding', { displayName: 'x' }, String(headers.etag));
  expect(late).toMatchObject({ status: 412, body: { code: 'precondition_failed' } });
  const again = await call(tenant, 'security-admin', 'PUT', 'branding', look);
  expect(again.headers['accord-revision']).toBe(first.headers['accord-revision']);
});

test('what a manifest owns, or another role asks for, is refused', async () => {
  const managed = await server.tenant();
  const refused = await call(managed, 'security-admin', 'PUT', 'branding', look);
  expect(refused).toMatchObject({ status: 409, body: { code: 'owned_by_manifest' } });
  expect((await call(managed, 'security-admin', 'GET', 'branding')).body.managedBy).toBe('files test');
  const tenant = await ownTenant();
  for (const role of ['config-editor', 'config-viewer', 'support'] as const)
    expect([role, (await call(tenant, role, 'PUT', 'branding', look)).status]).toEqual([role, 403]);
  const authority = await ownTenant({ configAuthority: 'Kubernetes' });
  const other = await call(authority, 'security-admin', 'PUT', 'branding', look);
  expect(other).toMatchObject({ status: 409, body: { code: 'config_authority' } });
});

test.each([
  [{}, '/displayName'],
  [{ displayName: '' }, '/displayName'],
  [{ displayName: 'x', logo: 'http://cars.example/logo.svg' }, '/logo'],
  [{ displayName: 'x', logo: 'javascript:alert(1)' }, '/logo'],
  [{ displayName: 'x', colours: { primary: 'red' } }, '/colours/primary'],
  [{ displayName: 'x', colours: {} }, '/colours/primary'],
  [{ displayName: 'x', colours: { primary: '#123456', background: 'red' } }, '/colours/background'],
  [{ displayName: 'x', sharingPage: 'yes' }, '/sharingPage'],
  [{ displayName: 'x', languages: ['de'] }, '/languages/0'],
  [{ displayName: 'x', languages: ['en', 'en'] }, '/languages/1'],
  [{ displayName: 'x', selfRegistration: 'open' }, '/selfRegistration'],
])('%j is refused at %s', async (body, pointer) => {
  const answer = await call(await ownTenant(), 'security-admin', 'PUT', 'branding', body);
  expect(answer).toMatchObject({
    status: 400,
    body: { errors: expect.arrayContaining([expect.objectContaining({ pointer })]) },
  });
});

test('limits are shown with what is used, to every role, and cannot be set', async () => {
  const tenant = await ownTenant({ limits: { maxPolicies: 3, maxRequestsPerSecond: 1000 } });
  const admin = { authorization: `Bearer ${await server.member(tenant, 'security-admin')}` };
  const rego = 'package p\n\ndefault outcome := "deny"';
  const put = (url: string, payload: object) =>
    server.app.inject({ method: 'PUT', url: `/tenants/${tenant}/${url}`, headers: admin, payload });
  expect((await put('policies/p', { rego })).statusCode).toBe(200);
  await put('actor-types/user', {});
  await put('resource-types/car', {});
  await put('relationship-types/user:drives:car', {});
  const relationship = await server.app.inject({
    ...{ method: 'POST', url: `/${tenant}/actors/user/alice/relationships` },
    headers: { authorization: `Bearer ${await server.client(tenant, 'relationships:write')}` },
    payload: { relationshipType: 'drives', to: { type: 'car', id: '1' } },
  });
  expect(relationship.statusCode).toBe(201);
  for (const role of ['security-admin', 'config-editor', 'config-viewer', 'support'] as const) {
    expect([role, (await call(tenant, role, 'GET', 'limits')).body]).toEqual([
      role,
      {
        maxPolicies: { limit: 3, used: 1 },
        maxRelationships: { used: 1 },
        maxRequestsPerSecond: { limit: 1000 },
        callerRequestsPerSecond: {},
        managedBy: 'api',
      },
    ]);
  }
  expect((await put('limits', { maxPolicies: 4 })).statusCode).toBe(404);
});
