/** The namespace rule among the steps: who may name a tenant, who loses what, and what a stranger learns. */
import { beforeEach, describe, expect, test } from 'vitest';
import { turnOf } from '../../operator/create-context.ts';
import { isChild } from '../../operator/namespace-check.ts';
import { Records, type ResourceRecord } from '../../operator/records.ts';
import { createWorld, until } from './harness.ts';
import { policyYaml, tenantYaml } from './manifests.ts';
import { MemorySource } from './memory-source.ts';

const world = await createWorld();
const { rooms } = world;
beforeEach(() => world.empty());
const red = 'allowedNamespaces: {selector: {matchLabels: {team: red}}}';

const accepted = (source: MemorySource, key: string) => source.condition(key, 'Accepted');
const reason = (source: MemorySource, key: string) => accepted(source, key)?.reason;
const has = async (tenant: string, name: string) => (await rooms.findPolicy(tenant, name)) !== undefined;

async function operate(source: MemorySource) {
  const run = world.operateOn(source);
  await run.operator.settled();
  return run;
}

test.each([
  ['refused, and owns nothing', '', false],
  ['refused before, and may own a row now', 'p', true],
])('a manifest that was %s: whether its Tenant waits for it', (_, object, expected) => {
  const condition = { status: 'False' as const, message: '', observedGeneration: 1, lastTransitionTime: '' };
  const status = { conditions: [{ ...condition, type: 'Accepted', reason: 'NamespaceNotAllowed' }] };
  const record = { object, status } as unknown as ResourceRecord;
  expect(isChild({ records: { get: () => record } }, 'Policy/other/p')).toBe(expected);
});

describe('a child', () => {
  test('is taken from the namespace that is named like the tenant, and from no other', async () => {
    const source = new MemorySource();
    source.apply(tenantYaml('fleet'));
    source.apply(policyYaml('fleet', 'home'), { namespace: 'fleet' });
    source.apply(policyYaml('fleet', 'away'), { namespace: 'default' });
    await operate(source);
    expect(reason(source, 'Policy/fleet/home')).toBe('Valid');
    expect(accepted(source, 'Policy/default/away')).toMatchObject({ status: 'False', reason: 'NamespaceNotAllowed' });
    expect(await has('fleet', 'home')).toBe(true);
    expect(await has('fleet', 'away')).toBe(false);
    expect(source.isHeld('Policy/default/away')).toBe(false);
  });

  test('comes and goes with what the Tenant allows, at once and both ways', async () => {
    const source = new MemorySource();
    const snapshots = await world.serve();
    source.apply(tenantYaml('moving', 'allowedNamespaces: {names: [apps, moving]}'));
    source.apply(policyYaml('moving', 'p'), { namespace: 'apps' });
    const run = await operate(source);
    expect(snapshots.get('moving')?.policies.has('p')).toBe(true);
    source.apply(tenantYaml('moving'));
    await until(() => reason(source, 'Policy/apps/p') === 'NamespaceNotAllowed');
    expect(await has('moving', 'p')).toBe(false);
    await until(() => !snapshots.get('moving')?.policies.has('p'));
    expect(accepted(source, 'Policy/apps/p')?.message).toContain('No generation of it is served.');
    source.apply(tenantYaml('moving', 'allowedNamespaces: {names: [apps]}'));
    await until(() => source.condition('Policy/apps/p')?.status === 'True');
    await until(() => run.operator.idle());
    source.apply(tenantYaml('moving'));
    await until(() => reason(source, 'Policy/apps/p') === 'NamespaceNotAllowed');
    source.delete('Policy/apps/p');
    await until(() => source.get('Policy/apps/p') === undefined);
  });

  test('comes and goes with the labels of its namespace; labels that nobody knows revoke nothing', async () => {
    const source = new MemorySource();
    source.apply(tenantYaml('labelled', red));
    source.apply(policyYaml('labelled', 'p'), { namespace: 'apps' });
    const run = await operate(source);
    expect(reason(source, 'Policy/apps/p')).toBe('NamespaceNotAllowed');
    source.label('apps', { team: 'red' });
    await until(() => reason(source, 'Policy/apps/p') === 'Valid');
    source.label('apps', undefined);
    run.operator.resync();
    await until(() => run.operator.idle());
    expect(await has('labelled', 'p')).toBe(true);
    expect(reason(source, 'Policy/apps/p')).toBe('Valid');
    source.label('apps', { team: 'blue' });
    await until(() => reason(source, 'Policy/apps/p') === 'NamespaceNotAllowed');
    expect(await has('labelled', 'p')).toBe(false);
    source.label('apps', { team: 'red' });
    await until(() => has('labelled', 'p'));
  });

  test('that was allowed while the operator was down, and is not any more, loses its row at the start', async () => {
    const source = new MemorySource();
    source.apply(tenantYaml('slept', 'allowedNamespaces: {names: [apps]}'));
    source.apply(policyYaml('slept', 'p'), { namespace: 'apps' });
    const first = await operate(source);
    await first.close();
    source.apply(tenantYaml('slept'));
    const second = await operate(source);
    await until(() => reason(source, 'Policy/apps/p') === 'NamespaceNotAllowed');
    await until(() => second.operator.idle());
    expect(await has('slept', 'p')).toBe(false);
  });
});

describe('a type that is in use', () => {
  const typeYaml = (kind: string, name: string, spec: string) =>
    `apiVersion: accord.dev/v1alpha1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: {tenantRef: {name: typed}, ${spec}}\n`;

  test('becomes the API’s when its manifest may not name the tenant any more', async () => {
    const source = new MemorySource();
    source.apply(tenantYaml('typed', 'allowedNamespaces: {names: [typed, apps]}'));
    source.apply(typeYaml('ActorType', 'user', 'name: user'), { namespace: 'apps' });
    source.apply(typeYaml('ResourceType', 'car', 'name: car'), { namespace: 'typed' });
    source.apply(typeYaml('RelationshipType', 'owns', 'from: user, name: owns, to: car'), { namespace: 'typed' });
    await operate(source);
    await until(() => reason(source, 'RelationshipType/typed/owns') === 'Valid');
    source.apply(tenantYaml('typed'));
    await until(() => reason(source, 'ActorType/apps/user') === 'NamespaceNotAllowed');
    expect((await rooms.findActorType('typed', 'user'))?.owner).toEqual({ source: 'api' });
    expect(reason(source, 'RelationshipType/typed/owns')).toBe('Valid');
  });
});

describe('a namespace that is not allowed', () => {
  test('hears the same of a tenant that is there, of one that is not, and of names that are taken', async () => {
    const source = new MemorySource();
    source.apply(tenantYaml('secret-one'));
    source.apply(policyYaml('secret-one', 'taken'), { namespace: 'secret-one', createdAt: '2026-05-01T00:00:00Z' });
    source.apply(policyYaml('secret-one', 'stranger', { object: 'taken' }), {
      namespace: 'evil',
      createdAt: '2026-01-01T00:00:00Z',
    });
    source.apply(policyYaml('secret-two', 'guess'), { namespace: 'evil' });
    await operate(source);
    const [there, absent] = ['stranger', 'guess'].map((name) => accepted(source, `Policy/evil/${name}`));
    expect(there?.reason).toBe('NamespaceNotAllowed');
    expect(there?.message.replaceAll('secret-one', 'T')).toBe(absent?.message.replaceAll('secret-two', 'T'));
    // Older as it is, it does not win the name.
    expect(reason(source, 'Policy/secret-one/taken')).toBe('Valid');
  });

  test('does not keep the Tenant from going, and counts for nothing in the breaker', async () => {
    const source = new MemorySource();
    source.apply(tenantYaml('squatted'));
    for (let i = 0; i < 30; i++) source.apply(policyYaml('squatted', `squat-${i}`), { namespace: 'evil' });
    source.apply(policyYaml('squatted', 'mine'), { namespace: 'squatted' });
    await operate(source);
    source.delete('Policy/squatted/mine', ...Array.from({ length: 30 }, (_, i) => `Policy/evil/squat-${i}`));
    await until(async () => !(await has('squatted', 'mine')));
    expect(source.condition('Tenant//squatted', 'DeletionHeld')).toBeUndefined();
    source.apply(policyYaml('squatted', 'stays'), { namespace: 'evil' });
    await until(() => reason(source, 'Policy/evil/stays') === 'NamespaceNotAllowed');
    source.delete('Tenant//squatted');
    await until(() => source.get('Tenant//squatted') === undefined);
  });

  test('waits in a turn of its own, and not in that of the tenants that it names', async () => {
    const source = new MemorySource();
    source.apply(tenantYaml('victim'));
    source.apply(policyYaml('victim', 'mine'), { namespace: 'victim' });
    source.apply(policyYaml('victim', 'flood'), { namespace: 'evil' });
    source.apply(policyYaml('another', 'flood-2'), { namespace: 'evil' });
    await operate(source);
    const records = new Records(world.database, 'kubernetes');
    await records.load();
    const turn = (key: string) => turnOf({ source, records }, key);
    expect(turn('Policy/victim/mine')).toBe(turn('Tenant//victim'));
    expect(turn('Policy/evil/flood')).not.toBe(turn('Tenant//victim'));
    expect(turn('Policy/evil/flood-2')).toBe(turn('Policy/evil/flood'));
    source.apply(policyYaml('victim', 'new'), { namespace: 'evil' });
    expect(turn('Policy/evil/new')).toBe(turn('Policy/evil/flood'));
  });

  test('that takes its manifests back does not make the tenant look at its own again', async () => {
    const source = new MemorySource();
    source.apply(tenantYaml('quiet', 'allowedNamespaces: {names: [quiet, b]}'));
    source.apply(policyYaml('quiet', 'first', { object: 'read' }), { namespace: 'quiet' });
    source.apply(policyYaml('quiet', 'second', { object: 'read' }), { namespace: 'b' });
    source.apply(policyYaml('quiet', 'stranger'), { namespace: 'evil' });
    let worked = 0;
    const { operator } = world.operateOn(source, { onWorked: () => worked++ });
    await operator.settled();
    await until(() => operator.idle());
    expect(reason(source, 'Policy/b/second')).toBe('DuplicateName');
    worked = 0;
    source.delete('Policy/evil/stranger');
    await until(() => worked > 0 && operator.idle());
    // The stranger's own key, and not what waits for something of the tenant.
    expect(worked).toBe(1);
  });

  test('gives way: its row goes, and an allowed manifest takes the name', async () => {
    const source = new MemorySource();
    source.apply(tenantYaml('yielding', 'allowedNamespaces: {names: [a, b]}'));
    source.apply(policyYaml('yielding', 'first', { object: 'read' }), { namespace: 'a' });
    await operate(source);
    source.apply(policyYaml('yielding', 'second', { object: 'read' }), { namespace: 'b' });
    await until(() => reason(source, 'Policy/b/second') === 'DuplicateName');
    source.apply(tenantYaml('yielding', 'allowedNamespaces: {names: [b]}'));
    await until(() => reason(source, 'Policy/b/second') === 'Valid');
    expect(reason(source, 'Policy/a/first')).toBe('NamespaceNotAllowed');
    expect((await rooms.findPolicy('yielding', 'read'))?.owner).toMatchObject({ namespace: 'b', name: 'second' });
  });
});
