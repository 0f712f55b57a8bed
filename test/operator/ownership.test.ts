/** Cases of the ownership rule that random lives have found (test/kubernetes/ownership.test.ts), and their neighbours. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { SourceObject } from '../../operator/source.ts';
import { createWorld, until } from './harness.ts';
import { policyYaml, tenantYaml } from './manifests.ts';
import { MemorySource } from './memory-source.ts';

const world = await createWorld();
const { rooms } = world;
beforeEach(() => world.empty());

const reason = (source: MemorySource, key: string) => source.condition(key, 'Accepted')?.reason;
const ownerOf = async (tenant: string, name: string) => (await rooms.findPolicy(tenant, name))?.owner;
const both = 'allowedNamespaces: {names: [a, b]}';

/** With a server, so that nothing is looked at again because it waits for one. */
async function operate(source: MemorySource) {
  await world.serve();
  const run = world.operateOn(source);
  await run.operator.settled();
  return run;
}

/** Waits before it puts a finalizer on one object, as a slow API server does: it was permitted, and is not written down. */
class SlowSource extends MemorySource {
  readonly #slow: string;
  readonly asked = Promise.withResolvers<void>();
  readonly answer = Promise.withResolvers<void>();

  constructor(slow: string) {
    super();
    this.#slow = slow;
  }

  override async addFinalizer(object: SourceObject): Promise<void> {
    if (object.key === this.#slow) {
      this.asked.resolve();
      await this.answer.promise;
    }
    await super.addFinalizer(object);
  }
}

describe('a permission that is taken away', () => {
  test('while the operator is down lets nothing in, also not for the moment in which its Tenant is looked at', async () => {
    const source = new MemorySource();
    source.apply(tenantYaml('slept', 'allowedNamespaces: {names: [apps]}'));
    const first = await operate(source);
    await first.close();
    source.apply(tenantYaml('slept'));
    source.apply(policyYaml('slept', 'p', { more: 'managementPolicy: CreateOnly' }), { namespace: 'apps' });
    const second = await operate(source);
    await until(() => reason(source, 'Policy/apps/p') === 'NamespaceNotAllowed');
    await until(() => second.operator.idle());
    expect(await ownerOf('slept', 'p')).toBeUndefined();
  });

  test('is taken from a manifest that was permitted and not written down yet', async () => {
    const source = new SlowSource('Policy/apps/p');
    source.apply(tenantYaml('raced', 'allowedNamespaces: {names: [apps]}'));
    const run = await operate(source);
    await until(() => run.operator.idle());
    source.apply(policyYaml('raced', 'p', { more: 'managementPolicy: CreateOnly' }), { namespace: 'apps' });
    await source.asked.promise;
    source.apply(tenantYaml('raced'));
    await until(async () => (await rooms.findTenant('raced'))?.spec.allowedNamespaces === undefined);
    await until(() => run.operator.state().queued === 1);
    source.answer.resolve();
    await until(() => reason(source, 'Policy/apps/p') === 'NamespaceNotAllowed');
    await until(() => run.operator.idle());
    expect(await ownerOf('raced', 'p')).toBeUndefined();
  });
});

describe('without waiting for the next look at everything', () => {
  test('manifests are told that the configuration became the API’s, and that it is theirs again', async () => {
    const source = new MemorySource();
    source.apply(tenantYaml('ruled'));
    source.apply(policyYaml('ruled', 'p'), { namespace: 'ruled' });
    await operate(source);
    expect(reason(source, 'Policy/ruled/p')).toBe('Valid');
    source.apply(tenantYaml('ruled', 'configAuthority: Api'));
    await until(() => reason(source, 'Policy/ruled/p') === 'OwnedByAPI');
    source.apply(tenantYaml('ruled', 'configAuthority: Kubernetes'));
    await until(() => reason(source, 'Policy/ruled/p') === 'Valid');
  });

  /** A younger manifest in `b` has the object that an older one in `a` wants too. */
  async function latecomer(tenant: string, elder: string) {
    const source = new MemorySource();
    source.apply(tenantYaml(tenant, 'allowedNamespaces: {names: [b]}'));
    source.apply(policyYaml(tenant, 'elder', { object: 'read', more: elder }), { namespace: 'a' });
    source.apply(policyYaml(tenant, 'younger', { object: 'read' }), { namespace: 'b' });
    const run = await operate(source);
    await until(() => reason(source, 'Policy/b/younger') === 'Valid');
    source.apply(tenantYaml(tenant, both));
    await until(() => !['NamespaceNotAllowed', undefined].includes(reason(source, 'Policy/a/elder')));
    await until(() => source.condition(`Tenant//${tenant}`)?.status === 'True');
    await until(() => run.operator.idle());
    expect(await ownerOf(tenant, 'read')).toMatchObject({ namespace: 'b', name: 'younger' });
    return source;
  }

  test('an older manifest takes the object that a younger one lets go of', async () => {
    const source = await latecomer('let-go', 'adoptionPolicy: Adopt');
    expect(reason(source, 'Policy/a/elder')).toBe('DuplicateName');
    source.apply(policyYaml('let-go', 'younger', { object: 'read', more: 'managementPolicy: Observe' }), {
      namespace: 'b',
    });
    await until(() => reason(source, 'Policy/a/elder') === 'Valid');
    expect(await ownerOf('let-go', 'read')).toMatchObject({ namespace: 'a', name: 'elder' });
  });

  test('an older one that creates only creates what goes with a younger one', async () => {
    const source = await latecomer('gap', 'managementPolicy: CreateOnly');
    expect(reason(source, 'Policy/a/elder')).toBe('Valid');
    source.delete('Policy/b/younger');
    await until(async () => (await ownerOf('gap', 'read'))?.source === 'api');
  });
});
