import { randomBytes } from 'node:crypto';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import { createEncrypter } from '../../server/core/encrypter.ts';
import { limits } from '../../server/core/limits.ts';
import { mintClientToken, mintUserToken, openInstallationKey } from '../../server/keys/index.ts';
import { tenantRowsOf } from '../../server/room/room.ts';
import { rooms } from '../../server/rooms.ts';
import { putTenant } from '../../server/tenants/index.ts';
import { tenantWriter } from '../../server/writes/index.ts';
import { baseUrl, createTestApp, masterKey, operator, send } from '../access/test-app.ts';
import { tenantSpec } from '../core/auth/tenant-auth.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestDatabase } from '../helpers/database.ts';

const db = await createTestDatabase();
const test1 = await createTestApp(db);
const { app, clock, keyed } = test1;

const behind = <Row extends object>(text: string, values: unknown[] = []) => asAdmin<Row>(db.adminUrl, text, values);

const keysOf = async (tenant: string) =>
  (await send(app, 'GET', `/${tenant}/oidc/jwks`)).body.keys as { kid: string; alg: string }[];

test('a tenant has a key from its first day, public at /{tenant}/oidc/jwks', async () => {
  await test1.tenant('first');
  const { status, body, headers } = await send(app, 'GET', '/first/oidc/jwks');
  expect(status).toBe(200);
  expect(headers['content-type']).toContain('application/jwk-set+json');
  expect(headers['cache-control']).toBe('public, max-age=300');
  expect(body.keys).toEqual([
    {
      kty: 'EC',
      crv: 'P-256',
      alg: 'ES256',
      use: 'sig',
      kid: expect.any(String),
      x: expect.any(String),
      y: expect.any(String),
    },
  ]);
});

test('putting the tenant again makes no other key', async () => {
  await test1.tenant('same');
  const before = await keysOf('same');
  const written = await test1.tenant('same');
  expect(written.changed).toBe(false);
  expect(await keysOf('same')).toEqual(before);
});

test('another algorithm makes another key; the old one verifies until its last token has expired', async () => {
  await test1.tenant('rotating');
  const old = await mintClientToken(keyed, 'rotating', { clientId: 'app', scopes: ['authz:evaluate'] });
  const auth = () => test1.authOf('rotating');
  await test1.tenant('rotating', { tokens: { signingAlgorithm: 'RS256' } });
  const keys = await keysOf('rotating');
  expect(keys.map((key) => key.alg).sort()).toEqual(['ES256', 'RS256']);
  // The new key is published and signs later, when everybody has read it.
  const between = await mintClientToken(keyed, 'rotating', { clientId: 'app', scopes: ['authz:evaluate'] });
  expect(decodeProtectedHeader(between.token).alg).toBe('ES256');
  clock.advance(limits.keyPublishedAheadMs);
  const fresh = await mintClientToken(keyed, 'rotating', { clientId: 'app', scopes: ['authz:evaluate'] });
  expect(decodeProtectedHeader(fresh.token).alg).toBe('RS256');
  expect((await test1.tokens.verify(old.token, auth())).kind).toBe('backend');
  expect((await test1.tokens.verify(fresh.token, auth())).kind).toBe('backend');
  clock.advance(limits.accessTokenTtlMsMax);
  expect((await keysOf('rotating')).map((key) => key.alg)).toEqual(['RS256']);
  await expect(test1.tokens.verify(old.token, auth())).rejects.toMatchObject({ status: 401 });
  await test1.tenant('rotating');
  const rows = await behind<{ algorithm: string }>(
    `select algorithm from accord.signing_key where tenant = 'rotating'`,
  );
  expect(rows.map((row) => row.algorithm).sort()).toEqual(['ES256', 'RS256']); // the retired ES256 key is deleted, a new one made
});

test('a client token is what RFC 9068 says, and anybody can verify it with the public keys', async () => {
  await test1.tenant('minting', {
    audiences: ['https://one.example', 'https://two.example'],
    tokens: { accessTokenTTL: 'PT5M' },
  });
  const minted = await mintClientToken(keyed, 'minting', {
    clientId: 'app',
    scopes: ['authz:evaluate', 'events:read'],
  });
  const jwks = createLocalJWKSet({ keys: (await keysOf('minting')) as never });
  const { payload, protectedHeader } = await jwtVerify(minted.token, jwks, {
    typ: 'at+jwt',
    issuer: `${baseUrl}/minting/oidc`,
    audience: 'https://one.example',
    currentDate: new Date(clock.now()),
  });
  expect(protectedHeader.alg).toBe('ES256');
  expect(payload).toMatchObject({
    sub: 'app',
    client_id: 'app',
    scope: 'authz:evaluate events:read',
    iat: clock.seconds(),
    exp: clock.seconds() + 300,
    jti: minted.jti,
  });
  expect(minted.expiresAt).toBe(new Date((clock.seconds() + 300) * 1000).toISOString());
});

test("a user's token names a client that is not the user, and is a user's", async () => {
  await test1.tenant('users', { tokenMapping: { actorIdClaimPath: 'email', defaultActorType: 'patient' } });
  const minted = await mintUserToken(keyed, 'users', { userId: 'alice', ttlMs: 60_000 });
  expect(decodeJwt(minted.token)).toMatchObject({ sub: 'alice', client_id: 'accord-cli', exp: clock.seconds() + 60 });
  const caller = await test1.tokens.verify(minted.token, test1.authOf('users'));
  expect(caller).toMatchObject({ kind: 'user', actor: { type: 'patient', id: 'alice' } });
  const known = await mintUserToken(keyed, 'users', { userId: 'alice', email: 'Alice@example.org' });
  expect(await test1.tokens.verify(known.token, test1.authOf('users'))).toMatchObject({ email: 'alice@example.org' });
  await expect(
    mintUserToken(keyed, 'users', { userId: 'alice', email: 'Alice <a@example.org>' }),
  ).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('without a display name'),
  });
  for (const userId of ['accord-cli', '', 'x'.repeat(limits.subjectCharsMax + 1)]) {
    await expect(mintUserToken(keyed, 'users', { userId })).rejects.toMatchObject({ status: 400 });
  }
  await expect(mintClientToken(keyed, 'users', { clientId: 'accord-cli', scopes: [] })).rejects.toMatchObject({
    status: 400,
  });
});

test('no lifetime is longer than the longest that a tenant may ask for', async () => {
  await test1.tenant('lasting');
  const minted = await mintClientToken(keyed, 'lasting', {
    clientId: 'app',
    scopes: [],
    ttlMs: 10 * limits.accessTokenTtlMsMax,
  });
  expect(decodeJwt(minted.token).exp).toBe(clock.seconds() + limits.accessTokenTtlMsMax / 1000);
});

test('there are no tokens of a tenant that is not there or is disabled', async () => {
  await expect(mintUserToken(keyed, 'nobody', { userId: 'alice' })).rejects.toMatchObject({ code: 'tenant_not_found' });
  await test1.tenant('closed');
  await test1.disable('closed');
  await expect(mintUserToken(keyed, 'closed', { userId: 'alice' })).rejects.toMatchObject({ code: 'tenant_not_found' });
  expect((await send(app, 'GET', '/closed/oidc/jwks')).status).toBe(404);
});

test('a key moved to another tenant does not open', async () => {
  await test1.tenant('victim');
  await test1.tenant('thief');
  await behind(`delete from accord.signing_key where tenant = 'thief'`);
  await behind(`update accord.signing_key set tenant = 'thief' where tenant = 'victim'`);
  await expect(mintUserToken(keyed, 'thief', { userId: 'alice' })).rejects.toThrow('cannot be decrypted');
  await behind(`update accord.signing_key set tenant = 'victim' where tenant = 'thief'`);
});

test('private keys are nowhere in clear', async () => {
  const rows = await behind<{ private_key: Buffer; public_jwk: object }>(
    'select private_key, public_jwk from accord.signing_key',
  );
  expect(rows.length).toBeGreaterThan(5);
  for (const row of rows) {
    expect(row.private_key.includes('"d"')).toBe(false);
    expect(row.public_jwk).not.toHaveProperty('d');
  }
});

test('the installation key is made once, however many servers start at once', async () => {
  const fresh = await createTestDatabase();
  const services = { database: fresh.database, encrypter: createEncrypter(masterKey) };
  const keys = await Promise.all(Array.from({ length: 8 }, () => openInstallationKey(services)));
  expect(new Set(keys.map((key) => key.kid)).size).toBe(1);
});

test('a wrong master key stops the start, with the reason', async () => {
  const wrong = createEncrypter(randomBytes(32).toString('base64url'));
  const opening = openInstallationKey({ database: db.database, encrypter: wrong });
  await expect(opening).rejects.toThrow('ACCORD_MASTER_KEY is not the key that this database was encrypted with');
});

test('a wrong master key is noticed on any tenant, before a new key is sealed under it', async () => {
  const fresh = await createTestDatabase();
  const right = createEncrypter(masterKey);
  const services = {
    database: fresh.database,
    clock,
    write: tenantWriter({ database: fresh.database, clock }),
    encrypter: right,
    rows: tenantRowsOf(rooms),
  };
  await putTenant(services, operator('demo'), 'demo', tenantSpec());
  const wrong = createEncrypter(randomBytes(32).toString('base64url'));
  await expect(openInstallationKey({ database: fresh.database, encrypter: wrong })).rejects.toThrow(
    'ACCORD_MASTER_KEY is not',
  );
  await expect(openInstallationKey({ database: fresh.database, encrypter: right })).resolves.toBeDefined();
});
