/** Manifests of libraries and data documents: made in any order with the policies that use them, refused and held while used. */
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { conditionOf, createWorld, save, until } from './harness.ts';
import { policyYaml, tenantYaml } from './manifests.ts';

const world = await createWorld();

const yaml = (kind: string, tenant: string, name: string, spec: string) => `apiVersion: accord.dev/v1alpha1
kind: ${kind}
metadata: {name: ${name}}
spec:
  tenantRef: {name: ${tenant}}
${spec}`;
const library = (tenant: string, rules: string) =>
  yaml(
    'PolicyLibrary',
    tenant,
    'a-roles',
    `  package: company.roles
  modules:
    - name: roles
      rego: |
        package company.roles

        ${rules}
`,
  );
const managers = (tenant: string, ...ids: string[]) =>
  yaml('PolicyData', tenant, 'managers', `  path: company/managers\n  value: {ids: [${ids.join(', ')}]}\n`);
const isManager = 'is_manager(s) if s.id in data.company.managers.ids';
const tests = 'tests: [{name: ann may, input: {subject: {id: ann}}, expect: {outcome: allow}}]';
const policy = (tenant: string, name: string, more?: string) =>
  policyYaml(tenant, name, {
    source: 'package p\ndefault outcome := "deny"\noutcome := "allow" if data.company.roles.is_manager(input.subject)',
    ...(more === undefined ? {} : { more }),
  });

async function company(tenant: string, files: Record<string, string>) {
  await world.empty(); // manifests have the same names in each test
  const directory = await world.directory();
  const put = (name: string, text: string) => save(join(directory, name), text);
  for (const [name, text] of Object.entries(files)) await put(name, text);
  await put('tenant.yaml', tenantYaml(tenant, 'deletionPolicy: Delete'));
  const snapshots = await world.serve();
  const run = world.operate(directory);
  const ready = (key: string, reason?: string) =>
    until(() => {
      if (reason === undefined) return conditionOf(run, key)?.status === 'True';
      return conditionOf(run, key, 'Accepted')?.reason === reason;
    });
  return { directory, put, run, ready, entry: (name: string) => snapshots.get(tenant)?.policies.get(name) };
}

const LIBRARY = 'PolicyLibrary/default/a-roles';
const DATA = 'PolicyData/default/managers';
const POLICY = 'Policy/default/read';

test('a policy waits for its library, and the library for its document', async () => {
  const { put, run, ready, entry } = await company('waits', { 'policy.yaml': policy('waits', 'read') });
  await ready(POLICY, 'RefNotFound');
  await put('library.yaml', library('waits', isManager));
  await ready(LIBRARY, 'RefNotFound');
  await put('data.yaml', managers('waits', 'ann'));
  for (const key of [DATA, LIBRARY, POLICY]) await ready(key);
  await until(() => entry('read'));
  expect(entry('read')?.documents?.list).toMatchObject([{ path: 'company/managers', number: 1 }]);
  expect(conditionOf(run, POLICY)?.status).toBe('True');
});

test('a library that would break a policy is refused, and accepted when the policy is changed', async () => {
  const files = {
    'policy.yaml': policy('breaks', 'read', tests),
    'library.yaml': library('breaks', isManager),
    'data.yaml': managers('breaks', 'ann'),
  };
  const { put, run, ready, entry } = await company('breaks', files);
  await ready(POLICY);
  const number = await until(() => entry('read')?.number);
  await put('library.yaml', library('breaks', 'is_manager(s) if s.id == "bob"'));
  const refused = await until(() => {
    const found = conditionOf(run, LIBRARY, 'Accepted');
    return found?.reason === 'PoliciesFailed' ? found : undefined;
  });
  expect(refused.message).toContain('policy read: ann may');
  expect(entry('read')?.number).toBe(number);
  const other = policy('breaks', 'read', tests.replaceAll('ann', 'bob')).replace('package p', 'package q');
  await put(
    'policy.yaml',
    other.replace(
      'is_manager(input.subject)',
      'is_manager(input.subject)\n    outcome := "allow" if input.subject.id == "bob"',
    ),
  );
  await until(() => conditionOf(run, LIBRARY, 'Accepted')?.status === 'True');
  await until(() => (entry('read')?.number ?? 0) > (number ?? 0) + 1);
});

test('a library that would break a test of a policy is accepted when only the tests are changed', async () => {
  const { put, run, ready } = await company('tests', {
    'policy.yaml': policy('tests', 'read', tests),
    'library.yaml': library('tests', isManager),
    'data.yaml': managers('tests', 'ann', 'bob'),
  });
  await ready(POLICY);
  await put('library.yaml', library('tests', 'is_manager(s) if s.id == "bob"'));
  await ready(LIBRARY, 'PoliciesFailed');
  await put('policy.yaml', policy('tests', 'read', tests.replaceAll('ann', 'bob')));
  await until(() => conditionOf(run, LIBRARY, 'Accepted')?.status === 'True');
});

test('a policy that its library breaks is looked at again when the library changes', async () => {
  const { put, run, ready } = await company('again', {
    'policy.yaml': policy('again', 'read'),
    'library.yaml': library('again', 'another(s) if s.id == "bob"'),
  });
  await until(() => conditionOf(run, POLICY, 'Accepted')?.status === 'False');
  await ready(LIBRARY);
  await put('library.yaml', library('again', 'is_manager(s) if s.id == "bob"'));
  await ready(POLICY);
});

/** Stops the operator where it writes down that a library is refused, until `open`. */
async function gateAtRefusal() {
  const client = new pg.Client({ connectionString: world.adminUrl });
  await client.connect();
  await client.query(`
    create function accord.gate() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock(7); return new; end $$;
    create trigger gate before insert or update on accord.resource for each row
      when (new.kind = 'PolicyLibrary' and new.status @> '{"conditions": [{"type": "Accepted", "status": "False"}]}')
      execute function accord.gate();
    select pg_advisory_lock(7)`);
  const waiting = `select 1 from pg_locks l join pg_database d on d.oid = l.database
    where d.datname = current_database() and l.locktype = 'advisory' and l.objid = 7 and not l.granted`;
  return {
    isReached: async () => ((await client.query(waiting)).rowCount ?? 0) > 0,
    open: () => client.query('select pg_advisory_unlock(7)'),
    async remove() {
      await client.query('drop trigger gate on accord.resource; drop function accord.gate()');
      await client.end();
    },
  };
}

test('a library is looked at again when only the tests of a policy change while the library is being refused', async () => {
  const { put, run, ready } = await company('meanwhile', {
    'policy.yaml': policy('meanwhile', 'read', tests),
    'library.yaml': library('meanwhile', isManager),
    'data.yaml': managers('meanwhile', 'ann', 'bob'),
  });
  await ready(POLICY);
  const isNow = (key: string) => {
    const accepted = conditionOf(run, key, 'Accepted');
    return accepted?.status === 'True' && accepted.observedGeneration === 2;
  };
  const gate = await gateAtRefusal();
  try {
    await put('library.yaml', library('meanwhile', 'is_manager(s) if s.id == "bob"'));
    await until(gate.isReached);
    await put('policy.yaml', policy('meanwhile', 'read', tests.replaceAll('ann', 'bob')));
    await until(() => isNow(POLICY));
    await gate.open();
    await until(() => isNow(LIBRARY));
  } finally {
    await gate.remove();
  }
});

test('a library that is used is held, and goes after its policy', async () => {
  const { directory, run, ready } = await company('held', {
    'policy.yaml': policy('held', 'read'),
    'library.yaml': library('held', isManager),
    'data.yaml': managers('held', 'ann'),
    'other.yaml': policyYaml('held', 'other'),
    'more.yaml': policyYaml('held', 'more'),
  });
  await ready(POLICY);
  await unlink(join(directory, 'library.yaml'));
  const held = await until(() => {
    const found = conditionOf(run, LIBRARY, 'Accepted');
    return found?.reason === 'InUse' ? found : undefined;
  });
  expect(held.message).toContain('used by policy read');
  await unlink(join(directory, 'policy.yaml'));
  await until(async () => {
    const { resources } = await run.operator.settled();
    return resources.every(({ target }) => target.key !== LIBRARY);
  });
});
