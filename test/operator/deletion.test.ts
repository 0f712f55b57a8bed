/** Deletions that were asked for (deletionTimestamp), whose rows they take, and what keeps them. */
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Leadership, LeadershipCallbacks } from '../../operator/leadership.ts';
import { sql } from '../../server/core/db/sql.ts';
import { apiOwner, type Owner } from '../../server/core/ownership.ts';
import { conditionOf, createWorld, save, until } from './harness.ts';
import { issuerYaml, policyYaml, tenantYaml } from './manifests.ts';
import { MemorySource } from './memory-source.ts';

const world = await createWorld();
const { database, rooms, observations } = world;
beforeEach(() => world.empty());

const api = { owner: apiOwner, actor: 'member:admin@example.com' };
const has = async (tenant: string, name: string) => (await rooms.findPolicy(tenant, name)) !== undefined;

async function operate(source: MemorySource) {
  const run = world.operateOn(source);
  await run.operator.settled();
  return run;
}

/** A tenant with so many policies `p0`, `p1`, … in its own namespace. */
function fill(source: MemorySource, tenant: string, count: number): string[] {
  source.apply(tenantYaml(tenant));
  return Array.from({ length: count }, (_, i) =>
    source.apply(policyYaml(tenant, `p${i}`), { namespace: tenant }),
  ).flat();
}

describe('deletions of many that were asked for', () => {
  test('are held with a word on each and on the Tenant, and end when the number is confirmed', async () => {
    const source = new MemorySource();
    const keys = fill(source, 'many', 20);
    await operate(source);
    source.delete(...keys);
    const held = await until(() => source.condition('Tenant//many', 'DeletionHeld'));
    expect(held.message).toContain('20 of 21 manifests of this tenant were deleted or are being deleted');
    const told = await until(() => keys.every((key) => source.condition(key)?.reason === 'DeletionHeld'));
    expect(told).toBe(true);
    expect(source.condition(keys[0] as string)?.message).toContain('condition DeletionHeld of the Tenant');
    expect(observations).toContainEqual({ kind: 'mass_deletion_held', tenant: 'many', rows: 20, total: 21 });
    expect(await has('many', 'p19')).toBe(true);
    source.apply(tenantYaml('many', '', 'accord.dev/confirm-deletion: "20"'));
    await until(() => keys.every((key) => source.get(key) === undefined));
    expect(await has('many', 'p0')).toBe(false);
    await until(() => source.condition('Tenant//many', 'DeletionHeld') === undefined);
  });

  test('are forgotten by an operator that leads again after another one has carried them out', async () => {
    const directory = await world.directory();
    const tenant = (annotations = '') => save(join(directory, 'tenant.yaml'), tenantYaml('relay', '', annotations));
    const policies = join(directory, 'policies.yaml');
    await tenant();
    await save(policies, Array.from({ length: 20 }, (_, i) => policyYaml('relay', `p${i}`)).join('\n---\n'));
    let callbacks: LeadershipCallbacks | undefined;
    const lead: Leadership = (given) => {
      callbacks = given;
      return { close: async () => given.stopped() };
    };
    const first = world.operate(directory, { lead });
    await callbacks?.started();
    await first.operator.settled();
    await unlink(policies);
    await until(() => conditionOf(first, 'Tenant//relay', 'DeletionHeld'));
    callbacks?.stopped();
    const second = world.operate(directory);
    await until(() => conditionOf(second, 'Tenant//relay', 'DeletionHeld'));
    await tenant('accord.dev/confirm-deletion: "20"');
    await until(async () => !(await has('relay', 'p0')) && second.operator.idle());
    await second.close();
    await tenant();
    await until(() => !first.source.get('Tenant//relay')?.annotations['accord.dev/confirm-deletion']);
    await callbacks?.started();
    await until(() => first.operator.idle());
    expect(conditionOf(first, 'Tenant//relay', 'DeletionHeld')).toBeUndefined();
    expect(first.operator.waiting().map(({ key }) => key)).toEqual(['Tenant//relay']);
  });

  test('are over when the finalizers are stripped and the manifests applied again: the rows were never away', async () => {
    const source = new MemorySource();
    const keys = fill(source, 'regret', 15);
    const run = await operate(source);
    source.delete(...keys);
    await until(() => source.condition('Tenant//regret', 'DeletionHeld'));
    const before = await rooms.findPolicy('regret', 'p0');
    source.vanish(...keys);
    fill(source, 'regret', 15);
    await until(() => keys.every((key) => source.condition(key, 'Accepted')?.status === 'True'));
    await until(() => source.condition('Tenant//regret', 'DeletionHeld') === undefined);
    await until(() => run.operator.idle());
    const after = await rooms.findPolicy('regret', 'p0');
    expect(after?.owner.uid).toBe(source.get(keys[0] as string)?.uid);
    expect(after?.owner.uid).not.toBe(before?.owner.uid);
  });

  test('end by themselves together with their Tenant, whichever is deleted first', async () => {
    const source = new MemorySource();
    const first = fill(source, 'whole-one', 20);
    const second = fill(source, 'whole-two', 20);
    await operate(source);
    source.delete('Tenant//whole-one', ...first);
    await until(() => source.get('Tenant//whole-one') === undefined);
    expect(first.every((key) => source.get(key) === undefined)).toBe(true);
    expect(await rooms.findTenant('whole-one')).toMatchObject({ state: 'disabled' });
    source.delete(...second);
    await until(() => source.condition('Tenant//whole-two', 'DeletionHeld'));
    source.delete('Tenant//whole-two');
    await until(() => source.get('Tenant//whole-two') === undefined);
    expect(second.every((key) => source.get(key) === undefined)).toBe(true);
  });

  test('of one tenant hold up nobody else, however few manifests all have', async () => {
    const source = new MemorySource();
    const keys = fill(source, 'alone-noisy', 12);
    const [quiet] = fill(source, 'alone-quiet', 1);
    await operate(source);
    source.delete(...keys, quiet as string);
    await until(() => source.condition('Tenant//alone-noisy', 'DeletionHeld'));
    await until(() => source.get(quiet as string) === undefined);
    expect(source.condition('Tenant//alone-quiet', 'DeletionHeld')).toBeUndefined();
    expect(await has('alone-noisy', 'p11')).toBe(true);
  });

  test('of one tenant hold up nobody else', async () => {
    const source = new MemorySource();
    const keys = fill(source, 'noisy', 12);
    fill(source, 'large', 60);
    const [quiet] = fill(source, 'quiet', 1);
    await operate(source);
    source.delete(...keys);
    await until(() => source.condition('Tenant//noisy', 'DeletionHeld'));
    source.delete(quiet as string);
    await until(() => source.get(quiet as string) === undefined);
  });

  test('are not held where there is no Tenant to confirm them at', async () => {
    const source = new MemorySource();
    const keys = fill(source, 'orphaned', 15);
    const run = await operate(source);
    await run.close();
    // The Tenant's manifest is another source's now, so that nobody can annotate it here.
    source.vanish('Tenant//orphaned');
    const tenant = await rooms.findTenant('orphaned');
    await rooms.transferTenant({ owner: tenant?.owner as Owner, actor: 'test' }, 'orphaned', apiOwner);
    await operate(source);
    source.delete(...keys);
    await until(() => keys.every((key) => source.get(key) === undefined));
    expect(await has('orphaned', 'p0')).toBe(false);
  });
});

describe('a deletion that was asked for', () => {
  test('of what was never accepted, or names no tenant that is there, is released at once', async () => {
    const source = new MemorySource();
    source.apply(tenantYaml('picky'));
    const broken = Array.from({ length: 12 }, (_, i) =>
      source.apply(policyYaml('picky', `broken-${i}`, { source: 'package p\n\noutcome := (' }), { namespace: 'picky' }),
    ).flat();
    const [lost] = source.apply(policyYaml('nowhere', 'lost'), { namespace: 'nowhere' });
    await operate(source);
    expect(source.isHeld(lost as string)).toBe(true);
    source.delete(...broken, lost as string);
    await until(() => [...broken, lost as string].every((key) => source.get(key) === undefined));
    expect(source.condition('Tenant//picky', 'DeletionHeld')).toBeUndefined();
  });

  test('is carried out after a restart, also when its lists are not complete', async () => {
    const source = new MemorySource();
    const [key = ''] = fill(source, 'restarted', 1);
    const first = await operate(source);
    await first.close();
    source.delete(key);
    source.lists('Policy', false);
    await operate(source);
    await until(() => source.get(key) === undefined);
    expect(await has('restarted', 'p0')).toBe(false);
  });

  test('of one that was made again before its predecessor was released is carried out, without a resync', async () => {
    const source = new MemorySource();
    const [key = ''] = fill(source, 'twice', 1);
    const run = await operate(source);
    // The predecessor's removeFinalizer is done and its answer lost; the successor's finalizer is set and its answer lost.
    const [removeFinalizer, addFinalizer] = [source.removeFinalizer.bind(source), source.addFinalizer.bind(source)];
    const lost = Promise.withResolvers<void>();
    source.removeFinalizer = async (target) => {
      source.removeFinalizer = removeFinalizer;
      await removeFinalizer(target);
      source.addFinalizer = async (object) => {
        source.addFinalizer = addFinalizer;
        await addFinalizer(object);
        source.delete(object.key);
        throw new Error('the connection broke');
      };
      source.apply(policyYaml('twice', 'p0', { answer: 'deny' }), { namespace: 'twice' });
      lost.resolve();
      throw new Error('the connection broke');
    };
    source.delete(key);
    await lost.promise;
    await until(() => source.get(key) === undefined);
    expect(await has('twice', 'p0')).toBe(false);
    await until(() => run.operator.idle());
  });

  test('of a Tenant goes on when its last child is not its child any more, without a resync', async () => {
    const source = new MemorySource();
    source.label('elsewhere', { role: 'fleet' });
    source.apply(tenantYaml('labels', 'allowedNamespaces: {selector: {matchLabels: {role: fleet}}}'));
    const [key = ''] = source.apply(policyYaml('labels', 'p'), { namespace: 'elsewhere' });
    await operate(source);
    source.delete('Tenant//labels');
    await until(() => source.condition('Tenant//labels')?.reason === 'ChildrenExist');
    source.label('elsewhere', { role: 'other' });
    await until(() => source.condition(key, 'Accepted')?.reason === 'NamespaceNotAllowed');
    await until(() => source.get('Tenant//labels') === undefined);
  });

  test('of a Tenant that was never accepted lets go what waits for it, without a resync', async () => {
    const source = new MemorySource();
    await operate(source);
    const addFinalizer = source.addFinalizer.bind(source);
    const refused = Promise.withResolvers<void>();
    source.addFinalizer = async (object) => {
      if (object.kind !== 'Tenant') return addFinalizer(object);
      refused.resolve();
      throw new Error('the connection broke');
    };
    source.apply(tenantYaml('fleeting'));
    const [key = ''] = source.apply(policyYaml('fleeting', 'p'), { namespace: 'fleeting' });
    await refused.promise;
    source.vanish('Tenant//fleeting');
    await until(() => source.condition(key, 'Accepted')?.reason === 'TenantNotFound');
  });

  test('of a Tenant that was never accepted does not wait for what waits for it', async () => {
    const source = new MemorySource();
    const [key = ''] = source.apply(policyYaml('refused', 'p'), { namespace: 'refused' });
    source.apply(tenantYaml('refused', 'displayNmae: Refused'));
    await operate(source);
    await until(() => source.condition('Tenant//refused', 'Accepted')?.reason === 'Invalid');
    await until(() => source.condition(key, 'Accepted')?.reason === 'TenantNotFound');
    source.delete('Tenant//refused');
    await until(() => source.get('Tenant//refused') === undefined);
  });

  test('of a Tenant does not wait for a manifest that came after the tenant was disabled', async () => {
    const source = new MemorySource();
    source.apply(tenantYaml('closing'));
    const run = await operate(source);
    const removeFinalizer = source.removeFinalizer.bind(source);
    source.removeFinalizer = async () => {
      source.removeFinalizer = removeFinalizer;
      const [key = ''] = source.apply(policyYaml('closing', 'p'), { namespace: 'closing' });
      await until(() => source.condition(key, 'Accepted')?.reason === 'TenantNotFound');
      throw new Error('the connection broke');
    };
    source.delete('Tenant//closing');
    await until(() => source.get('Tenant//closing') === undefined);
    await until(() => run.operator.idle());
    expect(await has('closing', 'p')).toBe(false);
  });

  test('of a Tenant stores nothing of a manifest that was looked at before, and recorded after it', async () => {
    const source = new MemorySource();
    source.apply(tenantYaml('late'));
    await operate(source);
    const [addFinalizer, removeFinalizer] = [source.addFinalizer.bind(source), source.removeFinalizer.bind(source)];
    const judged = Promise.withResolvers<void>();
    source.addFinalizer = async (object) => {
      source.addFinalizer = addFinalizer;
      source.delete('Tenant//late');
      await until(async () => (await rooms.findTenant('late'))?.state === 'disabled');
      await addFinalizer(object);
    };
    source.removeFinalizer = async (target) => {
      await judged.promise;
      await removeFinalizer(target);
    };
    const [key = ''] = source.apply(policyYaml('late', 'p'), { namespace: 'late' });
    await until(() => source.condition(key, 'Accepted'));
    judged.resolve();
    await until(() => source.get('Tenant//late') === undefined);
    expect(source.condition(key, 'Accepted')?.reason).toBe('TenantNotFound');
    expect(await has('late', 'p')).toBe(false);
  });

  test('of a Tenant waits for its children, says so, and goes after them', async () => {
    const source = new MemorySource();
    const [key = ''] = fill(source, 'patient', 1);
    await operate(source);
    source.delete('Tenant//patient');
    await until(() => source.condition('Tenant//patient')?.reason === 'ChildrenExist');
    source.delete(key);
    await until(() => source.get('Tenant//patient') === undefined);
  });
});

test('a status that says that the database is away never comes after the one that says it is back', async () => {
  const source = new MemorySource();
  const [key = ''] = fill(source, 'back', 1);
  const run = await operate(source);
  const [addFinalizer, writeStatus] = [source.addFinalizer.bind(source), source.writeStatus.bind(source)];
  source.addFinalizer = async (object) => {
    source.addFinalizer = addFinalizer;
    expect(object.key).toBe(key);
    throw new Error('Connection terminated unexpectedly');
  };
  const written: string[] = [];
  source.writeStatus = async (target, status) => {
    const { reason = '' } = status.conditions?.find(({ type }) => type === 'Ready') ?? {};
    // Longer than until the next try, as where the API server asks to wait.
    if (reason === 'DatabaseUnavailable') await new Promise((resolve) => setTimeout(resolve, 600));
    written.push(reason);
    await writeStatus(target, status);
  };
  source.apply(policyYaml('back', 'p0', { source: 'package p\n\noutcome := (' }), { namespace: 'back' });
  await until(() => written.includes('DatabaseUnavailable') && written.includes('CompileError'));
  await until(() => run.operator.idle());
  expect(source.condition(key)?.reason).toBe('CompileError');
});

describe('whose row it is', () => {
  test('a manifest that was made again takes the row over, also before it is accepted, and its deletion takes the row', async () => {
    const source = new MemorySource();
    const [key = ''] = fill(source, 'again', 1);
    await operate(source);
    source.replace(key, policyYaml('again', 'p0', { source: 'package p\n\noutcome := (' }), { namespace: 'again' });
    await until(() => source.condition(key, 'Accepted')?.reason === 'CompileError');
    expect((await rooms.findPolicy('again', 'p0'))?.owner.uid).toBe(source.get(key)?.uid);
    source.delete(key);
    await until(() => source.get(key) === undefined);
    expect(await has('again', 'p0')).toBe(false);
  });

  test('a row that another object of the same name holds by now is not deleted', async () => {
    const source = new MemorySource();
    const [key = ''] = fill(source, 'stolen', 1);
    await operate(source);
    const found = await rooms.findPolicy('stolen', 'p0');
    const writer = { owner: found?.owner as Owner, actor: 'operator:other' };
    const other = { ...writer.owner, uid: 'of-another-cluster' };
    await rooms.transferPolicy(writer, 'stolen', 'p0', other);
    await expect(rooms.deletePolicy(writer, 'stolen', 'p0')).rejects.toMatchObject({ code: 'duplicate_name' });
    source.delete(key);
    await until(() => source.get(key) === undefined);
    expect((await rooms.findPolicy('stolen', 'p0'))?.owner).toEqual(other);
  });

  test.each(['CreateOnly', 'Observe'])('a manifest that turns %s leaves its row to the API, once', async (policy) => {
    const source = new MemorySource();
    source.apply(tenantYaml('letgo'));
    const [key = ''] = source.apply(policyYaml('letgo', 'p'), { namespace: 'letgo' });
    const [issuer = ''] = source.apply(issuerYaml('letgo', 'idp'), { namespace: 'letgo' });
    const run = await operate(source);
    source.apply(policyYaml('letgo', 'p', { more: `managementPolicy: ${policy}` }), { namespace: 'letgo' });
    source.apply(issuerYaml('letgo', 'idp', `managementPolicy: ${policy}`), { namespace: 'letgo' });
    await until(() =>
      [key, issuer].every(
        (one) => source.condition(one, 'Accepted')?.message === `Found; managementPolicy ${policy} does not change it.`,
      ),
    );
    expect((await rooms.findPolicy('letgo', 'p'))?.owner).toEqual(apiOwner);
    expect((await rooms.findIssuer('letgo', 'idp'))?.owner).toEqual(apiOwner);
    await until(() => run.operator.idle());
    const revision = (await rooms.findTenant('letgo'))?.revision;
    run.operator.resync();
    await until(() => run.operator.idle());
    expect((await rooms.findTenant('letgo'))?.revision).toBe(revision);
    source.delete(key, issuer);
    await until(() => source.get(key) === undefined && source.get(issuer) === undefined);
    expect(await has('letgo', 'p')).toBe(true);
    await rooms.deletePolicy(api, 'letgo', 'p');
  });

  test('a manifest that was made again and has nothing to be served waits for no server', async () => {
    const source = new MemorySource();
    source.apply(tenantYaml('unserved'));
    const run = await operate(source);
    const stuck = '00000000-0000-4000-8000-000000000002';
    await database.system((tx) => tx.run(sql`insert into accord.server (id) values (${stuck})`));
    const [key = ''] = source.apply(policyYaml('unserved', 'p'), { namespace: 'unserved' });
    await until(() => source.condition(key, 'Programmed')?.reason === 'Pending');
    expect(run.operator.waiting()).toContainEqual(expect.objectContaining({ key }));
    source.replace(key, policyYaml('unserved', 'p', { object: 'other', more: 'managementPolicy: Observe' }), {
      namespace: 'unserved',
    });
    await until(() => source.condition(key, 'Programmed')?.reason === 'NotFound');
    await until(() => !run.operator.waiting().some((one) => one.key === key));
    await database.system((tx) => tx.run(sql`delete from accord.server where id = ${stuck}`));
  });

  test('a Tenant that turns Observe stays as it is, and its deletion leaves it active', async () => {
    const source = new MemorySource();
    source.apply(tenantYaml('observed'));
    await operate(source);
    source.apply(tenantYaml('observed', 'managementPolicy: Observe'));
    await until(
      () =>
        source.condition('Tenant//observed', 'Accepted')?.message ===
        'Found; managementPolicy Observe does not change it.',
    );
    expect(await rooms.findTenant('observed')).toMatchObject({ owner: apiOwner, state: 'active' });
    source.delete('Tenant//observed');
    await until(() => source.get('Tenant//observed') === undefined);
    expect(await rooms.findTenant('observed')).toMatchObject({ state: 'active' });
  });

  test('where the configuration became the API’s, what a manifest leaves behind does too', async () => {
    const source = new MemorySource();
    const [key = ''] = fill(source, 'apis', 1);
    const run = await operate(source);
    source.apply(tenantYaml('apis', 'configAuthority: Api'));
    await until(() => source.condition('Tenant//apis', 'Accepted')?.observedGeneration === 2);
    run.operator.resync();
    await until(() => source.condition(key, 'Accepted')?.reason === 'OwnedByAPI');
    source.delete(key);
    await until(() => source.get(key) === undefined);
    expect((await rooms.findPolicy('apis', 'p0'))?.owner).toEqual(apiOwner);
  });
});
