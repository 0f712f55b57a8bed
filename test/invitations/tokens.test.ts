/** requestTokens: what they carry, which keys verify them, and every forgery that is refused. */
import { createHmac, randomUUID } from 'node:crypto';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { accessKey } from '../../server/keys/actions.ts';
import { invitationKey, type SigningKey } from '../../server/keys/index.ts';
import { disableTenant } from '../../server/tenants/index.ts';
import { createTestServer, manifestWriter } from '../helpers/server.ts';
import { body, invitingTenant, WallClock } from './inviting.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
const { database, invitations: sharing, baseUrl } = server.services;
const cars = await invitingTenant(server);
const other = await invitingTenant(server);
const bob = await cars.user('bob');
const accept = (token: string) => cars.accept(bob, 'bob', token);
const jwks = async (tenant = cars.tenant) => {
  const response = await server.app.inject({ url: `/${tenant}/.well-known/jwks.json` });
  expect(response.statusCode).toBe(200);
  return response.json() as { keys: { kid: string; d?: string }[] };
};
const keyOf = (tenant: string) => database.tenant(tenant, (tx) => invitationKey(sharing, tx, tenant));
const b64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

test('a token is an ES256 JWT that the public keys of the tenant verify', async () => {
  const { requestToken, invitationId, expiresAt } = await cars.invite();
  const { payload, protectedHeader } = await jwtVerify(requestToken, createLocalJWKSet(await jwks()), {
    issuer: `${baseUrl}/${cars.tenant}`,
    audience: `${baseUrl}/${cars.tenant}/sharing/invitations`,
    typ: 'accord-invitation+jwt',
    algorithms: ['ES256'],
    currentDate: new Date(clock.now()),
  });
  expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'accord-invitation+jwt', kid: expect.any(String) });
  expect(payload).toEqual({
    iss: `${baseUrl}/${cars.tenant}`,
    aud: `${baseUrl}/${cars.tenant}/sharing/invitations`,
    jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
    iat: clock.seconds(),
    exp: Date.parse(expiresAt) / 1000,
    'sa:invitation:id': invitationId,
    'sa:invitation:relationship': 'user:drives:car',
    'sa:invitation:direction': 'acceptor_to_target',
  });
});

test('the public keys hold nothing private, and are not those of access tokens', async () => {
  await cars.invite();
  const { keys } = await jwks();
  expect(keys).toHaveLength(1);
  expect(keys[0]).not.toHaveProperty('d');
  const access = await server.app.inject({ url: `/${cars.tenant}/oidc/jwks` });
  expect(access.json().keys.map((key: { kid: string }) => key.kid)).not.toContain(keys[0]?.kid);
});

describe('a forged token is 400 and changes nothing', () => {
  const forgeries: [string, (token: string) => string | Promise<string>][] = [
    ['text', () => 'not a token'],
    ['alg none', (token) => `${b64({ ...decodeProtectedHeader(token), alg: 'none' })}.${token.split('.')[1]}.`],
    [
      'HS256 with the public key as the secret',
      async (token) => {
        const { keys } = await jwks();
        const head = `${b64({ ...decodeProtectedHeader(token), alg: 'HS256' })}.${token.split('.')[1]}`;
        return `${head}.${createHmac('sha256', JSON.stringify(keys[0])).update(head).digest('base64url')}`;
      },
    ],
    ['another signature', (token) => `${token.slice(0, -8)}AAAAAAAA`],
    [
      'other claims under the signature',
      (token) => {
        const [head, , signature] = token.split('.');
        return `${head}.${b64({ ...decodeJwt(token), exp: clock.seconds() + 999_999 })}.${signature}`;
      },
    ],
    ['a key of its own', async (token) => resigned(token, (await generateKeyPair('ES256')).privateKey)],
    ["the other tenant's key", async (token) => resigned(token, (await keyOf(other.tenant)).privateKey)],
    [
      "the other tenant's key and its kid",
      async (token) => {
        const { privateKey, kid } = await keyOf(other.tenant);
        return resigned(token, privateKey, { kid });
      },
    ],
    [
      "the tenant's access key",
      async (token) => {
        const { privateKey, kid } = await database.tenant(cars.tenant, (tx) => accessKey(sharing, tx, cars.tenant));
        return resigned(token, privateKey, { kid });
      },
    ],
    ['another type', async (token) => resigned(token, (await keyOf(cars.tenant)).privateKey, { typ: 'at+jwt' })],
    ['another issuer', async (token) => resigned(token, (await keyOf(cars.tenant)).privateKey, {}, { iss: baseUrl })],
    [
      'another audience',
      async (token) => resigned(token, (await keyOf(cars.tenant)).privateKey, {}, { aud: 'https://api.test' }),
    ],
    [
      'an id that is none',
      async (token) => resigned(token, (await keyOf(cars.tenant)).privateKey, {}, { 'sa:invitation:id': "1' or 1=1" }),
    ],
    ['a kid with a NUL', async (token) => resigned(token, (await keyOf(cars.tenant)).privateKey, { kid: 'a\0b' })],
  ];
  test.each(forgeries)('%s', async (_, forge) => {
    await other.invite();
    const { requestToken, invitationId } = await cars.invite();
    const forged = await forge(requestToken);
    for (const verb of ['accept', 'decline', 'preview']) {
      const acceptor = verb === 'accept' ? { acceptor: { type: 'user', id: 'bob' } } : {};
      const answer = await bob('POST', cars.path(`/${verb}`), { body: { ...acceptor, requestToken: forged } });
      expect([verb, answer.status, answer.body.code]).toEqual([verb, 400, 'invitation_token_invalid']);
      expect(answer.text).not.toContain(requestToken.split('.')[2]);
    }
    expect((await cars.backend('GET', cars.path(`/${invitationId}`))).body).toMatchObject({
      status: 'pending',
      uses: 0,
    });
    expect((await accept(requestToken)).status).toBe(200);
  });

  test('a token of another tenant, as it is', async () => {
    const { requestToken } = await other.invite();
    expect((await accept(requestToken)).body.code).toBe('invitation_token_invalid');
  });
  test('a token that is signed rightly for an invitation that is not there is 404', async () => {
    const { requestToken } = await cars.invite();
    const { privateKey } = await keyOf(cars.tenant);
    const token = await resigned(requestToken, privateKey, {}, { 'sa:invitation:id': randomUUID() });
    expect((await accept(token)).body.code).toBe('invitation_not_found');
  });
});

async function resigned(token: string, key: SigningKey['privateKey'], header: object = {}, claims: object = {}) {
  const protectedHeader = { ...decodeProtectedHeader(token), alg: 'ES256', ...header } as { alg: string };
  return new SignJWT({ ...decodeJwt(token), ...claims }).setProtectedHeader(protectedHeader).sign(key);
}

test('keys are replaced when they are old, and verify as long as what they signed (invitationKeyAgeMsMax)', async () => {
  const own = await invitingTenant(server);
  const invite = async () => {
    const backend = await own.scoped('relationships:write'); // the access token before has expired
    return (await backend('POST', own.path(), { body: body() })).body.requestToken as string;
  };
  const first = await invite();
  clock.advance(limits.invitationKeyAgeMsMax - 1);
  const late = await invite();
  expect((await jwks(own.tenant)).keys).toHaveLength(1);
  clock.advance(1);
  const fresh = await invite();
  const kid = (token: string) => decodeProtectedHeader(token).kid;
  // Servers hold the keys, and learn of a new one by a notification.
  await expect.poll(async () => (await jwks(own.tenant)).keys.map((key) => key.kid)).toEqual([kid(fresh), kid(first)]);
  const again = async (id: string, token: string) =>
    (await own.accept(await own.user(id), id, token)).body.code ?? 'accepted';
  expect(await again('bob', late)).toBe('accepted');
  expect(await again('bob', first)).toBe('invitation_expired');
  clock.advance(limits.invitationAgeMsMax);
  expect((await jwks(own.tenant)).keys.map((key) => key.kid)).toEqual([kid(fresh)]);
  expect(await again('bob', late)).toBe('invitation_token_invalid');
});

test('invitations of a disabled tenant are 404 and do nothing', async () => {
  const own = await invitingTenant(server);
  const { requestToken } = await own.invite();
  const user = await own.user('bob');
  await disableTenant(server.services.tenants, manifestWriter, own.tenant);
  // Before the server knows, and after.
  const acceptor = { type: 'user', id: 'bob' };
  const early = await user('POST', own.path('/accept'), { body: { acceptor, requestToken } });
  await server.services.snapshots.refresh(own.tenant);
  const late = await user('POST', own.path('/accept'), { body: { acceptor, requestToken } });
  const preview = await user('POST', own.path('/preview'), { body: { requestToken } });
  const keys = await server.app.inject({ url: `/${own.tenant}/.well-known/jwks.json` });
  expect([early.status, late.status, preview.status, keys.statusCode]).toEqual([404, 404, 404, 404]);
});
