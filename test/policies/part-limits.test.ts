/** What bounds the compiling of libraries and of what uses them: bytes, time, and what is kept of it; and its coverage. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { checkDependents, partSetWith, readSeen } from '../../server/policies/dependents.ts';
import { putPart } from '../../server/policies/index.ts';
import type { Part } from '../../server/policies/parts.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer, manifestWriter } from '../helpers/server.ts';
import { allowIf, partClient } from './parts.ts';

const server = await createTestServer();
const { policies } = server.services;

const managers = (id: string) => `package company.roles\nis_manager(subject) if subject.id == "${id}"\n`;
const isManager = allowIf('roles.is_manager(input.subject)');
const body = (rego: string) => ({ kind: 'library' as const, modules: [{ name: 'm0', rego }] });

describe('policyLibrariesBytesMax of the libraries of a policy', () => {
  const quarter = limits.policyLibrariesBytesMax / 4;
  /** Modules of a library that has so many bytes as it is stored. */
  const modules = (name: string, bytes: number) => {
    const made = Array.from({ length: 5 }, () => `package ${name}\n#`);
    made[0] = `package ${name}\nx := true\n#`;
    const stored = () => JSON.stringify(made.map((rego, i) => ({ name: `m${i}`, rego }))).length;
    for (const i of made.keys()) made[i] += '.'.repeat(Math.min(60_000, bytes - stored()));
    expect(stored()).toBe(bytes);
    return made;
  };
  const names = ['l0', 'l1', 'l2', 'l3'];
  const all = `package p\ndefault outcome := "deny"\noutcome := "allow" if {${names.map((name) => `data.${name}.x`).join('; ')}}\n`;

  test('is kept by a policy, by a change of one of them, and by a library that uses others', async () => {
    const { library, policy, decide } = await partClient(server);
    for (const name of names) expect((await library(name, ...modules(name, quarter))).status).toBe(200);
    expect((await policy('a', all)).status).toBe(200);
    expect((await decide('a')).outcome).toBe('allow');
    const more = await library('l3', ...modules('l3', quarter + 1));
    expect(more.body).toMatchObject({
      code: 'policy_part_breaks_policies',
      errors: [{ detail: expect.stringMatching(/^policy a: .* have 1048577 bytes together; 1048576 are allowed/) }],
    });
    const using = `package u\nx if {${names.map((name) => `data.${name}.x`).join('; ')}}`;
    expect((await library('u', using)).body.code).toBe('policy_libraries_too_large');
  });

  test('is checked before the policy is compiled', async () => {
    const { library, policy } = await partClient(server);
    for (const name of names) await library(name, ...modules(name, name === 'l3' ? quarter + 1 : quarter));
    expect((await policy('a', all)).body).toMatchObject({ status: 400, code: 'policy_libraries_too_large' });
  });
});

describe('what a change compiles', () => {
  const artifacts = async (tenant: string) => {
    const sql = 'select digest from accord.policy_artifact where tenant = $1';
    return (await asAdmin(server.db.adminUrl, sql, [tenant])).length;
  };

  test('is stored policy by policy and not held; a dry run stores nothing', async () => {
    const { tenant, library, policy, call } = await partClient(server);
    await library('company.roles', managers('ann'));
    for (const name of ['a', 'b']) await policy(name, `${isManager}# ${name}\n`);
    expect(await artifacts(tenant)).toBe(2);
    const modules = [{ name: 'm0', rego: managers('bob') }];
    expect((await call('PUT', '/policy-libraries/company.roles?dryRun=true', { body: { modules } })).status).toBe(200);
    expect(await artifacts(tenant)).toBe(2);
    const name = { kind: 'library', name: 'company.roles' } as const;
    const seen = await readSeen(server.services.database, tenant, name);
    const part = { ...(seen.parts[0] as Part), number: 2, digest: 'other' };
    const set = partSetWith(policies, tenant, seen.parts, part, JSON.stringify(modules));
    const { recompiled } = await checkDependents(policies, tenant, part, { seen, set });
    expect(recompiled).toHaveLength(2);
    expect(JSON.stringify(recompiled).length).toBeLessThan(3000);
    expect(await artifacts(tenant)).toBe(4);
    await library('company.roles', managers('bob'));
    expect((await call('GET', '/policies/a')).body.revision).toBe(2);
  });

  test('ends when the client has gone, and after policyPartCheckMsMax, and nothing changes', async () => {
    const { tenant, library, policy, call } = await partClient(server);
    await library('company.roles', managers('ann'));
    await policy('a', isManager);
    const put = (services: typeof policies, signal: AbortSignal | undefined) =>
      putPart(
        services,
        { ...manifestWriter, owner: { source: 'api' } },
        tenant,
        'company.roles',
        body(managers('bob')),
        {
          ...(signal === undefined ? {} : { signal }),
        },
      );
    await expect(put(policies, AbortSignal.abort())).rejects.toMatchObject({
      ...{ code: 'client_closed_request', status: 499 },
    });
    const taking = (ms: number) => {
      let now = -ms;
      const clock = { ...policies.clock, now: () => policies.clock.now(), monotonic: () => (now += ms) };
      return { ...policies, clock };
    };
    const { signal } = new AbortController();
    await expect(put(taking(limits.policyPartCheckMsMax + 1), signal)).rejects.toMatchObject({
      ...{ code: 'too_many_dependents', message: expect.stringContaining('within 300 seconds') },
    });
    expect((await call('GET', '/policies/a')).body.revision).toBe(1);
    expect((await call('GET', '/policy-libraries/company.roles')).body.revision).toBe(1);
    await put(taking(limits.policyPartCheckMsMax), signal);
    expect((await call('GET', '/policies/a')).body.revision).toBe(2);
    // Nobody waits for what an operator writes.
    await putPart(taking(limits.policyPartCheckMsMax + 1), manifestWriter, tenant, 'other', body('package other'), {});
  });
});

test('coverage tells of each module of libraries which lines the policy can reach were reached', async () => {
  const { call, library, policy } = await partClient(server);
  const roles = [
    'package company.roles',
    'is_manager(subject) if {',
    '\tsubject.id == "ann"',
    '\tsubject.active',
    '}',
    'default level(_) := 0',
    'level(subject) := 2 if subject.id == "bob"',
    'unused if input.x',
  ].join('\n');
  await library('company.roles', roles, 'package company.roles\nother if input.y');
  await policy(
    'a',
    allowIf('roles.is_manager(input.subject)', 'outcome := "allow" if roles.level(input.subject) > 1\n'),
  );
  const coverage = async (subject: object, tests: object[] = []) =>
    (await call('POST', '/policies/a/test', { body: { input: { subject }, coverage: true, tests } })).body.coverage;
  const covered = await coverage({ id: 'ann' });
  expect(covered.modules).toEqual([
    {
      module: 'company.roles/m0.rego',
      covered: [
        { start: { row: 3 }, end: { row: 4 } },
        { start: { row: 6 }, end: { row: 6 } },
      ],
      notCovered: [
        { start: { row: 2 }, end: { row: 2 } },
        { start: { row: 7 }, end: { row: 7 } },
      ],
      ...{ coveredLines: 3, notCoveredLines: 2, coverage: 60 },
    },
  ]);
  const manager = { name: 'ann', input: { subject: { id: 'ann', active: true } }, expect: { outcome: 'allow' } };
  const both = await coverage({ id: 'bob' }, [manager]);
  expect(both.modules).toMatchObject([{ notCovered: [], coverage: 100 }]);
});
