import { readdir, readFile, rename, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { sql } from '../../server/core/db/sql.ts';
import { apiOwner } from '../../server/core/ownership.ts';
import { putPolicy } from '../../server/policies/index.ts';
import { putPart } from '../../server/policies/part-actions.ts';
import { conditionOf, createWorld, save, until } from './harness.ts';
import { policyYaml, tenantYaml } from './manifests.ts';
import { MemorySource } from './memory-source.ts';

const world = await createWorld();
const { database, rooms, observations } = world;
const api = { owner: apiOwner, actor: 'member:admin@example.com' };
const specOf = (tenant: string, name: string) => ({
  ...{ tenantRef: { name: tenant }, name, managementPolicy: 'Enforce' as const, adoptionPolicy: 'Refuse' as const },
  rego: 'package p\n\ndefault outcome := "deny"\n',
});

async function policyNames(tenant: string): Promise<string[]> {
  const rows = await database.tenant(tenant, (tx) =>
    tx.many(
      Type.Object({ name: Type.String() }),
      sql`select name from accord.policy where tenant = ${tenant} order by name`,
    ),
  );
  return rows.map((row) => row.name);
}

/** What any write would change: rows and their versions, over all tables that the operator writes. */
async function fingerprint(): Promise<unknown> {
  const Rows = Type.Object({ t: Type.String(), rows: Type.Unsafe<unknown>(Type.Unknown()) });
  return database.system((tx) =>
    tx.many(
      Rows,
      sql`select 'resource' as t, jsonb_agg(jsonb_build_array(kind, namespace, name, xmin::text) order by kind, namespace, name) as rows from accord.resource
        union all select 'tenant', jsonb_agg(jsonb_build_array(tenant, xmin::text) order by tenant) from accord.tenant
        union all select 'policy', jsonb_agg(jsonb_build_array(tenant, name, xmin::text) order by tenant, name) from accord.policy
        union all select 'artifact', to_jsonb(count(*)) from accord.policy_artifact
        union all select 'audit', to_jsonb(count(*)) from accord.audit_entry order by t`,
    ),
  );
}

describe('a directory of manifests', () => {
  test('is reconciled, served, and Ready, and again without a write', async () => {
    const directory = await world.directory();
    const snapshots = await world.serve();
    await save(join(directory, 'b/policy.yaml'), policyYaml('first', 'car-read', { object: 'car:read' }));
    await save(join(directory, 'tenant.yaml'), tenantYaml('first'));
    const run = world.operate(directory);
    const { resources, problems } = await run.operator.settled();
    expect(problems).toEqual([]);
    const conditions = ['Accepted=True', 'Programmed=True', 'Ready=True'];
    expect(
      resources
        .map(({ target, status }) => [target.key, status?.conditions?.map((one) => `${one.type}=${one.status}`)])
        .sort(),
    ).toEqual([
      ['Policy/default/car-read', conditions],
      ['Tenant//first', conditions],
    ]);
    expect(snapshots.get('first')?.policies.has('car:read')).toBe(true);
    const shown = await readFile(join(directory, '.status/policy_default_car-read.yaml'), 'utf8');
    expect(shown).toContain('activeGeneration: 1');

    const before = await fingerprint();
    const told = run.changes.length;
    const reconciled = () => observations.filter((one) => one.kind === 'reconciled').length;
    const seen = reconciled();
    run.operator.resync();
    await until(() => run.operator.idle());
    await run.close();
    const again = world.operate(directory);
    await again.operator.settled();
    expect(await fingerprint()).toEqual(before);
    expect(run.changes.length).toBe(told);
    expect(reconciled()).toBe(seen);
  });

  test('an edit, a mistake and its repair: the last good version keeps serving', async () => {
    const directory = await world.directory();
    const snapshots = await world.serve();
    const file = join(directory, 'all.yaml');
    const write = (source: string) =>
      save(file, `${tenantYaml('edited')}---\n${policyYaml('edited', 'doc', { source })}`);
    await write('package p\n\noutcome := "allow"\n');
    const run = world.operate(directory);
    await run.operator.settled();
    const before = snapshots.get('edited')?.policies.get('doc')?.artifact;
    await write('package p\n\noutcome := nonsense(\n');
    const refused = await until(() => {
      const ready = conditionOf(run, 'Policy/default/doc');
      return ready?.reason === 'CompileError' ? ready : undefined;
    });
    expect(refused.message).toMatch(/^all\.yaml:18: \/spec\/rego: line 4, column 1: /);
    expect(refused.message).toContain('Generation 1 is still served.');
    expect(refused.observedGeneration).toBe(2);
    expect(snapshots.get('edited')?.policies.get('doc')?.artifact).toBe(before);
    await write('package p\n\noutcome := "deny"\n');
    await until(() => conditionOf(run, 'Policy/default/doc')?.status === 'True');
    expect(snapshots.get('edited')?.policies.get('doc')?.artifact).not.toBe(before);
    const change = run.changes.findLast((one) => one.target.key === 'Policy/default/doc');
    expect(change?.status).toMatchObject({ observedGeneration: 3, activeGeneration: 3 });
  });

  test('a schema error and failing tests say where and why', async () => {
    const directory = await world.directory();
    const tests = 'tests: [{name: denies, input: {action: x}, expect: {outcome: deny}}]';
    await save(join(directory, 'tenant.yaml'), tenantYaml('checked'));
    await save(join(directory, 'a.yaml'), policyYaml('checked', 'a', { more: tests, answer: 'allow' }));
    await save(join(directory, 'b.yaml'), policyYaml('checked', 'b', { more: 'managementPolicy: Enforced' }));
    const run = world.operate(directory);
    await run.operator.settled();
    expect(conditionOf(run, 'Policy/default/a', 'Accepted')).toMatchObject({
      ...{ status: 'False', reason: 'TestsFailed' },
      message: expect.stringMatching(
        /^a\.yaml:7: \/spec\/tests\/0: denies: outcome is "allow", expected "deny"\nNo generation of it is served\.$/,
      ),
    });
    expect(conditionOf(run, 'Policy/default/b', 'Accepted')).toMatchObject({
      ...{ status: 'False', reason: 'Invalid' },
      message: expect.stringMatching(/^b\.yaml:7:3: \/spec\/managementPolicy /),
    });
    expect(conditionOf(run, 'Policy/default/b', 'Programmed')).toMatchObject({
      status: 'False',
      reason: 'NotAccepted',
    });
    expect(await policyNames('checked')).toEqual([]);
  });

  test('a policy whose tests pass, and none of which is answered allow, says so until one is', async () => {
    await world.serve();
    const memory = new MemorySource();
    const source = 'package p\n\ndefault outcome := "deny"\noutcome := "allow" if input.x == 1\n';
    const denies = '{name: denies, input: {x: 2}, expect: {outcome: deny}}';
    const allows = '{name: allows, input: {x: 1}, expect: {outcome: allow}}';
    const apply = (tests: string) =>
      memory.apply(policyYaml('covering', 'a', { source, more: `tests: [${tests}]` }), { namespace: 'covering' });
    memory.apply(tenantYaml('covering'));
    const [key = ''] = apply(denies);
    const run = world.operateOn(memory);
    await run.operator.settled();
    expect(memory.condition(key, 'AllowTested')).toMatchObject({
      ...{ status: 'False', reason: 'AllowNotTested' },
      message: expect.stringMatching(/^The tests of the policy pass, and none of them is answered allow/),
    });
    expect(memory.condition(key)?.status).toBe('True');
    apply(`${denies}, ${allows}`);
    await until(() => memory.condition(key, 'AllowTested')?.status === 'True');
    await until(() => run.operator.idle());
    const told = memory.events.filter(({ reason }) => reason.startsWith('Allow'));
    expect(told.map(({ type, reason }) => `${type} ${reason}`)).toEqual([
      'Warning AllowNotTested',
      'Normal AllowTested',
    ]);
    const Stored = Type.Object({ number: Type.Integer(), tests: Type.Unsafe<{ name: string }[]>(Type.Unknown()) });
    const [row] = await database.tenant('covering', (tx) =>
      tx.many(Stored, sql`select number, tests from accord.policy where tenant = 'covering'`),
    );
    // The source is the same: only the tests are others.
    expect([row?.number, row?.tests.map(({ name }) => name)]).toEqual([1, ['denies', 'allows']]);
  });

  test.each(['tests', 'document'])('is told when the API changes only what its tests say, by a %s', async (by) => {
    await world.serve();
    const { policies } = world.services;
    const tenant = `api-${by}`;
    const memory = new MemorySource();
    const source = 'package p\n\ndefault outcome := "deny"\noutcome := "allow" if input.x in data.company.known.ids\n';
    const known = (...ids: number[]) =>
      putPart(policies, api, tenant, 'company/known', { kind: 'data', value: { ids } });
    const denies = { name: 'may answer either', input: { x: 1 }, expect: {} };
    memory.apply(tenantYaml(tenant));
    const run = world.operateOn(memory, { maxStalenessMs: 200 });
    await run.operator.settled();
    await known(2);
    const body = { rego: source };
    const tests = by === 'document' ? [denies] : [{ ...denies, input: { x: 3 } }];
    await putPolicy(policies, api, tenant, 'a', body, { tests });
    const [key = ''] = memory.apply(policyYaml(tenant, 'a', { source, more: 'managementPolicy: Observe' }), {
      namespace: tenant,
    });
    await until(() => memory.condition(key, 'AllowTested')?.status === 'False');
    await until(() => run.operator.idle());
    if (by === 'document') await known(1);
    else {
      const { revision, changed } = await putPolicy(policies, api, tenant, 'a', body, {
        tests: [{ ...denies, input: { x: 2 }, expect: { outcome: 'allow' } }],
      });
      expect(changed).toBe(true);
      expect(revision).toBeGreaterThan(0);
    }
    await until(() => memory.condition(key, 'AllowTested')?.status === 'True');
  });

  test('without a server nothing is programmed; with one it is', async () => {
    const directory = await world.directory();
    await save(join(directory, 'tenant.yaml'), tenantYaml('alone'));
    const run = world.operate(directory);
    await run.operator.settled();
    expect(conditionOf(run, 'Tenant//alone', 'Accepted')?.status).toBe('True');
    expect(conditionOf(run, 'Tenant//alone', 'Programmed')).toMatchObject({ status: 'False', reason: 'NoLiveServer' });
    await world.serve();
    await until(() => conditionOf(run, 'Tenant//alone')?.status === 'True');
  });

  test('a server that does not follow is waited for, until it is not live', async () => {
    const directory = await world.directory();
    await world.serve();
    const stuck = '00000000-0000-4000-8000-000000000001';
    await database.system((tx) => tx.run(sql`insert into accord.server (id) values (${stuck})`));
    await save(join(directory, 'tenant.yaml'), tenantYaml('slow'));
    const run = world.operate(directory);
    await until(() => conditionOf(run, 'Tenant//slow', 'Programmed')?.reason === 'Pending');
    await database.system((tx) =>
      tx.run(sql`update accord.server set seen_at = now() - interval '5 seconds' where id = ${stuck}`),
    );
    await until(() => conditionOf(run, 'Tenant//slow')?.status === 'True');
    await run.operator.settled();
    await database.system((tx) => tx.run(sql`delete from accord.server where id = ${stuck}`));
  });
});

describe('children and tenants', () => {
  test('a child waits for its Tenant, and is tried at once when it comes', async () => {
    const directory = await world.directory();
    await world.serve();
    await save(join(directory, 'a.yaml'), policyYaml('late', 'read'));
    const run = world.operate(directory);
    await run.operator.settled();
    expect(conditionOf(run, 'Policy/default/read', 'Accepted')).toMatchObject({
      status: 'False',
      reason: 'TenantNotFound',
    });
    await save(join(directory, 'z.yaml'), tenantYaml('late'));
    await until(() => conditionOf(run, 'Policy/default/read')?.status === 'True');
    expect(await policyNames('late')).toEqual(['read']);
  });

  test('a Tenant goes after its children: disabled by default', async () => {
    const directory = await world.directory();
    const snapshots = await world.serve();
    await save(join(directory, 't.yaml'), tenantYaml('kept'));
    await save(join(directory, 'p.yaml'), policyYaml('kept', 'of-kept'));
    const run = world.operate(directory);
    await run.operator.settled();
    await unlink(join(directory, 't.yaml'));
    const waits = await until(() => {
      const ready = conditionOf(run, 'Tenant//kept');
      return ready?.reason === 'ChildrenExist' ? ready : undefined;
    });
    expect(waits.message).toContain('Waiting for 1 manifest of this tenant to be deleted: Policy default/of-kept.');
    expect(snapshots.get('kept')?.active).toBe(true);
    await unlink(join(directory, 'p.yaml'));
    await until(() => run.changes.some((one) => one.target.key === 'Tenant//kept' && one.status === undefined));
    expect(await rooms.findTenant('kept')).toMatchObject({ state: 'disabled' });
    expect(snapshots.get('kept')?.active).toBe(false);
    await save(join(directory, 't.yaml'), tenantYaml('kept'));
    await until(() => snapshots.get('kept')?.active);
  });

  test('with deletionPolicy Delete everything of it is erased', async () => {
    const directory = await world.directory();
    const snapshots = await world.serve();
    await save(
      join(directory, 't.yaml'),
      `${tenantYaml('erased', 'deletionPolicy: Delete')}---\n${policyYaml('erased', 'of-erased')}`,
    );
    const run = world.operate(directory);
    await run.operator.settled();
    await unlink(join(directory, 't.yaml'));
    await until(() => run.changes.some((one) => one.target.key === 'Tenant//erased' && one.status === undefined));
    expect(await rooms.findTenant('erased')).toBeUndefined();
    await until(() => snapshots.get('erased') === undefined);
  });

  test('what was deleted while the operator was down is removed; what a broken file may still say is not', async () => {
    const directory = await world.directory();
    await world.serve();
    await save(join(directory, 't.yaml'), tenantYaml('down'));
    for (const name of ['a', 'b', 'c']) await save(join(directory, `${name}.yaml`), policyYaml('down', `down-${name}`));
    const first = world.operate(directory);
    await first.operator.settled();
    await first.close();
    await unlink(join(directory, 'a.yaml'));
    await save(join(directory, 'b.yaml'), 'kind: [oops\n');
    const second = world.operate(directory);
    await second.operator.settled();
    expect(await policyNames('down')).toEqual(['down-a', 'down-b', 'down-c']);
    await save(join(directory, 'b.yaml'), policyYaml('down', 'down-b'));
    await until(async () => (await policyNames('down')).length === 2);
    expect(await policyNames('down')).toEqual(['down-b', 'down-c']);
  });
});

describe('owners', () => {
  test('a row of the API is refused, then adopted; a manifest cannot move', async () => {
    const directory = await world.directory();
    await save(join(directory, 't.yaml'), tenantYaml('owners'));
    const run = world.operate(directory);
    await run.operator.settled();
    await rooms.putPolicy(api, 'owners', specOf('owners', 'shared'));
    await save(join(directory, 'p.yaml'), policyYaml('owners', 'shared'));
    await until(() => conditionOf(run, 'Policy/default/shared')?.reason === 'OwnedByAPI');
    await save(join(directory, 'p.yaml'), policyYaml('owners', 'shared', { more: 'adoptionPolicy: Adopt' }));
    await until(() => conditionOf(run, 'Policy/default/shared', 'Accepted')?.status === 'True');
    expect((await rooms.findPolicy('owners', 'shared'))?.owner).toMatchObject({ source: 'files', name: 'shared' });
    await expect(rooms.putPolicy(api, 'owners', specOf('owners', 'shared'))).rejects.toMatchObject({
      code: 'owned_by_manifest',
    });
    await save(join(directory, 'p.yaml'), policyYaml('owners', 'shared', { object: 'moved' }));
    await until(() =>
      conditionOf(run, 'Policy/default/shared', 'Accepted')?.message.startsWith(
        'spec.name must not change: it was shared and is moved.',
      ),
    );
    await unlink(join(directory, 'p.yaml'));
    await until(async () => (await policyNames('owners')).length === 0);
  });

  test('a tenant of the API is left alone, and the operator comes to rest', async () => {
    const directory = await world.directory();
    const spec = (await rooms.findTenant('owners'))?.spec;
    await rooms.putTenant(api, 'theirs', spec as NonNullable<typeof spec>);
    await save(join(directory, 't.yaml'), `${tenantYaml('theirs')}---\n${policyYaml('theirs', 'guest')}`);
    const run = world.operate(directory);
    await run.operator.settled();
    expect(conditionOf(run, 'Tenant//theirs', 'Accepted')).toMatchObject({ status: 'False', reason: 'OwnedByAPI' });
    expect(conditionOf(run, 'Policy/default/guest', 'Accepted')?.status).toBe('True');
    await until(() => run.operator.idle());
    await unlink(join(directory, 't.yaml'));
    await until(() => run.changes.some((one) => one.target.key === 'Tenant//theirs' && one.status === undefined));
    expect(await rooms.findTenant('theirs')).toMatchObject({ state: 'active', owner: { source: 'api' } });
  });

  test('a claim that was never accepted may be put right', async () => {
    const directory = await world.directory();
    await save(join(directory, 't.yaml'), `${tenantYaml('right')}---\n${policyYaml('wrong', 'typo')}`);
    const run = world.operate(directory);
    await run.operator.settled();
    await save(join(directory, 't.yaml'), `${tenantYaml('right')}---\n${policyYaml('right', 'typo')}`);
    await until(() => conditionOf(run, 'Policy/default/typo', 'Accepted')?.status === 'True');
  });

  test('two manifests of one name: the loser waits for the winner to go', async () => {
    const directory = await world.directory();
    await save(join(directory, 't.yaml'), tenantYaml('twins'));
    await save(
      join(directory, 'p.yaml'),
      `${policyYaml('twins', 'bb', { object: 'read' })}---\n${policyYaml('twins', 'aa', { object: 'read' })}`,
    );
    const run = world.operate(directory);
    await run.operator.settled();
    expect(conditionOf(run, 'Policy/default/aa', 'Accepted')?.status).toBe('True');
    expect(conditionOf(run, 'Policy/default/bb', 'Accepted')).toMatchObject({
      ...{ status: 'False', reason: 'DuplicateName' },
      message: expect.stringContaining('Policy default/aa is older and claims this name in tenant twins.'),
    });
    await save(join(directory, 'p.yaml'), policyYaml('twins', 'bb', { object: 'read' }));
    await until(() => conditionOf(run, 'Policy/default/bb', 'Accepted')?.status === 'True');
    // The row is there: who holds it keeps it, though the other's key comes first.
    await save(join(directory, 'q.yaml'), policyYaml('twins', 'aa', { object: 'read' }));
    await until(() => conditionOf(run, 'Policy/default/aa', 'Accepted')?.reason === 'DuplicateName');
    expect(conditionOf(run, 'Policy/default/bb', 'Accepted')?.status).toBe('True');
  });

  test('CreateOnly leaves later changes and the row to the API; Observe writes nothing', async () => {
    const directory = await world.directory();
    await save(join(directory, 't.yaml'), tenantYaml('loose'));
    await save(join(directory, 'once.yaml'), policyYaml('loose', 'once', { more: 'managementPolicy: CreateOnly' }));
    await save(join(directory, 'look.yaml'), policyYaml('loose', 'look', { more: 'managementPolicy: Observe' }));
    const run = world.operate(directory);
    await run.operator.settled();
    expect(await policyNames('loose')).toEqual(['once']);
    expect(conditionOf(run, 'Policy/default/look')).toMatchObject({ status: 'False', reason: 'NotFound' });
    const { revision } = await rooms.putPolicy(api, 'loose', specOf('loose', 'once'));
    run.operator.resync();
    await until(() => run.operator.idle());
    expect(await rooms.findPolicy('loose', 'once')).toMatchObject({ revision, owner: { source: 'api' } });
    await unlink(join(directory, 'once.yaml'));
    await until(() => run.changes.some((one) => one.target.key === 'Policy/default/once' && one.status === undefined));
    expect(await policyNames('loose')).toEqual(['once']);
  });
});

describe('the guard against mass deletion', () => {
  test('holds when the directory is moved away piece by piece, and lets go what is confirmed', async () => {
    const directory = await world.directory();
    await world.serve();
    await save(join(directory, 't.yaml'), tenantYaml('mass'));
    for (let i = 0; i < 20; i++) await save(join(directory, `policies/${i}.yaml`), policyYaml('mass', `mass-${i}`));
    const run = world.operate(directory);
    await run.operator.settled();
    await rename(join(directory, 'policies'), `${directory}-away`);
    const held = await until(() => conditionOf(run, 'Tenant//mass', 'DeletionHeld'));
    expect(held.message).toContain('annotate the Tenant with accord.dev/confirm-deletion: "20"');
    expect(observations).toContainEqual({ kind: 'mass_deletion_held', tenant: 'mass', rows: 20, total: 21 });
    expect(await policyNames('mass')).toHaveLength(20);

    await rename(`${directory}-away`, join(directory, 'policies'));
    await until(() => !conditionOf(run, 'Tenant//mass', 'DeletionHeld'));
    await rm(join(directory, 'policies'), { recursive: true });
    await until(() => conditionOf(run, 'Tenant//mass', 'DeletionHeld'));
    await save(join(directory, 't.yaml'), tenantYaml('mass', '', 'accord.dev/confirm-deletion: "19"'));
    // Who has seen what was written later has seen that, too.
    await save(join(directory, 'later.yaml'), tenantYaml('later'));
    await until(() => conditionOf(run, 'Tenant//later')?.status === 'True');
    await run.operator.settled();
    expect(await policyNames('mass')).toHaveLength(20);
    await save(join(directory, 't.yaml'), tenantYaml('mass', '', 'accord.dev/confirm-deletion: "20"'));
    await until(async () => (await policyNames('mass')).length === 0);
    await until(() => !conditionOf(run, 'Tenant//mass', 'DeletionHeld'));
  });

  test('holds what is missing after a start', async () => {
    const directory = await world.directory();
    const all = [tenantYaml('sweep'), ...Array.from({ length: 15 }, (_, i) => policyYaml('sweep', `sweep-${i}`))];
    await save(join(directory, 'all.yaml'), all.join('---\n'));
    const first = world.operate(directory);
    await first.operator.settled();
    await first.close();
    await save(join(directory, 'all.yaml'), all.slice(0, 1).join('---\n'));
    const second = world.operate(directory);
    await second.operator.settled();
    await until(() => conditionOf(second, 'Tenant//sweep', 'DeletionHeld'));
    expect(await policyNames('sweep')).toHaveLength(15);
    await second.close();
    // What is served has a status, also where the directory of statuses is a new one.
    await rm(`${directory}/.status`, { recursive: true });
    const third = world.operate(directory);
    await third.operator.settled();
    const shown = await readdir(`${directory}/.status`);
    expect(shown.filter((file) => file.startsWith('policy_default_sweep-'))).toHaveLength(15);
    expect(third.operator.waiting().map(({ for: what }) => what)).toContain(
      'a confirmation of the mass deletion in tenant sweep',
    );
  });
});

describe('one operator at a time', () => {
  test('the second waits, says so, and takes over; a lost connection is taken up again', async () => {
    const directory = await world.directory();
    await save(join(directory, 't.yaml'), tenantYaml('locked'));
    const first = world.operate(directory);
    await first.operator.settled();
    const messages: string[] = [];
    const second = world.operate(directory, { onWaiting: (message) => messages.push(message) });
    await until(() => messages.length > 0);
    expect(messages).toEqual(['Another operator reconciles files into this database; waiting until it stops.']);
    await first.close();
    await second.operator.settled();
    await save(join(directory, 'p.yaml'), policyYaml('locked', 'one'));
    await until(async () => (await policyNames('locked')).length === 1);
    await world.cutConnections();
    await save(join(directory, 'q.yaml'), policyYaml('locked', 'two'));
    await until(async () => (await policyNames('locked').catch(() => [])).length === 2);
  });
});
