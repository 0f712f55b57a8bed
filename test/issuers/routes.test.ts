import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { sql } from '../../server/core/db/sql.ts';
import { apiOwner, type Writer } from '../../server/core/ownership.ts';
import { deleteIssuer, putIssuer } from '../../server/issuers/index.ts';
import { ensureLocalMember, mintPortalToken } from '../../server/members/index.ts';
import { baseUrl, createTestApp, operator, send } from '../access/test-app.ts';
import { issuerSpec } from '../core/auth/tenant-auth.ts';
import { createTestDatabase } from '../helpers/database.ts';

const db = await createTestDatabase();
const server = await createTestApp(db);
const { app, keyed } = server;
const services = { database: keyed.database, clock: keyed.clock, encrypter: keyed.encrypter, baseUrl };
const viaApi: Writer = { owner: apiOwner, actor: 'member:x' };

let count = 0;
/** A tenant of one's own, and a way to call its Config API as its security-admin. */
async function tenant(spec: Record<string, unknown> = {}, writer?: Writer) {
  const name = `t${count++}-issuers`;
  await server.tenant(name, spec, writer ?? operator(name));
  const member = await ensureLocalMember(keyed, name, 'security-admin');
  const { token } = await mintPortalToken(keyed, name, member, 'cli');
  const call = (
    method: 'GET' | 'PUT' | 'POST' | 'DELETE',
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => send(app, method, `/tenants/${name}/${path}`, { token, headers, ...(body === undefined ? {} : { body }) });
  return { name, call };
}
const issuer = (host: string, more: object = {}) => ({ issuer: `https://${host}.example`, ...more });

describe('trusted issuers', () => {
  test('are put, read, listed and deleted', async () => {
    const { name, call } = await tenant();
    expect((await call('GET', 'trusted-issuers')).body).toEqual({
      resources: [],
      links: { self: `/tenants/${name}/trusted-issuers` },
    });
    const put = await call(
      'PUT',
      'trusted-issuers/idp',
      issuer('a', {
        audiences: ['https://api.demo.example'],
        clients: 'claim',
        clientMatch: { claim: 'kind', value: 'm' },
        clientScopes: ['authz:evaluate'],
        contactClaims: { email: 'profile.mail' },
      }),
    );
    expect(put).toMatchObject({ status: 200, body: {} });
    const revision = Number(String(put.headers['accord-revision']).slice(1));
    expect(put.headers.etag).toBe(`"${revision}"`);
    expect((await call('GET', 'trusted-issuers')).body.resources).toEqual(['idp']);
    const got = await call('GET', 'trusted-issuers/idp');
    expect(got.headers.etag).toBe(put.headers.etag);
    expect(got.body).toEqual({
      name: 'idp',
      issuer: 'https://a.example',
      audiences: ['https://api.demo.example'],
      algorithms: ['ES256', 'RS256'],
      sharesActors: false,
      clients: 'claim',
      clientMatch: { claim: 'kind', value: 'm' },
      clientScopes: ['authz:evaluate'],
      contactClaims: { email: 'profile.mail', emailVerified: 'email_verified' },
      revision,
      updatedAt: expect.any(String),
      updatedBy: 'member:security-admin@localhost',
      managedBy: 'api',
    });
    expect(server.authOf(name).issuers.get('https://a.example')).toMatchObject({ clientScopes: ['authz:evaluate'] });
    expect(await call('DELETE', 'trusted-issuers/idp')).toMatchObject({ status: 200, body: {} });
    expect(server.authOf(name).issuers.size).toBe(0);
    for (const method of ['GET', 'DELETE'] as const) {
      expect(await call(method, 'trusted-issuers/idp')).toMatchObject({
        status: 404,
        body: { code: 'issuer_not_found' },
      });
    }
  });

  test('the same again changes nothing', async () => {
    const { call } = await tenant();
    const one = await call('PUT', 'trusted-issuers/idp', issuer('a'));
    const two = await call('PUT', 'trusted-issuers/idp', issuer('a', { sharesActors: false }));
    expect(two.headers['accord-revision']).toBe(one.headers['accord-revision']);
    expect(two.headers.etag).toBe(one.headers.etag);
  });

  test('If-Match guards against lost updates', async () => {
    const { call } = await tenant();
    const one = await call('PUT', 'trusted-issuers/idp', issuer('a'), { 'if-match': '*' });
    expect(one).toMatchObject({ status: 412, body: { code: 'precondition_failed' } });
    const { headers } = await call('PUT', 'trusted-issuers/idp', issuer('a'));
    const etag = String(headers.etag);
    await call('PUT', 'trusted-issuers/idp', issuer('b'));
    expect((await call('PUT', 'trusted-issuers/idp', issuer('c'), { 'if-match': etag })).status).toBe(412);
    expect((await call('DELETE', 'trusted-issuers/idp', undefined, { 'if-match': etag })).status).toBe(412);
    expect((await call('GET', 'trusted-issuers/idp')).body.issuer).toBe('https://b.example');
    expect((await call('DELETE', 'trusted-issuers/idp', undefined, { 'if-match': '*' })).status).toBe(200);
  });

  test.each([
    [{}, '/issuer'],
    [issuer('a', { jwks: 'x' }), '/jwks'],
    [issuer('a', { tenantRef: { name: 'other' } }), '/tenantRef'],
    [issuer('a', { managementPolicy: 'Observe' }), '/managementPolicy'],
    [{ issuer: 'http://idp.example' }, '/issuer'],
    [{ issuer: 'https://user:secret@idp.example' }, '/issuer'],
    [{ issuer: 'https://idp.example:99999' }, '/issuer'],
    [{ issuer: 'https://256.1.1.1' }, '/issuer'],
    [issuer('a', { jwksUri: 'https://a.example:65536/keys' }), '/jwksUri'],
    [issuer('a', { jwksUri: 'https://[::g]/keys' }), '/jwksUri'],
    [issuer('a', { audiences: [] }), '/audiences'],
    [issuer('a', { algorithms: ['none'] }), '/algorithms/0'],
    [issuer('a', { sharesActors: 'true' }), '/sharesActors'],
    [issuer('a', { actorIdPrefix: 'a b' }), '/actorIdPrefix'],
    [issuer('a', { audiences: ['https://api.demo.example', 'x'] }), '/audiences/1'],
    [issuer('a', { clients: 'okta' }), '/clients'],
    [issuer('a', { clients: 'claim' }), '/clientMatch'],
    [issuer('a', { clientMatch: { claim: 'kind', value: 'm' } }), '/clientMatch'],
    [issuer('a', { clientScopes: ['authz:evaluate'] }), '/clientScopes'],
    [
      issuer('a', { clients: 'claim', clientMatch: { claim: 'a', value: 'm' }, clientScopes: ['a'] }),
      '/clientScopes/0',
    ],
    [issuer('a', { tokenMapping: { actorId: 'sub' } }), '/tokenMapping/actorId'],
    [issuer('a', { contactClaims: { mail: 'email' } }), '/contactClaims/mail'],
    [issuer('a', { contactClaims: { email: 'e mail' } }), '/contactClaims/email'],
    [issuer('a', { contactClaims: { emailVerified: ['email_verified'] } }), '/contactClaims/emailVerified'],
    [{ issuer: `${baseUrl}/portal` }, '/issuer'],
    [issuer('a', { jwksUri: `${baseUrl}/other/oidc/jwks` }), '/jwksUri'],
  ])('a wrong body is refused with its place: %j', async (body, pointer) => {
    const { call } = await tenant();
    const answer = await call('PUT', 'trusted-issuers/idp', body);
    expect(answer.status).toBe(400);
    expect(answer.body.errors.map((place: { pointer: string }) => place.pointer)).toContain(pointer);
  });

  test('a second one must not mix actors, and one issuer is trusted once', async () => {
    const { call } = await tenant();
    await call('PUT', 'trusted-issuers/one', issuer('a'));
    expect(await call('PUT', 'trusted-issuers/two', issuer('b'))).toMatchObject({
      status: 400,
      body: { code: 'issuer_mixes_actors' },
    });
    expect((await call('PUT', 'trusted-issuers/two', issuer('b', { actorIdPrefix: 'b-' }))).status).toBe(200);
    expect(await call('PUT', 'trusted-issuers/three', issuer('a', { sharesActors: true }))).toMatchObject({
      status: 409,
      body: { code: 'duplicate_issuer' },
    });
    expect((await call('PUT', 'trusted-issuers/one', issuer('c'))).status).toBe(200); // itself is not another
  });

  test('pages follow one another', async () => {
    const { call } = await tenant();
    for (const name of ['a', 'b', 'c'])
      await call('PUT', `trusted-issuers/${name}`, issuer(name, { actorIdPrefix: `${name}-` }));
    const first = await call('GET', 'trusted-issuers?limit=2');
    expect(first.body.resources).toEqual(['a', 'b']);
    expect(first.headers.link).toContain('rel="next"');
    const second = await call('GET', `trusted-issuers?limit=2&cursor=${first.body.cursor}`);
    expect(second.body.resources).toEqual(['c']);
    expect(second.body).not.toHaveProperty('cursor');
    expect((await call('GET', 'trusted-issuers?cursor=bm8')).status).toBe(400);
  });

  test('two owners: a manifest keeps its issuer, the API keeps its own', async () => {
    const { name, call } = await tenant();
    await putIssuer(services, operator('idp'), name, 'idp', issuerSpec(issuer('a')));
    expect((await call('GET', 'trusted-issuers/idp')).body.managedBy).toBe('files idp');
    expect(await call('PUT', 'trusted-issuers/idp', issuer('b'))).toMatchObject({
      status: 409,
      body: { code: 'owned_by_manifest' },
    });
    expect(await call('DELETE', 'trusted-issuers/idp')).toMatchObject({
      status: 409,
      body: { code: 'owned_by_manifest' },
    });
    await call('PUT', 'trusted-issuers/mine', issuer('c', { actorIdPrefix: 'c-' }));
    const taking = issuerSpec(issuer('c', { actorIdPrefix: 'c-' }));
    await expect(putIssuer(services, operator('mine'), name, 'mine', taking)).rejects.toMatchObject({
      code: 'owned_by_api',
    });
    await expect(deleteIssuer(services, operator('mine'), name, 'mine')).rejects.toMatchObject({
      code: 'owned_by_api',
    });
    expect((await putIssuer(services, { ...operator('mine'), adopt: true }, name, 'mine', taking)).changed).toBe(true);
    expect((await call('GET', 'trusted-issuers/mine')).body.managedBy).toBe('files mine');
  });

  test("a manifest's deletion is idempotent, and its spec keeps nothing that only manifests have", async () => {
    const { name, call } = await tenant();
    const written = await putIssuer(services, operator('idp'), name, 'idp', issuerSpec(issuer('a')));
    expect(written.changed).toBe(true);
    const { body } = await call('GET', 'trusted-issuers/idp');
    for (const field of ['tenantRef', 'managementPolicy', 'adoptionPolicy']) expect(body).not.toHaveProperty(field);
    expect((await deleteIssuer(services, operator('idp'), name, 'idp')).changed).toBe(true);
    expect((await deleteIssuer(services, operator('idp'), name, 'idp')).changed).toBe(false);
    await expect(deleteIssuer(services, viaApi, name, 'idp')).rejects.toMatchObject({ code: 'issuer_not_found' });
  });

  test('configAuthority Kubernetes keeps the API out', async () => {
    const { call } = await tenant({ configAuthority: 'Kubernetes' });
    expect(await call('PUT', 'trusted-issuers/idp', issuer('a'))).toMatchObject({
      status: 409,
      body: { code: 'config_authority' },
    });
  });

  test('two at once: one is first, and the other is judged by what it wrote', async () => {
    const { name } = await tenant();
    const outcomes = await Promise.allSettled(
      ['a', 'b', 'c', 'd'].map((host) => putIssuer(services, viaApi, name, host, issuerSpec(issuer(host)))),
    );
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
  });

  test('each change is audited', async () => {
    const { name, call } = await tenant();
    await call('PUT', 'trusted-issuers/idp', issuer('a'));
    await call('DELETE', 'trusted-issuers/idp');
    const Entry = Type.Object({ action: Type.String(), object_name: Type.String(), actor: Type.Unknown() });
    const rows = await db.database.tenant(name, (tx) =>
      tx.many(
        Entry,
        sql`select action, object_name, actor from accord.audit_entry where object_kind = 'trusted_issuer' order by revision`,
      ),
    );
    const actor = 'member:security-admin@localhost';
    expect(rows).toEqual([
      { action: 'put', object_name: 'idp', actor },
      { action: 'delete', object_name: 'idp', actor },
    ]);
  });
});

describe('the token mapping', () => {
  test("of a manifest's tenant is read, and changed in the manifest only", async () => {
    const { call, name } = await tenant({ tokenMapping: { actorIdClaimPath: 'uid' } });
    expect((await call('GET', 'token-mapping')).body).toEqual({
      actorIdClaimPath: 'uid',
      defaultActorType: 'user',
      managedBy: `files ${name}`,
    });
    expect(await call('PUT', 'token-mapping', {})).toMatchObject({ status: 409, body: { code: 'owned_by_manifest' } });
  });

  test("of the API's tenant is replaced as a whole, and verification follows", async () => {
    const { call, name } = await tenant({}, viaApi);
    await call('PUT', 'trusted-issuers/idp', issuer('a'));
    const put = await call('PUT', 'token-mapping', { actorIdClaimPath: 'uid', actorTypeClaimPath: 'kind' });
    expect(put).toMatchObject({ status: 200, body: {} });
    const mapping = { actorIdClaimPath: 'uid', actorTypeClaimPath: 'kind', defaultActorType: 'user' };
    expect((await call('GET', 'token-mapping')).body).toEqual({ ...mapping, managedBy: 'api' });
    expect(server.authOf(name).issuers.get('https://a.example')?.tokenMapping).toEqual(mapping);
    expect((await call('PUT', 'token-mapping', {}, { 'if-match': '"1"' })).status).toBe(412);
    expect((await call('PUT', 'token-mapping', {}, { 'if-match': String(put.headers.etag) })).status).toBe(200);
    expect((await call('GET', 'token-mapping')).body).toEqual({
      actorIdClaimPath: 'sub',
      defaultActorType: 'user',
      managedBy: 'api',
    });
  });

  test.each([
    { actorIdClaimPath: '' },
    { actorIdClaimPath: 7 },
    { defaultActorType: 'a b' },
    { prefix: 'x' },
    [],
    'text',
  ])('%j is refused', async (body) => {
    const { call } = await tenant({}, viaApi);
    expect((await call('PUT', 'token-mapping', body)).status).toBeGreaterThanOrEqual(400);
    expect((await call('GET', 'token-mapping')).body.actorIdClaimPath).toBe('sub');
  });
});
