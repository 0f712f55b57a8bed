/** Manifests of types: made in any order, refused and held while in use, and gone with their tenant. */
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { conditionOf } from '../../operator/conditions.ts';
import { systemClock } from '../../server/core/clock.ts';
import { createEncrypter } from '../../server/core/encrypter.ts';
import { createRelationship, deleteRelationship } from '../../server/relationships/index.ts';
import { loadRelationshipTypes } from '../../server/types/index.ts';
import { masterKey } from '../helpers/server.ts';
import { createWorld, save, until } from './harness.ts';
import { tenantYaml } from './manifests.ts';

const world = await createWorld();
const { database, rooms } = world;
const records = { database, clock: systemClock, pseudonymizer: createEncrypter(masterKey) };

const yaml = (kind: string, tenant: string, name: string, spec: string) => `apiVersion: accord.dev/v1alpha1
kind: ${kind}
metadata: {name: ${tenant}-${name}}
spec:
  tenantRef: {name: ${tenant}}
${spec
  .split('\n')
  .map((line) => `  ${line}`)
  .join('\n')}
`;
const drives = (tenant: string) =>
  yaml('RelationshipType', tenant, 'a-drives', 'from: user\nname: drives\nto: car\nmaxPerTarget: 2');
const user = (tenant: string) =>
  yaml('ActorType', tenant, 'user', 'name: user\nattributes: [{name: level, type: number}]');
const car = (tenant: string) => yaml('ResourceType', tenant, 'car', 'name: car');

async function sharing(tenant: string) {
  const directory = await world.directory();
  await save(join(directory, 'a-drives.yaml'), drives(tenant));
  await save(join(directory, 'car.yaml'), car(tenant));
  await save(join(directory, 'user.yaml'), user(tenant));
  await save(join(directory, 'z-tenant.yaml'), tenantYaml(tenant, 'deletionPolicy: Delete'));
  const snapshots = await world.serve();
  const run = world.operate(directory);
  const states = async () => {
    const { resources } = await run.operator.settled();
    return resources.map(({ target, status }) => `${target.key} ${conditionOf(status ?? {}, 'Ready')?.status}`).sort();
  };
  // What another names may come after it: then it is tried again.
  const ready = await until(async () => {
    const all = await states();
    return all.length === 4 && all.every((one) => one.endsWith('True')) ? all : undefined;
  });
  return { directory, run, snapshots, ready };
}

const relationship = { from: { type: 'user', id: 'a' }, relationshipType: 'drives', to: { type: 'car', id: '1' } };
const writer = (tenant: string) => ({ tenant, by: { actor: 'client:test', requestId: 'r' } });

describe('manifests of types', () => {
  test('are made in the order that they need, and decided with', async () => {
    const { ready, snapshots } = await sharing('made');
    expect(ready).toEqual([
      'ActorType/default/made-user True',
      'RelationshipType/default/made-a-drives True',
      'ResourceType/default/made-car True',
      'Tenant//made True',
    ]);
    await until(() => snapshots.get('made')?.types.relationships.has('user:drives:car'));
    expect(snapshots.get('made')?.types.attributes.get('user')).toEqual(new Set(['level']));
    expect(await rooms.findRelationshipType('made', 'user:drives:car')).toMatchObject({ spec: { maxPerTarget: 2 } });
  });

  test('one that names a type which is not there says so, until it is', async () => {
    const { directory, run } = await sharing('refs');
    await save(join(directory, 'b.yaml'), yaml('RelationshipType', 'refs', 'b', 'from: user\nname: eats\nto: cake'));
    const refused = await until(async () => {
      const { resources } = await run.operator.settled();
      const status = resources.find(({ target }) => target.key === 'RelationshipType/default/refs-b')?.status;
      return conditionOf(status ?? {}, 'Accepted');
    });
    expect(refused).toMatchObject({ status: 'False', reason: 'RefNotFound', message: expect.stringContaining('cake') });
    await save(join(directory, 'cake.yaml'), yaml('ResourceType', 'refs', 'cake', 'name: cake'));
    await until(async () => rooms.findRelationshipType('refs', 'user:eats:cake'));
  });

  test('a policy whose data subjects have a relationship that is not there says so, until it is', async () => {
    const { directory, run, snapshots } = await sharing('persons');
    const spec =
      'name: car:read\nrego: |\n  package p\n  outcome := "deny"\ndataSubjects: {relationship: "user:owns:car"}';
    await save(join(directory, 'p.yaml'), yaml('Policy', 'persons', 'p', spec));
    const refused = await until(async () => {
      const { resources } = await run.operator.settled();
      return conditionOf(resources.find(({ target }) => target.name === 'persons-p')?.status ?? {}, 'Accepted');
    });
    expect(refused).toMatchObject({ status: 'False', reason: 'RefNotFound' });
    expect(refused?.message).toMatch(/p\.yaml:\d+: \/spec\/dataSubjects\/relationship: .*user:owns:car/);
    await save(
      join(directory, 'owns.yaml'),
      yaml('RelationshipType', 'persons', 'owns', 'from: user\nname: owns\nto: car'),
    );
    const served = await until(() => snapshots.get('persons')?.policies.get('car:read'));
    expect(served).toMatchObject({ dataSubjects: { relationship: 'user:owns:car' } });
  });

  /** Three that are inherited through one another, and one that is through one of them. */
  const named = (tenant: string, name: string, relationship: string, through: [string, string]) => {
    const [from, , to] = relationship.split(':');
    const ways = `inheritedThrough: [{relationship: "${through[0]}", from: "${through[1]}"}]`;
    return yaml(
      'RelationshipType',
      tenant,
      name,
      `from: ${from}\nname: ${relationship.split(':')[1]}\nto: ${to}\n${ways}`,
    );
  };
  const mutual = (tenant: string) => [
    named(tenant, 'a', 'user:reads:car', ['user:reads:car', 'car:tows:car']),
    named(tenant, 'b', 'car:tows:car', ['car:follows:car', 'car:follows:car']),
    named(tenant, 'c', 'car:follows:car', ['car:pulls:car', 'car:pulls:car']),
    named(tenant, 'd', 'car:pulls:car', ['car:tows:car', 'car:follows:car']),
  ];
  const mutualNames = ['car:follows:car', 'car:pulls:car', 'car:tows:car', 'user:reads:car'];

  test('those that are inherited through one another are made together, and go together', async () => {
    const directory = await world.directory();
    const parts = [tenantYaml('circle', 'deletionPolicy: Delete'), user('circle'), car('circle')];
    await save(join(directory, 'base.yaml'), parts.join('---\n'));
    for (const [i, text] of mutual('circle').entries()) await save(join(directory, `${i}.yaml`), text);
    const snapshots = await world.serve();
    const run = world.operate(directory);
    const { resources } = await run.operator.settled();
    const own = resources.filter(({ target }) => target.name.startsWith('circle'));
    const states = own.map(({ target, status }) => `${target.name} ${conditionOf(status ?? {}, 'Ready')?.status}`);
    expect(states.sort()).toEqual(
      ['circle', ...['a', 'b', 'c', 'car', 'd', 'user'].map((name) => `circle-${name}`)].map((one) => `${one} True`),
    );
    await until(() => snapshots.get('circle')?.types.relationships.size === 4);
    expect(await rooms.findRelationshipType('circle', 'car:pulls:car')).toMatchObject({
      owner: { source: 'files', name: 'circle-d' },
      updated_by: 'operator:files/default/circle-d',
    });
    for (const i of [0, 1, 2, 3]) await unlink(join(directory, `${i}.yaml`));
    const left = () => database.read('circle', (tx) => loadRelationshipTypes(tx, 'circle'));
    await until(async () => (await left()).length === 0);
  });

  test('one of a circle whose other half lacks a type says which, and all are made when that comes', async () => {
    const directory = await world.directory();
    await save(join(directory, 'base.yaml'), [tenantYaml('lack'), user('lack')].join('---\n'));
    for (const [i, text] of mutual('lack').entries()) await save(join(directory, `${i}.yaml`), text);
    await world.serve();
    const run = world.operate(directory);
    const { resources } = await run.operator.settled();
    const status = resources.find(({ target }) => target.name === 'lack-d')?.status;
    expect(conditionOf(status ?? {}, 'Accepted')).toMatchObject({
      reason: 'RefNotFound',
      message: expect.stringContaining('resource type car'),
    });
    await save(join(directory, 'car.yaml'), car('lack'));
    for (const name of mutualNames) await until(() => rooms.findRelationshipType('lack', name));
  });

  test('a relationship type that goes leaves what is there, and its ends stay until that is gone', async () => {
    const { directory, run } = await sharing('inuse');
    await createRelationship(records, writer('inuse'), relationship);
    await unlink(join(directory, 'a-drives.yaml'));
    await until(async () =>
      (await rooms.findRelationshipType('inuse', 'user:drives:car')) === undefined ? true : undefined,
    );
    await expect(
      createRelationship(records, writer('inuse'), { ...relationship, to: { type: 'car', id: '2' } }),
    ).rejects.toMatchObject({
      code: 'relationship_type_retired',
    });
    await unlink(join(directory, 'car.yaml'));
    const held = await until(() =>
      run.changes.map(({ status }) => conditionOf(status ?? {}, 'Accepted')).find((one) => one?.reason === 'InUse'),
    );
    expect(held?.message).toContain('user:drives:car');
    expect(await rooms.findResourceType('inuse', 'car')).toBeDefined();
    await deleteRelationship(records, writer('inuse'), relationship);
    await rooms.deleteRelationshipType({ owner: { source: 'api' }, actor: 'member:x' }, 'inuse', 'user:drives:car');
    await until(async () => ((await rooms.findResourceType('inuse', 'car')) === undefined ? true : undefined));
  });

  test('a tenant that goes takes its types and relationships with it', async () => {
    const { directory } = await sharing('whole');
    await createRelationship(records, writer('whole'), relationship);
    for (const file of ['a-drives', 'car', 'user', 'z-tenant']) await unlink(join(directory, `${file}.yaml`));
    await until(async () => ((await rooms.findTenant('whole')) === undefined ? true : undefined));
  });
});
