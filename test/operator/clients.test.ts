/** OAuthClients and their secrets: generated into a Secret or a file, or read from one; and what becomes of them. */
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { verifyClientSecret } from '../../server/clients/index.ts';
import { systemClock } from '../../server/core/clock.ts';
import { readTenantSecret } from '../../server/tenants/index.ts';
import { conditionOf, createWorld, save, until } from './harness.ts';
import { tenantYaml } from './manifests.ts';
import { MemorySource } from './memory-source.ts';

const world = await createWorld();
const { encrypter } = world;
beforeEach(() => world.empty());

const clientYaml = (more: string, name = 'backend') => `apiVersion: accord.dev/v1alpha1
kind: OAuthClient
metadata: {name: ${name}, namespace: acme}
spec: {tenantRef: {name: acme}, clientId: ${name}, grantTypes: [client_credentials], ${more}}
`;
const generated = 'generateSecret: {name: backend-client}';
const key = 'OAuthClient/acme/backend';

async function serving() {
  const snapshots = await world.serve();
  const verifies = (value: string | undefined, id = 'backend') => {
    const snapshot = snapshots.get('acme');
    const client = snapshot?.clients.get(id);
    if (snapshot === undefined || client === undefined || value === undefined) return false;
    return verifyClientSecret({ encrypter }, snapshot, client, value, systemClock.now());
  };
  return { snapshots, verifies };
}
const valueIn = (source: MemorySource, name = 'backend-client') =>
  source.secret('acme', name)?.data.client_secret?.toString();

test('a secret is generated into a Secret, made again when that is deleted, and goes with the client', async () => {
  const source = new MemorySource();
  source.apply(tenantYaml('acme'));
  source.apply(clientYaml(generated));
  const { snapshots, verifies } = await serving();
  const run = world.operateOn(source);
  await run.operator.settled();
  expect(source.condition(key)).toMatchObject({ status: 'True' });
  const first = valueIn(source);
  expect(first).toMatch(/^[\w-]{43}$/);
  expect(source.secret('acme', 'backend-client')?.data.client_id?.toString()).toBe('backend');
  expect(verifies(first)).toBe(true);
  run.operator.resync();
  await until(() => run.operator.idle());
  expect(valueIn(source)).toBe(first);
  source.putSecret('acme', 'backend-client', undefined);
  await until(() => valueIn(source) !== undefined);
  const second = valueIn(source);
  expect(second).not.toBe(first);
  // Both work: whoever has read the first one has time to read again.
  await until(() => verifies(second));
  expect(verifies(first)).toBe(true);
  source.delete(key);
  await until(() => source.get(key) === undefined);
  await until(() => snapshots.get('acme')?.clients.size === 0);
  expect(snapshots.get('acme')?.auth.denied.clients.get('backend')?.untilMs).toBe(Number.POSITIVE_INFINITY);
});

test('a Secret of somebody else is not taken, nor one of another client', async () => {
  const source = new MemorySource();
  source.apply(tenantYaml('acme'));
  source.putSecret('acme', 'backend-client', { client_id: 'backend', client_secret: 'a'.repeat(43) });
  source.apply(clientYaml(generated));
  const { verifies } = await serving();
  await world.operateOn(source).operator.settled();
  expect(source.condition(key, 'Accepted')).toMatchObject({
    ...{ status: 'False', reason: 'SecretNotFound' },
    message: expect.stringContaining('acme/backend-client exists that Accord did not create'),
  });
  expect(verifies('a'.repeat(43))).toBe(false);
  source.putSecret('acme', 'backend-client', undefined);
  await until(() => verifies(valueIn(source)));
  source.apply(clientYaml(generated, 'second'));
  await until(() => source.condition('OAuthClient/acme/second', 'Accepted')?.status === 'False');
});

test('a secret is read from a Secret that others make, and refused when it is too short', async () => {
  const source = new MemorySource();
  source.apply(tenantYaml('acme'));
  source.apply(clientYaml('secretRef: {name: theirs}'));
  const { verifies } = await serving();
  await world.operateOn(source).operator.settled();
  expect(source.condition(key, 'Accepted')?.message).toContain('Secret acme/theirs of spec.secretRef not found');
  source.putSecret('acme', 'theirs', { client_secret: 'short' });
  await until(() => source.condition(key, 'Accepted')?.message.includes('32 to 256') === true);
  source.putSecret('acme', 'theirs', { client_secret: 'b'.repeat(32) });
  await until(() => verifies('b'.repeat(32)));
});

test('a Secret that changes while no server has the client yet is read again', async () => {
  const source = new MemorySource();
  source.apply(tenantYaml('acme'));
  source.putSecret('acme', 'theirs', { client_secret: 'c'.repeat(32) });
  source.apply(clientYaml('secretRef: {name: theirs}'));
  const { operator } = world.operateOn(source);
  await operator.settled();
  expect(source.condition(key, 'Programmed')).toMatchObject({ status: 'False', reason: 'NoLiveServer' });
  source.putSecret('acme', 'theirs', undefined);
  await until(() => source.condition(key, 'Accepted')?.reason === 'SecretNotFound');
});

test('where there are no Secrets, the secret is in a file that its owner alone can read', async () => {
  const [directory, data] = [await world.directory(), join(await world.directory(), 'secrets')];
  await save(join(directory, 'tenant.yaml'), tenantYaml('acme'));
  await save(join(directory, 'client.yaml'), clientYaml(generated));
  const { verifies } = await serving();
  const run = world.operate(directory, { secretFiles: data });
  await run.operator.settled();
  const path = join(data, 'acme', 'backend-client.json');
  const { client_id: id, client_secret: value } = JSON.parse(await readFile(path, 'utf8'));
  expect(id).toBe('backend');
  expect(verifies(value)).toBe(true);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(join(data, 'acme'))).mode & 0o777).toBe(0o700);
  await rm(path);
  run.operator.resync();
  await until(async () => (await stat(path).catch(() => undefined)) !== undefined);
  // What others make cannot be read here, and the status says so.
  await save(join(directory, 'reader.yaml'), clientYaml('secretRef: {name: theirs}', 'reader'));
  const missing = () => conditionOf(run, 'OAuthClient/acme/reader', 'SecretAvailable');
  await until(() => missing()?.status === 'False');
  expect(missing()).toMatchObject({ reason: 'SecretNotFound', message: expect.stringContaining('no secret yet') });
  expect(conditionOf(run, key, 'SecretAvailable')).toBeUndefined();
});

test("an issuer's client secret for log-ins is stored encrypted, and goes with it", async () => {
  const source = new MemorySource();
  source.apply(tenantYaml('acme'));
  source.putSecret('acme', 'google', { client_secret: 'hunter2' });
  const [issuer] = source.apply(`apiVersion: accord.dev/v1alpha1
kind: TrustedIssuer
metadata: {name: google, namespace: acme}
spec:
  tenantRef: {name: acme}
  issuer: https://accounts.example
  login: {clientId: acme, secretRef: {name: google}, displayName: Google}
`);
  const { snapshots } = await serving();
  await world.operateOn(source).operator.settled();
  const stored = () =>
    world.database.read('acme', (tx) => readTenantSecret(encrypter, tx, 'acme', 'trusted_issuer/google/login'));
  expect(await stored()).toEqual({ client_secret: 'hunter2' });
  expect(snapshots.get('acme')?.auth.issuers.get('https://accounts.example')?.login).toMatchObject({
    ...{ clientId: 'acme', scopes: ['openid', 'email', 'profile'], displayName: 'Google' },
  });
  source.apply(tenantYaml('acme', 'displayName2: x').replace('  displayName2: x\n', ''));
  source.delete(issuer as string);
  await until(async () => (await stored()) === undefined);
});
