/** EventSubscriptions and their secrets: generated into a Secret or a file, or read from one. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../server/core/clock.ts';
import { deliverySettings } from '../../server/subscriptions/settings.ts';
import { asAdmin } from '../helpers/admin.ts';
import { conditionOf, createWorld, save, until } from './harness.ts';
import { tenantYaml } from './manifests.ts';
import { MemorySource } from './memory-source.ts';

const world = await createWorld();
beforeEach(() => world.empty());

const yamlOf = (more: string) => `apiVersion: accord.dev/v1alpha1
kind: EventSubscription
metadata: {name: hooks, namespace: acme}
spec: {tenantRef: {name: acme}, endpoint: "https://hooks.example/", eventTypes: ["*"], ${more}}
`;
const generated = 'generateSecret: {name: hooks-signing}';
const key = 'EventSubscription/acme/hooks';
const valueIn = (source: MemorySource) => source.secret('acme', 'hooks-signing')?.data.signing_secret?.toString();
const theirs = (letter: string) => `whsec_${Buffer.alloc(32, letter).toString('base64')}`;

function settings() {
  const services = { encrypter: world.encrypter, clock: systemClock, baseUrl: 'https://a.test', types: new Map() };
  return world.database.read('acme', (tx) => deliverySettings(services, tx, 'acme', 'hooks'));
}

function following(...yamls: string[]) {
  const source = new MemorySource();
  for (const yaml of [tenantYaml('acme'), ...yamls]) source.apply(yaml);
  return source;
}

test('a secret is generated into a Secret, made again when that is deleted, and goes with the subscription', async () => {
  const source = following(yamlOf(generated));
  await world.serve();
  const run = world.operateOn(source);
  await run.operator.settled();
  expect(source.condition(key)).toMatchObject({ status: 'True' });
  const first = valueIn(source);
  expect(first).toMatch(/^whsec_[\w+/]{43}=$/);
  expect(source.secret('acme', 'hooks-signing')?.data.subscription?.toString()).toBe('hooks');
  expect(await settings()).toMatchObject({ enabled: true, signingSecrets: [first] });
  run.operator.resync();
  await until(() => run.operator.idle());
  expect(valueIn(source)).toBe(first);
  source.putSecret('acme', 'hooks-signing', undefined);
  await until(async () => (await settings())?.signingSecrets.length === 2);
  expect((await settings())?.signingSecrets).toEqual([valueIn(source), first]);
  source.delete(key);
  await until(async () => (await settings()) === undefined);
});

test('the signing secret and that of the authentication are read from Secrets, and told where they do not fit', async () => {
  const auth =
    'auth: {type: oauth2, tokenUrl: "https://login.example/token", clientId: accord, secretRef: {name: login}}';
  const source = following(yamlOf(`secretRef: {name: theirs}, ${auth}`));
  await world.serve();
  await world.operateOn(source).operator.settled();
  const refusal = () => source.condition(key, 'Accepted')?.message ?? '';
  expect(refusal()).toContain('Secret acme/theirs of spec.secretRef not found');
  source.putSecret('acme', 'theirs', { signing_secret: theirs('a') });
  await until(() => refusal().includes('Secret acme/login of spec.auth.secretRef not found'));
  source.putSecret('acme', 'login', { token: 'a' });
  await until(() => refusal().includes('has no key client_secret'));
  source.putSecret('acme', 'login', { client_secret: 'hunter\n2' });
  await until(() => refusal().includes('ASCII without control characters'));
  expect(await settings()).toBeUndefined();
  source.putSecret('acme', 'login', { client_secret: 'hunter2' });
  await until(async () => (await settings())?.enabled === true);
  expect(await settings()).toMatchObject({
    signingSecrets: [theirs('a')],
    auth: { type: 'oauth2', tokenUrl: 'https://login.example/token', clientId: 'accord', clientSecret: 'hunter2' },
  });
  source.putSecret('acme', 'theirs', { signing_secret: 'whsec_short' });
  await until(() => refusal().includes('whsec_ and the base64 of 24 to 64 bytes'));
  source.putSecret('acme', 'theirs', { signing_secret: theirs('b') });
  await until(async () => (await settings())?.signingSecrets.length === 2);
  expect((await settings())?.signingSecrets).toEqual([theirs('b'), theirs('a')]);
  source.putSecret('acme', 'login', { client_secret: 'hunter3' });
  await until(async () => JSON.stringify(await settings()).includes('hunter3'));
});

test('an event type that there is not, and an address that is not public, are refused with their places', async () => {
  const source = following(yamlOf(`${generated}, filters: {actorTypes: [user]}`).replace('"*"', 'NO_SUCH'));
  await world.serve();
  await world.operateOn(source).operator.settled();
  const refusal = () => source.condition(key, 'Accepted')?.message ?? '';
  expect(refusal()).toContain('/spec/eventTypes/0: No event type is named NO_SUCH.');
  source.apply(yamlOf(generated).replace('hooks.example', '10.0.0.1'));
  await until(() => refusal().includes('/spec/endpoint: must not be at 10.0.0.1'));
  expect(source.secret('acme', 'hooks-signing')).toBeUndefined();
});

test('filters by types that come later are stored, and the status says which are missing', async () => {
  const source = following(yamlOf(`${generated}, filters: {actorTypes: [user], resourceTypes: [car, boat]}`));
  await world.serve();
  await world.operateOn(source).operator.settled();
  expect(source.condition(key, 'Accepted')).toMatchObject({ status: 'True' });
  const known = () => source.condition(key, 'FiltersKnown');
  // The users of consents are of the default type of the tenant, user, which needs no type.
  expect(known()).toMatchObject({
    status: 'False',
    reason: 'TypeNotFound',
    message: [0, 1]
      .map(
        (n) =>
          `/spec/filters/resourceTypes/${n}: The tenant has no type ${['car', 'boat'][n]}. No event passes by it until there is one.`,
      )
      .join(' '),
  });
  const type = (name: string) => `apiVersion: accord.dev/v1alpha1
kind: ResourceType
metadata: {name: ${name}, namespace: acme}
spec: {tenantRef: {name: acme}, name: ${name}}
`;
  source.apply(type('car'));
  await until(() => !known()?.message.includes('car'));
  source.apply(type('boat'));
  await until(() => known()?.status === 'True');
  // As of long ago: what was just written is looked at again by itself.
  for (const [table, column] of [
    ['entity_type', 'updated_at'],
    ['config_change', 'at'],
  ])
    await asAdmin(world.adminUrl, `update accord.${table} set ${column} = ${column} - interval '1 hour'`);
  source.delete('ResourceType/acme/car');
  await until(() => known()?.message.includes('The tenant has no type car.') === true);
  expect(known()).toMatchObject({ status: 'False', reason: 'TypeNotFound' });
});

test('where there are no Secrets, a generated one is in a file, and nothing is sent where one cannot be read', async () => {
  const [directory, data] = [await world.directory(), join(await world.directory(), 'secrets')];
  await save(join(directory, 'tenant.yaml'), tenantYaml('acme'));
  await save(join(directory, 'hooks.yaml'), yamlOf(generated));
  await world.serve();
  const run = world.operate(directory, { secretFiles: data });
  await run.operator.settled();
  const path = join(data, 'acme', 'hooks-signing.json');
  const { signing_secret: value } = JSON.parse(await readFile(path, 'utf8'));
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await settings()).toMatchObject({ enabled: true, signingSecrets: [value] });
  expect(conditionOf(run, key, 'SecretAvailable')).toBeUndefined();
  await save(join(directory, 'hooks.yaml'), yamlOf(`${generated}, auth: {type: bearer, secretRef: {name: theirs}}`));
  await until(async () => (await settings())?.enabled === false);
  await until(() => conditionOf(run, key, 'SecretAvailable')?.status === 'False');
  expect(conditionOf(run, key, 'SecretAvailable')).toMatchObject({ reason: 'SecretNotFound' });
});
