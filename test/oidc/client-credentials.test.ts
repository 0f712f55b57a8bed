/** Discovery, and tokens that clients get for themselves. */
import { get } from 'node:http';
import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair, SignJWT } from 'jose';
import * as oc from 'openid-client';
import { describe, expect, test } from 'vitest';
import { audience, basic, createOidcServer } from './relying-party.ts';

const server = await createOidcServer({}, { basePath: '/accord' });
const { origin, issuerOf, register, post, discover } = server;
const tenant = await server.tenant();
const back = { grantTypes: ['client_credentials' as const] };
const secret = await register(tenant, 'backend', { ...back, scopes: ['authz:evaluate', 'consents:read'] });
const adminSecret = await register(tenant, 'operator', { ...back, scopes: ['pg:tenant:admin'] });
const narrowSecret = await register(tenant, 'narrow', { ...back, audiences: ['bare-api'] });
const cc = { grant_type: 'client_credentials' };
const token = async (body: Record<string, string>, as = basic('backend', secret)) =>
  post(tenant, '/oidc/token', { ...cc, ...body }, as);

describe('discovery', () => {
  test.each([
    (one: string) => `/${one}/oidc/.well-known/openid-configuration`,
    (one: string) => `/${one}/oidc/.well-known/oauth-authorization-server`,
    (one: string) => `/.well-known/openid-configuration/${one}/oidc`,
    (one: string) => `/.well-known/oauth-authorization-server/${one}/oidc`,
  ])('is at both forms of the address (%#)', async (at) => {
    const response = await fetch(origin + at(tenant), { headers: { origin: 'https://any.test' } });
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(await response.json()).toMatchObject({
      issuer: issuerOf(tenant),
      token_endpoint: `${issuerOf(tenant)}/token`,
      authorization_endpoint: `${issuerOf(tenant)}/authorize`,
      jwks_uri: `${issuerOf(tenant)}/jwks`,
      code_challenge_methods_supported: ['S256'],
      id_token_signing_alg_values_supported: ['RS256'],
      authorization_response_iss_parameter_supported: true,
    });
  });

  test('lists the scopes of claims that the Tenant has switched on, and no others', async () => {
    const listed = async (at: string) => {
      const response = await fetch(`${origin}/${at}/oidc/.well-known/openid-configuration`);
      const { scopes_supported: scopes } = (await response.json()) as { scopes_supported: string[] };
      return scopes.filter((scope) => scope === 'openid' || scope === 'relationships' || scope === 'consents');
    };
    expect(await listed(tenant)).toEqual(['openid']);
    const claims = { namespace: 'claims.test', relationships: true, consents: false };
    expect(await listed(await server.tenant({ claims }))).toEqual(['openid', 'relationships']);
  });

  test('says only what the base URL says: forged Host and X-Forwarded headers (KC host-header games)', async () => {
    const url = `${origin}/${tenant}/oidc/.well-known/openid-configuration`;
    const headers = {
      'x-forwarded-host': 'evil.test',
      'x-forwarded-proto': 'https',
      forwarded: 'host=evil.test;proto=https',
    };
    const body = await new Promise<string>((done, failed) =>
      get(url, { headers: { ...headers, host: 'evil.test' } }, async (response) =>
        done((await response.toArray()).join('')),
      ).on('error', failed),
    );
    expect(body).toContain(`"${issuerOf(tenant)}/jwks"`);
    expect(body).not.toContain('evil.test');
  });

  test('of an unknown tenant is none, and other spellings of an address are not found', async () => {
    expect((await fetch(`${origin}/nobody/oidc/.well-known/openid-configuration`)).status).toBe(404);
    for (const path of ['oidc/Token', 'oidc/token/', 'oidc/TOKEN'])
      expect((await post(tenant, `/${path}`, cc)).status, path).toBe(404);
  });

  test.each(['token', 'me', 'auth'])('a tenant called %s has its own addresses', async (code) => {
    const { putTenant } = await import('../../server/tenants/index.ts');
    const { manifestWriter, tenantSpec } = await import('../helpers/server.ts');
    await putTenant(server.services.tenants, manifestWriter, code, tenantSpec());
    await server.services.snapshots.refresh(code);
    const response = await fetch(`${origin}/${code}/oidc/.well-known/openid-configuration`);
    expect(await response.json()).toMatchObject({ token_endpoint: `${issuerOf(code)}/token` });
  });
});

describe('client_credentials', () => {
  test('by openid-client: an at+jwt of RFC 9068 that our own APIs take', async () => {
    const config = await discover(tenant, 'backend', oc.ClientSecretPost(secret as string));
    const got = await oc.clientCredentialsGrant(config, { audience, scope: 'authz:evaluate' });
    expect(decodeProtectedHeader(got.access_token)).toMatchObject({ typ: 'at+jwt', alg: 'ES256' });
    expect(decodeJwt(got.access_token)).toMatchObject({
      iss: issuerOf(tenant),
      sub: 'backend',
      client_id: 'backend',
      aud: audience,
      scope: 'authz:evaluate',
      jti: expect.any(String),
    });
    expect(got.expires_in).toBe(3600);
    const decided = await fetch(`${origin}/authz/${tenant}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${got.access_token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ subject: { type: 'user', id: 'a' }, action: 'x', resource: { type: 'car', id: '1' } }),
    });
    expect(decided.status).toBe(200);
  });

  test('takes audience, resource and JSON, and gives all granted scopes where none is asked for', async () => {
    const json = { 'content-type': 'application/json' };
    const body = JSON.stringify({ ...cc, client_id: 'backend', client_secret: secret, audience });
    for (const path of ['/oidc/token', '/oauth/token']) {
      const { status, body: got } = await post(tenant, path, body, json);
      expect([path, status]).toEqual([path, 200]);
      expect(decodeJwt(got.access_token as string)).toMatchObject({
        aud: audience,
        scope: 'authz:evaluate consents:read',
      });
    }
    for (const one of [{ audience: 'bare-api' }, { resource: 'urn:accord:aud:bare-api' }]) {
      const { body: got } = await token(one);
      expect(decodeJwt(got.access_token as string).aud).toBe('bare-api');
    }
    expect(decodeJwt((await token({})).body.access_token as string).aud).toBe(audience);
  });

  test('gives only scopes that the client was granted', async () => {
    const { body } = await token({ scope: 'pg:tenant:admin consents:read' });
    expect(decodeJwt(body.access_token as string).scope).toBe('consents:read');
    expect(body.scope).toBe('consents:read');
    const { body: admin } = await token({ scope: 'pg:tenant:admin' }, basic('operator', adminSecret));
    expect(decodeJwt(admin.access_token as string).scope).toBe('pg:tenant:admin');
  });

  test.each([
    ['an unknown audience', { audience: 'https://evil.test' }, 'invalid_target'],
    ['an unknown resource', { resource: 'https://evil.test' }, 'invalid_target'],
    ['a resource with a fragment', { resource: `${audience}#x` }, 'invalid_target'],
    ['a scope that it was not granted, and no other', { scope: 'pg:tenant:admin' }, 'invalid_scope'],
    ['scopes that nobody knows', { scope: 'no:such nor:this' }, 'invalid_scope'],
    ['another grant type', { grant_type: 'password' }, 'unsupported_grant_type'],
    ['a grant type that it was not given', { grant_type: 'refresh_token', refresh_token: 'x' }, 'invalid_request'],
  ])('refuses %s', async (_what, body, error) => {
    expect(await token(body)).toMatchObject({ status: 400, body: { error } });
  });

  test('refuses an audience of another client, and parameters that are repeated or too large', async () => {
    expect((await token({ audience }, basic('narrow', narrowSecret))).body.error).toBe('invalid_target');
    const twice = `grant_type=client_credentials&audience=${audience}&audience=bare-api`;
    expect((await post(tenant, '/oidc/token', twice, basic('backend', secret))).body.error).toBe('invalid_request');
    const again = 'grant_type=client_credentials&scope=a&scope=b';
    expect((await post(tenant, '/oidc/token', again, basic('backend', secret))).body.error).toBe('invalid_request');
    const large = `grant_type=client_credentials&x=${'a'.repeat(57 * 1024)}`;
    const { status } = await post(tenant, '/oidc/token', large, basic('backend', secret));
    expect(status).toBeGreaterThanOrEqual(400);
    for (const wrong of ['[]', '{"grant_type":["client_credentials"]}', '{', '"x"'])
      expect(await post(tenant, '/oidc/token', wrong, { 'content-type': 'application/json' }), wrong).toMatchObject({
        status: 400,
        body: { error: 'invalid_request' },
      });
  });
});

describe('client authentication', () => {
  test.each([
    ['a wrong secret', { ...cc }, basic('backend', 'wrong')],
    ['an unknown client', { ...cc }, basic('nobody', 'x')],
    ['no secret', { ...cc, client_id: 'backend' }, {}],
    ["another client's secret", { ...cc, client_id: 'operator', client_secret: 'REPLACED' }, {}],
  ])('refuses %s with invalid_client', async (_what, body, headers) => {
    const sent = 'client_secret' in body ? { ...body, client_secret: secret as string } : body;
    const { status, body: answer } = await post(tenant, '/oidc/token', sent, headers as Record<string, string>);
    expect([status, answer.error]).toEqual([401, 'invalid_client']);
  });

  test('without client authentication, or with one that cannot be read, it has failed: 401 invalid_client (RFC 6749 section 5.2)', async () => {
    const asked = { grant_type: 'client_credentials', token: 'x' };
    for (const path of ['/oidc/token', '/oidc/introspection', '/oidc/revocation', '/oidc/par'])
      expect(await post(tenant, path, asked), path).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    for (const authorization of ['Bearer x', 'Basic', 'Basic %%%', basic('backend', '').authorization, 'Basic YQ==']) {
      const answer = await fetch(`${origin}/${tenant}/oidc/token`, {
        ...{ method: 'POST', headers: { authorization: authorization as string }, body: new URLSearchParams(asked) },
      });
      expect([answer.status, await answer.json(), answer.headers.get('www-authenticate')], authorization).toEqual([
        401,
        { error: 'invalid_client', error_description: expect.any(String) },
        expect.stringMatching(/^Basic realm="http:[^"]+\/oidc", error="invalid_client"/),
      ]);
    }
    // Two at once are a request that says two things (the same section).
    const two = await post(tenant, '/oidc/token', { ...asked, client_secret: 's' }, basic('backend', secret));
    expect(two).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });

  test('openid-client is told invalid_client where it sends no authentication', async () => {
    const silent: oc.ClientAuth = () => {};
    const as = await discover(tenant, 'backend', silent);
    await expect(oc.clientCredentialsGrant(as)).rejects.toMatchObject({ status: 401, error: 'invalid_client' });
    await expect(oc.tokenIntrospection(as, 'x')).rejects.toMatchObject({ status: 401, error: 'invalid_client' });
  });

  test('refuses two mechanisms at once, and a client id that differs', async () => {
    const both = { ...cc, client_id: 'backend', client_secret: secret as string };
    expect((await token(both)).body.error).toBe('invalid_request');
    expect((await token({ client_id: 'operator' })).body.error).toBe('invalid_request');
  });

  test("refuses another tenant's client (op#95: one tenant's keys, clients or cookies at another)", async () => {
    const other = await server.tenant();
    const { body } = await post(other, '/oidc/token', cc, basic('backend', secret));
    expect(body.error).toBe('invalid_client');
    const mine = (await token({})).body.access_token as string;
    const asked = await fetch(`${origin}/authz/${other}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${mine}`, 'content-type': 'application/json' },
      body: '{"action":"x"}',
    });
    expect(asked.status).toBe(401);
  });
});

const pair = await generateKeyPair('ES256');
await register(tenant, 'signer', {
  ...back,
  tokenEndpointAuthMethod: 'private_key_jwt',
  jwks: { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'ES256' } as never] },
});
const assertion = (claims: { aud?: string | string[]; jti?: string; alg?: string } = {}) =>
  new SignJWT({ jti: claims.jti ?? crypto.randomUUID() })
    .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
    .setIssuer('signer')
    .setSubject('signer')
    .setAudience(claims.aud ?? issuerOf(tenant))
    .setExpirationTime('1m')
    .sign(pair.privateKey);
const assert = async (one: string) =>
  (
    await post(tenant, '/oidc/token', {
      ...cc,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: one,
    })
  ).body;

describe('private_key_jwt', () => {
  test('by openid-client', async () => {
    const config = await discover(tenant, 'signer', oc.PrivateKeyJwt({ key: pair.privateKey as never, kid: 'k1' }));
    const modified = {
      [oc.modifyAssertion]: (_header: unknown, payload: Record<string, unknown>) => {
        payload.aud = issuerOf(tenant);
      },
    };
    const auth = oc.PrivateKeyJwt({ key: pair.privateKey as never, kid: 'k1' }, modified as never);
    const strict = await discover(tenant, 'signer', auth);
    expect(config.serverMetadata().issuer).toBe(issuerOf(tenant));
    expect((await oc.clientCredentialsGrant(strict, {})).token_type).toBe('bearer');
  });

  test('H CVE-2020-5300: an assertion is used once, also by eight at once', async () => {
    const one = await assertion();
    const answers = await Promise.all(Array.from({ length: 8 }, () => assert(one)));
    expect(answers.filter((answer) => answer.access_token !== undefined)).toHaveLength(1);
    expect((await assert(one)).access_token).toBeUndefined();
  });

  test('rfc7523bis: an assertion is for this issuer alone', async () => {
    for (const aud of [
      [issuerOf(tenant), 'https://evil.test'],
      [issuerOf(tenant)],
      `${issuerOf(tenant)}/token`,
      'https://evil.test',
    ])
      expect((await assert(await assertion({ aud }))).error, String(aud)).toBe('invalid_client');
    expect((await assert(await assertion())).access_token).toBeDefined();
  });

  test('KC CVE-2026-11800: another algorithm than that of the key is refused (algorithm confusion)', async () => {
    const key = new TextEncoder().encode(JSON.stringify(await exportJWK(pair.publicKey)));
    const hmac = await new SignJWT({ jti: 'x' })
      .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
      .setIssuer('signer')
      .setSubject('signer')
      .setAudience(issuerOf(tenant))
      .setExpirationTime('1m')
      .sign(key);
    const none = `${btoa('{"alg":"none"}').replaceAll('=', '')}.${hmac.split('.')[1]}.`;
    for (const one of [hmac, none]) expect((await assert(one)).error).toMatch(/invalid_client|invalid_request/);
  });
});
