/** Keys of tokens: published before they sign, verifying as long as what they signed is used, and rotated. */
import { createLocalJWKSet, decodeProtectedHeader, importJWK, jwtVerify, SignJWT } from 'jose';
import { expect, test } from 'vitest';
import { systemClock } from '../../server/core/clock.ts';
import { limits } from '../../server/core/limits.ts';
import {
  accessKeys,
  identityKeys,
  invitationKey,
  keysRoom,
  mintClientToken,
  rotateKeys,
  type TokenKeys,
} from '../../server/keys/index.ts';
import { TestClock } from '../core/auth/test-clock.ts';
import { EmittedEvents } from '../helpers/emitted.ts';
import { createTestServer, manifestWriter } from '../helpers/server.ts';

class WallClock extends TestClock {
  override monotonic = () => systemClock.monotonic();
}
const clock = new WallClock();
const {
  app,
  db,
  services,
  tenant: createTenant,
  member,
} = await createTestServer({ ACCORD_RATE_LIMIT: '100000' }, undefined, clock);
const { keys } = services;
const events = new EmittedEvents(db);
const published = async (tenant: string, path = 'oidc/jwks') =>
  (await app.inject({ url: `/${tenant}/${path}` })).json().keys as { kid: string; alg: string; d?: string }[];
const rotate = async (tenant: string) => {
  const { result } = await rotateKeys(keys, tenant, manifestWriter);
  await services.snapshots.refresh(tenant);
  return result;
};
const kidsOf = ({ keys: all }: TokenKeys) => all.map(({ kid }) => kid);
const signersOf = ({ keys: all }: TokenKeys) => all.filter(({ privateJwk }) => privateJwk).map(({ kid }) => kid);

test('the identity key is RS256, made once on first need, and published with the access key', async () => {
  const tenant = await createTenant();
  expect((await published(tenant)).map(({ alg }) => alg)).toEqual(['ES256']);
  const [one, two] = await Promise.all([identityKeys(keys, tenant), identityKeys(keys, tenant)]);
  expect(kidsOf(one)).toEqual(kidsOf(two));
  expect(one.keys).toMatchObject([{ algorithm: 'RS256', privateJwk: { kty: 'RSA', d: expect.any(String) } }]);
  await expect.poll(async () => (await published(tenant)).map(({ alg }) => alg)).toEqual(['ES256', 'RS256']);
  expect((await published(tenant)).some((key) => key.d !== undefined)).toBe(false);
  // Records are verified by keys of their own.
  const made = await services.database.tenant(tenant, (tx) => invitationKey(services.invitations, tx, tenant));
  await expect
    .poll(async () => (await published(tenant, '.well-known/jwks.json')).map(({ kid }) => kid))
    .toEqual([made.kid]);
});

test('a new key is published at once, signs from an instant on, and the one before verifies until it retires', async () => {
  const tenant = await createTenant();
  const before = { access: await accessKeys(keys, tenant), identity: await identityKeys(keys, tenant) };
  const old = await mintClientToken(keys, tenant, { clientId: 'app', scopes: ['authz:evaluate'], ttlMs: 86_400_000 });
  const rotated = await rotate(tenant);
  expect(rotated.map(({ purpose }) => purpose)).toEqual(['access', 'identity']);
  const between = { access: await accessKeys(keys, tenant), identity: await identityKeys(keys, tenant) };
  expect(between.access.keys).toHaveLength(2);
  expect(kidsOf(between.access)[0]).toBe(kidsOf(before.access)[0]);
  expect(between.access.changesAtMs).toBe(clock.now() + limits.keyPublishedAheadMs);
  expect(signersOf(between.identity)).toEqual(kidsOf(between.identity));
  await expect.poll(async () => (await published(tenant)).length).toBe(4);
  // Whoever asks again gets no third key.
  expect(await rotate(tenant)).toEqual(rotated);
  clock.advance(limits.keyPublishedAheadMs - 1);
  const stillOld = await mintClientToken(keys, tenant, { clientId: 'app', scopes: [] });
  expect(decodeProtectedHeader(stillOld.token).kid).toBe(kidsOf(before.access)[0]);
  clock.advance(1);
  const fresh = await mintClientToken(keys, tenant, { clientId: 'app', scopes: [] });
  expect(decodeProtectedHeader(fresh.token).kid).toBe(rotated[0]?.kid);
  const after = await identityKeys(keys, tenant);
  expect(kidsOf(after)).toEqual([rotated[1]?.kid, kidsOf(before.identity)[0]]);
  expect(signersOf(after)).toEqual([rotated[1]?.kid]);
  expect((await services.issuers.tokens.verify(old.token, services.snapshot.snapshotOf(tenant).auth)).kind).toBe(
    'backend',
  );
  // As long as a session may live, what the old key signed is verified: a log-out with an old id_token_hint works.
  clock.advance(limits.sessionTtlMsMax - 1);
  expect((await identityKeys(keys, tenant)).keys).toHaveLength(2);
  clock.advance(1);
  expect(kidsOf(await identityKeys(keys, tenant))).toEqual([rotated[1]?.kid]);
  expect((await published(tenant)).map(({ kid }) => kid)).not.toContain(kidsOf(before.identity)[0]);
});

test('keys are rotated by schedule when they are old enough, and not before', async () => {
  const tenant = await createTenant();
  const [first] = kidsOf(await accessKeys(keys, tenant));
  const task = keysRoom.tasks?.(keys).find(({ name }) => name === 'rotating signing keys');
  const run = () => task?.run(new AbortController().signal);
  clock.advance(limits.signingKeyAgeMsMax - 1);
  await run();
  expect(kidsOf(await accessKeys(keys, tenant))).toEqual([first]);
  clock.advance(1);
  await run();
  await run();
  const both = kidsOf(await accessKeys(keys, tenant));
  expect(both).toHaveLength(2);
  const told = (await events.take()).filter((event) => event.tenant === tenant && event.type === 'SIGNING_KEY_ROTATED');
  const activatesAt = new Date(clock.now() + limits.keyPublishedAheadMs).toISOString();
  const kid = both.find((one) => one !== first);
  expect(told.map(({ data }) => data)).toEqual([{ requestor: 'accord', purpose: 'access', kid, activatesAt }]);
});

test('an ID token, which the same issuer signs, is no access token', async () => {
  const tenant = await createTenant();
  await services.snapshots.refresh(tenant);
  const { keys: own } = await accessKeys(keys, tenant);
  const signer = own[0];
  const key = await importJWK(signer?.privateJwk as never, 'ES256');
  const { issuer, audiences } = services.snapshot.snapshotOf(tenant).auth.own;
  const sign = (typ: string | undefined) =>
    new SignJWT({ sub: 'alice', client_id: 'app' })
      .setProtectedHeader({ alg: 'ES256', kid: signer?.kid as string, ...(typ === undefined ? {} : { typ }) })
      .setIssuer(issuer)
      .setAudience(audiences[0] as string)
      .setIssuedAt(clock.seconds())
      .setExpirationTime(clock.seconds() + 60)
      .sign(key);
  const ask = async (typ: string | undefined) =>
    (
      await app.inject({
        method: 'POST',
        url: `/authz/${tenant}`,
        headers: { authorization: `Bearer ${await sign(typ)}` },
        payload: { action: 'read', resource: { type: 'car', id: '1' } },
      })
    ).statusCode;
  expect(await ask('at+jwt')).toBe(200);
  for (const typ of [undefined, 'JWT', 'jwt', 'id+jwt']) expect(await ask(typ), typ).toBe(401);
  const jwks = createLocalJWKSet({ keys: (await published(tenant)) as never });
  await expect(jwtVerify(await sign('at+jwt'), jwks, { currentDate: new Date(clock.now()) })).resolves.toBeDefined();
});

test('members see the keys and their state, and a security-admin rotates those of tokens, which is audited', async () => {
  const tenant = await createTenant();
  await identityKeys(keys, tenant);
  await services.database.tenant(tenant, (tx) => invitationKey(services.invitations, tx, tenant));
  type Shown = { kid: string; purpose: string; state: string; activatesAt: string; rotatesAt?: string };
  const call = async (
    role: 'security-admin' | 'config-editor' | 'config-viewer' | 'support',
    method: 'GET' | 'POST',
  ) => {
    const headers = { authorization: `Bearer ${await member(tenant, role)}` };
    const url = `/tenants/${tenant}/keys${method === 'POST' ? '/rotate' : ''}`;
    const answer = await app.inject({ method, url, headers });
    return {
      status: answer.statusCode,
      headers: answer.headers,
      text: answer.body,
      keys: answer.json().keys as Shown[],
    };
  };
  const states = (shown: Shown[]) => shown.map(({ purpose, state }) => `${purpose} ${state}`);
  const before = await call('config-viewer', 'GET');
  expect(states(before.keys)).toEqual(['access active', 'identity active', 'invitation active']);
  expect(before.text).not.toMatch(/private|"d"/);
  expect(before.keys[0]?.rotatesAt).toBe(new Date(clock.now() + limits.signingKeyAgeMsMax).toISOString());
  for (const role of ['config-editor', 'config-viewer', 'support'] as const)
    expect([role, (await call(role, 'POST')).status, (await call(role, 'GET')).status]).toEqual([role, 403, 200]);
  const rotated = await call('security-admin', 'POST');
  expect(rotated.status).toBe(200);
  expect(rotated.headers['accord-revision']).toMatch(/^c\d+$/);
  const four = ['access published', 'access active', 'identity published', 'identity active', 'invitation active'];
  expect(states(rotated.keys)).toEqual(four);
  expect(rotated.keys[0]?.activatesAt).toBe(new Date(clock.now() + limits.keyPublishedAheadMs).toISOString());
  // Whoever asks again gets no third key, and a revision that is the same.
  const again = await call('security-admin', 'POST');
  expect([again.keys, again.headers['accord-revision']]).toEqual([rotated.keys, rotated.headers['accord-revision']]);
  const headers = { authorization: `Bearer ${await member(tenant, 'security-admin')}` };
  const audit = await app.inject({ url: `/tenants/${tenant}/audit?kind=key&action=rotate`, headers });
  expect(audit.json().entries).toMatchObject(
    ['identity', 'access'].map((name) => ({ name, actor: 'member:security-admin@localhost' })),
  );
  clock.advance(limits.keyPublishedAheadMs);
  const after = await call('support', 'GET');
  expect(states(after.keys).slice(0, 2)).toEqual(['access active', 'access retired']);
  expect(after.keys[0]?.kid).toBe(rotated.keys[0]?.kid);
});
