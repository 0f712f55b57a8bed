/** Clients in the database and in the snapshot, their secrets, and what becomes of their tokens. */
import { expect, test } from 'vitest';
import { type ClientSpec, deleteClient, putClient, verifyClientSecret } from '../../server/clients/index.ts';
import { authorOf } from '../../server/core/author.ts';
import { systemClock } from '../../server/core/clock.ts';
import { limits } from '../../server/core/limits.ts';
import type { Writer } from '../../server/core/ownership.ts';
import {
  denyErasedSubject,
  denySubjectTokens,
  denyToken,
  keysRoom,
  mintClientToken,
  mintUserToken,
} from '../../server/keys/index.ts';
import { putTenant } from '../../server/tenants/index.ts';
import { type ConfigUnit, write } from '../../server/writes/index.ts';
import { TestClock } from '../core/auth/test-clock.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer, manifestWriter, tenantSpec } from '../helpers/server.ts';
import { clientSpec, spa } from './client.ts';

/** Its instants go on when they are told to; what waits for a while waits for so long. */
class WallClock extends TestClock {
  override monotonic = () => systemClock.monotonic();
}
const clock = new WallClock();
const server = await createTestServer({ ACCORD_RATE_LIMIT: '100000' }, undefined, clock);
const { services, app } = server;
const clients = services.clients;
const writer: Writer = { ...manifestWriter, actor: 'operator:test' };
const secret = (letter: string) => letter.repeat(43);

async function put(tenant: string, spec: ClientSpec, value?: string) {
  const written = await putClient(clients, writer, tenant, spec, { secret: value });
  await services.snapshots.refresh(tenant);
  return written;
}

const snapshotOf = (tenant: string) => services.snapshot.snapshotOf(tenant);
const clientOf = (tenant: string, id = 'backend') => snapshotOf(tenant).clients.get(id);
const verifies = (tenant: string, value: string, id = 'backend') => {
  const client = clientOf(tenant, id);
  return client !== undefined && verifyClientSecret(clients, snapshotOf(tenant), client, value, clock.now());
};
const decide = async (tenant: string, token: string) => {
  const answer = await app.inject({
    method: 'POST',
    url: `/authz/${tenant}`,
    headers: { authorization: `Bearer ${token}` },
    payload: { subject: { type: 'user', id: 'a' }, action: 'read', resource: { type: 'car', id: '1' } },
  });
  return answer.statusCode;
};

test('a client that comes to authenticate without a secret loses those that it has, and the audit says so', async () => {
  const tenant = await server.tenant();
  await put(tenant, clientSpec(), secret('a'));
  const [old] = clientOf(tenant)?.secrets ?? [];
  for (let i = 0; i < 2; i++) await put(tenant, clientSpec({ ...spa, clientId: 'backend' }));
  expect(clientOf(tenant)?.secrets).toEqual([]);
  const audited = await asAdmin<{ detail: unknown }>(
    server.db.adminUrl,
    `select detail from accord.audit_entry where tenant = '${tenant}' and action = 'delete_secret'`,
  );
  expect(audited).toEqual([{ detail: expect.objectContaining({ secret: old?.id }) }]);
});

test('a client is in the snapshot with its defaults, and goes from it', async () => {
  const tenant = await server.tenant();
  await put(tenant, clientSpec({ displayName: 'Back end' }), secret('a'));
  expect(clientOf(tenant)).toMatchObject({
    ...{ clientId: 'backend', displayName: 'Back end', enabled: true, applicationType: 'web' },
    ...{ grantTypes: ['client_credentials'], redirectUris: [], scopes: ['authz:evaluate'] },
    ...{ audiences: ['https://api.test'], tokenEndpointAuthMethod: 'client_secret_basic', firstParty: false },
    secrets: [{ id: expect.any(String), digest: expect.any(String) }],
  });
  expect(clientOf(tenant)).not.toHaveProperty('generateSecret');
  expect((await put(tenant, clientSpec({ displayName: 'Back end' }), secret('a'))).changed).toBe(false);
  await put(tenant, clientSpec({ ...spa, clientId: 'page' }));
  expect(clientOf(tenant, 'page')).toMatchObject({ redirectUris: ['https://app.example/callback'], secrets: [] });
  await deleteClient(clients, writer, tenant, 'page');
  await services.snapshots.refresh(tenant);
  expect([...snapshotOf(tenant).clients.keys()]).toEqual(['backend']);
});

test('a secret is stored as a keyed digest, of this tenant, its incarnation and this client', async () => {
  const [tenant, other] = [await server.tenant(), await server.tenant()];
  await put(tenant, clientSpec(), secret('a'));
  await put(tenant, clientSpec({ clientId: 'second' }), secret('a'));
  await put(other, clientSpec(), secret('a'));
  const stored = await asAdmin<{ digest: string }>(
    server.db.adminUrl,
    `select digest from accord.oauth_client_secret where tenant in ('${tenant}', '${other}')`,
  );
  expect(new Set(stored.map(({ digest }) => digest)).size).toBe(3);
  expect(JSON.stringify(stored)).not.toContain(secret('a'));
  expect(verifies(tenant, secret('a'))).toBe(true);
  expect(verifies(tenant, secret('b'))).toBe(false);
  expect(verifies(tenant, '')).toBe(false);
  const client = clientOf(tenant) as NonNullable<ReturnType<typeof clientOf>>;
  const successor = { tenant, tenantCreatedAt: '2030-01-01T00:00:00.000Z' };
  expect(verifyClientSecret(clients, successor, client, secret('a'), clock.now())).toBe(false);
});

test('of a changed secret the one before works for a day, and at most two at once', async () => {
  const tenant = await server.tenant();
  await put(tenant, clientSpec(), secret('a'));
  await put(tenant, clientSpec(), secret('b'));
  expect([verifies(tenant, secret('a')), verifies(tenant, secret('b'))]).toEqual([true, true]);
  clock.advance(limits.clientSecretOverlapMs - 1);
  expect(verifies(tenant, secret('a'))).toBe(true);
  clock.advance(1);
  expect([verifies(tenant, secret('a')), verifies(tenant, secret('b'))]).toEqual([false, true]);
  await put(tenant, clientSpec(), secret('c'));
  await put(tenant, clientSpec(), secret('d'));
  expect(clientOf(tenant)?.secrets).toHaveLength(limits.clientSecretsMax);
  expect(['b', 'c', 'd'].map((one) => verifies(tenant, secret(one)))).toEqual([false, true, true]);
  await put(tenant, clientSpec(), secret('c'));
  clock.advance(limits.clientSecretOverlapMs);
  expect(['c', 'd'].map((one) => verifies(tenant, secret(one)))).toEqual([true, false]);
  const jwks = { keys: [{ kty: 'EC', crv: 'P-256', ...point }] };
  await put(tenant, clientSpec({ tokenEndpointAuthMethod: 'private_key_jwt', jwks, generateSecret: undefined }));
  expect(clientOf(tenant)?.secrets).toEqual([]);
});

const point = {
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
};

test.each([
  ['31 characters', 'a'.repeat(31)],
  ['257 characters', 'a'.repeat(limits.clientSecretCharsMax + 1)],
  ['what form-decoding changes', `${'a'.repeat(42)}+`],
])('a secret of %s is refused', async (_, value) => {
  const tenant = await server.tenant();
  await expect(put(tenant, clientSpec(), value)).rejects.toMatchObject({ code: 'client_secret_weak' });
  expect(snapshotOf(tenant).clients.size).toBe(0);
});

test('a client cannot be named like an audience, nor an audience like a client', async () => {
  const tenant = await server.tenant({ audiences: ['https://api.test', 'shop'] });
  await expect(put(tenant, clientSpec({ clientId: 'shop' }))).rejects.toMatchObject({ code: 'client_id_is_audience' });
  await put(tenant, clientSpec());
  const spec = tenantSpec({ audiences: ['https://api.test', 'backend'] });
  await expect(putTenant(services.tenants, manifestWriter, tenant, spec)).rejects.toMatchObject({
    code: 'client_id_is_audience',
  });
});

test('audiences are a part of the tenant’s, also when those become fewer', async () => {
  const tenant = await server.tenant({ audiences: ['https://api.test', 'https://b.test'] });
  await expect(put(tenant, clientSpec({ audiences: ['https://c.test'] }))).rejects.toMatchObject({
    ...{ code: 'client_audience_unknown', errors: [{ pointer: '/audiences/0' }] },
  });
  await put(tenant, clientSpec({ audiences: ['https://b.test'] }));
  expect(clientOf(tenant)?.audiences).toEqual(['https://b.test']);
  await putTenant(services.tenants, manifestWriter, tenant, tenantSpec());
  await services.snapshots.refresh(tenant);
  expect(clientOf(tenant)?.audiences).toEqual([]);
});

test('a key that is none is refused', async () => {
  const tenant = await server.tenant();
  const jwks = { keys: [{ kty: 'EC', crv: 'P-256', ...point, y: point.x }] };
  const spec = clientSpec({ tokenEndpointAuthMethod: 'private_key_jwt', jwks, generateSecret: undefined });
  await expect(put(tenant, spec)).rejects.toMatchObject({ code: 'client_key_invalid' });
});

test('deleting a client refuses its tokens at the next decision, and another of its id begins anew', async () => {
  const tenant = await server.tenant();
  await put(tenant, clientSpec());
  const { token } = await mintClientToken(services.keys, tenant, { clientId: 'backend', scopes: ['authz:evaluate'] });
  const other = await mintClientToken(services.keys, tenant, { clientId: 'free', scopes: ['authz:evaluate'] });
  const before = await decide(tenant, token);
  expect(before).toBe(200);
  clock.advance(5000);
  await deleteClient(clients, writer, tenant, 'backend');
  await services.snapshots.refresh(tenant);
  expect(await decide(tenant, token)).toBe(401);
  expect(await decide(tenant, other.token)).toBe(before);
  await put(tenant, clientSpec());
  expect(await decide(tenant, token)).toBe(401);
  clock.advance(1000);
  const fresh = await mintClientToken(services.keys, tenant, { clientId: 'backend', scopes: ['authz:evaluate'] });
  expect(await decide(tenant, fresh.token)).toBe(before);
});

test('disabling a client refuses all of its tokens, until it is enabled', async () => {
  const tenant = await server.tenant();
  const mint = async () =>
    (await mintClientToken(services.keys, tenant, { clientId: 'backend', scopes: ['authz:evaluate'] })).token;
  await put(tenant, clientSpec());
  const token = await mint();
  const before = await decide(tenant, token);
  await put(tenant, clientSpec({ enabled: false }));
  clock.advance(2000);
  const later = await mint();
  expect([await decide(tenant, token), await decide(tenant, later)]).toEqual([401, 401]);
  await put(tenant, clientSpec());
  clock.advance(2000);
  expect([await decide(tenant, token), await decide(tenant, later)]).toEqual([401, 401]);
  expect(await decide(tenant, await mint())).toBe(before);
});

const deny = async (tenant: string, work: (unit: ConfigUnit) => Promise<void>) => {
  await write(clients, authorOf(tenant, writer), { locks: 'configuration' }, work);
  await services.snapshots.refresh(tenant);
};

test('tokens of a user are refused with their subject, and one by its jti until it expires', async () => {
  const tenant = await server.tenant();
  const [first, second] = [
    await mintUserToken(services.keys, tenant, { userId: 'a' }),
    await mintUserToken(services.keys, tenant, { userId: 'b' }),
  ];
  const before = await decide(tenant, first.token);
  expect(before).toBe(200);
  await deny(tenant, (unit) => denyToken(unit, second.jti, Date.parse(second.expiresAt)));
  await deny(tenant, (unit) => denySubjectTokens(unit, 'a'));
  expect([await decide(tenant, first.token), await decide(tenant, second.token)]).toEqual([401, 401]);
  clock.advance(1000);
  const [again, other] = [
    await mintUserToken(services.keys, tenant, { userId: 'a' }),
    await mintUserToken(services.keys, tenant, { userId: 'b' }),
  ];
  expect(await decide(tenant, again.token)).toBe(before);
  expect((await app.inject({ url: `/${tenant}/oidc/jwks` })).statusCode).toBe(200);
  expect([...snapshotOf(tenant).auth.denied.jtis.keys()]).toEqual([second.jti]);
  expect(other.jti).not.toBe(second.jti);
});

test('a server reads of the refused tokens those that are new, and forgets those that have expired', async () => {
  const tenant = await server.tenant();
  const jtis = () => [...snapshotOf(tenant).auth.denied.jtis.keys()];
  const denyJtis = async (...names: string[]) => {
    const options = { locks: 'configuration' } as const;
    const expiresAtMs = clock.now() + 60_000;
    for (const jti of names)
      await write(clients, authorOf(tenant, writer), options, (unit) => denyToken(unit, jti, expiresAtMs));
    await services.snapshots.refresh(tenant);
  };
  await denyJtis('a');
  // Behind the back of the servers: who read all of the list would miss it.
  await asAdmin(server.db.adminUrl, `delete from accord.denied_token where tenant = '${tenant}'`);
  await denyJtis('b', 'c');
  expect(jtis()).toEqual(['a', 'b', 'c']);
  clock.advance(30_000);
  await denyJtis('d');
  expect(jtis()).toEqual(['a', 'b', 'c', 'd']);
  clock.advance(60_000);
  await denyJtis('e');
  expect(jtis()).toEqual(['d', 'e']);
});

test('the list of refused tokens of a server forgets the id of a person who is erased', async () => {
  const tenant = await server.tenant();
  const denied = () => snapshotOf(tenant).auth.denied;
  await deny(tenant, (unit) => denySubjectTokens(unit, 'ida'));
  expect([...denied().subjects.keys()]).toEqual(['ida']);
  await deny(tenant, (unit) => denyErasedSubject(unit, 'ida', 'gone', 'r'));
  expect([[...denied().subjects.keys()], denied().erased.size]).toEqual([[], 1]);
  // Erased again, which adds nothing to the list.
  await deny(tenant, (unit) => denySubjectTokens(unit, 'ida'));
  await deny(tenant, (unit) => denyErasedSubject(unit, 'ida', 'issued', 'r'));
  expect([[...denied().subjects.keys()], denied().erased.size]).toEqual([[], 1]);
});

test('so many single tokens are remembered, and expired ones are forgotten', async () => {
  const tenant = await server.tenant();
  const expiresAt = new Date(clock.now() + 60_000).toISOString();
  await asAdmin(
    server.db.adminUrl,
    `insert into accord.denied_token (tenant, kind, id, expires_at, revision)
      select '${tenant}', 'jti', 'n' || n, '${expiresAt}', 1 from generate_series(2, ${limits.deniedTokensMax}) n`,
  );
  const expiresAtMs = clock.now() + 60_000;
  await deny(tenant, (unit) => denyToken(unit, 'last', expiresAtMs));
  await expect(deny(tenant, (unit) => denyToken(unit, 'over', expiresAtMs))).rejects.toMatchObject({
    code: 'denied_tokens_quota_reached',
  });
  await deny(tenant, (unit) => denyToken(unit, 'last', expiresAtMs));
  clock.advance(120_000);
  const sweep = keysRoom.tasks?.(services.keys).find(({ name }) => name.startsWith('forgetting'));
  await sweep?.run(new AbortController().signal);
  await deny(tenant, (unit) => denyToken(unit, 'next', clock.now() + 1));
  expect([...snapshotOf(tenant).auth.denied.jtis.keys()]).toEqual(['next']);
});
