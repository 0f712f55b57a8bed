/** Libraries of a tenant's policies: compiled with them, all or none of what depends on one changes with it, kept while used. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import type { PolicyServices } from '../../server/policies/actions.ts';
import { ConflictError, retryOnConflict } from '../../server/policies/conflict.ts';
import { partSetWith } from '../../server/policies/dependents.ts';
import { decoded } from '../../server/policies/documents.ts';
import { readParts } from '../../server/policies/part-store.ts';
import type { Part } from '../../server/policies/parts.ts';
import { Programs } from '../../server/policies/programs.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { configClient } from './config-client.ts';
import { allowIf, partClient } from './parts.ts';

const server = await createTestServer();

const managers = (id: string) => `package company.roles\nis_manager(subject) if subject.id == "${id}"\n`;
const isManager = allowIf('roles.is_manager(input.subject)');
const allows = (id: string) => ({ name: `${id} may`, input: { subject: { id } }, expect: { outcome: 'allow' } });

describe('a library', () => {
  test('is read, listed, known by its uses, and decides', async () => {
    const { call, library, policy, decide } = await partClient(server);
    expect((await library('company.roles', managers('ann'))).status).toBe(200);
    expect(await policy('a', isManager)).toMatchObject({ status: 200 });
    expect([(await decide('a', 'ann')).outcome, (await decide('a', 'bob')).outcome]).toEqual(['allow', 'deny']);
    expect((await call('GET', '/policy-libraries')).body).toMatchObject({ resources: ['company.roles'] });
    const { body, headers } = await call('GET', '/policy-libraries/company.roles');
    expect(headers.etag).toBe('"1"');
    expect(body).toMatchObject({
      ...{ package: 'company.roles', modules: [{ name: 'm0', rego: managers('ann') }], revision: 1 },
      ...{ managedBy: 'api', usedBy: { policies: ['a'], libraries: [] } },
    });
  });

  test('that changes gives its policies a new revision, and they decide with it', async () => {
    const { call, library, policy, decide } = await partClient(server);
    await library('company.roles', managers('ann'));
    await policy('a', isManager);
    await policy('alone', 'package alone\noutcome := "allow"');
    await library('company.roles', managers('bob'));
    expect([(await decide('a', 'ann')).outcome, (await decide('a', 'bob')).outcome]).toEqual(['deny', 'allow']);
    expect((await call('GET', '/policies/a')).body).toMatchObject({ revision: 2, rego: isManager, managedBy: 'api' });
    expect((await call('GET', '/policies/alone')).body).toMatchObject({ revision: 1 });
    const { body } = await call('GET', '/policies/a/revisions');
    expect(body.revisions.map(({ action }: { action: string }) => action)).toEqual(['library', 'put']);
    await call('PUT', '/policies/a', { body: { rego: isManager } });
    expect((await call('GET', '/policies/a')).body.revision).toBe(2);
  });

  test('that breaks one of two policies changes neither', async () => {
    const { call, library, policy, decide } = await partClient(server);
    await library('company.roles', managers('ann'));
    await policy('kept', isManager);
    await policy('tested', isManager, [allows('ann')]);
    const refused = await library('company.roles', managers('bob'));
    expect(refused).toMatchObject({ status: 409, body: { code: 'policy_part_breaks_policies' } });
    expect(refused.body.errors).toEqual([
      { pointer: '/modules', detail: expect.stringMatching(/^policy tested: ann may: outcome is "deny"/) },
    ]);
    for (const name of ['kept', 'tested']) {
      expect((await decide(name, 'ann')).outcome).toBe('allow');
      expect((await call('GET', `/policies/${name}`)).body.revision).toBe(1);
    }
    expect((await call('GET', '/policy-libraries/company.roles')).body.revision).toBe(1);
    const gone = await library('company.roles', 'package company.roles\nother := 1');
    expect(gone.body.errors).toHaveLength(2);
  });

  test('tried with dryRun is checked with its policies and not stored', async () => {
    const { call, library, policy, decide } = await partClient(server);
    await library('company.roles', managers('ann'));
    await policy('a', isManager, [allows('ann')]);
    const dryRun = (rego: string) =>
      call('PUT', '/policy-libraries/company.roles?dryRun=true', { body: { modules: [{ name: 'm0', rego }] } });
    expect((await dryRun(managers('bob'))).body.code).toBe('policy_part_breaks_policies');
    expect((await dryRun(`${managers('ann')}is_manager(subject) if subject.id == "bob"\n`)).status).toBe(200);
    expect((await decide('a', 'bob')).outcome).toBe('deny');
  });

  test('that is used is kept, by name of what uses it, and goes afterwards', async () => {
    const { call, library, policy } = await partClient(server);
    await library('company.people', 'package company.people\nann := "ann"');
    await library('company.roles', 'package company.roles\nis_manager(s) if s.id == data.company.people.ann');
    await policy('a', isManager);
    const remove = (name: string) => call('DELETE', `/policy-libraries/${name}`);
    expect(await remove('company.people')).toMatchObject({
      status: 409,
      body: { code: 'policy_part_in_use', detail: expect.stringContaining('library company.roles, policy a') },
    });
    expect((await call('GET', '/policy-libraries/company.people')).body.usedBy).toEqual({
      policies: ['a'],
      libraries: ['company.roles'],
    });
    await call('DELETE', '/policies/a');
    expect((await remove('company.roles')).status).toBe(200);
    expect((await remove('company.people')).status).toBe(200);
    expect((await remove('company.people')).body.code).toBe('policy_part_not_found');
    await library('company.people', 'package company.people\nann := "ann"');
    expect((await call('GET', '/policy-libraries/company.people')).body.revision).toBe(3);
  });

  test('of another library: a change of the inner one reaches the policy', async () => {
    const { library, policy, decide } = await partClient(server);
    await library('company.people', 'package company.people\nmanagers := {"ann"}');
    await library('company.roles', 'package company.roles\nis_manager(s) if s.id in data.company.people.managers');
    await policy('a', isManager);
    await library('company.people', 'package company.people\nmanagers := {"bob"}');
    expect((await decide('a', 'bob')).outcome).toBe('allow');
    const broken = await library('company.people', 'package company.people\nothers := {"bob"}');
    expect(broken.body.errors[0].detail).toMatch(/^library company.roles: company.roles\/m0.rego:2:\d+: /);
  });

  test('of another library that no longer uses a third: the third can go', async () => {
    const { call, library } = await partClient(server);
    await library('c', 'package c\nx := 1');
    await library('a', 'package a\nx := data.c.x');
    await library('l', 'package l\nx := data.a.x');
    expect((await library('a', 'package a\nx := 2')).status).toBe(200);
    expect((await call('GET', '/policy-libraries/c')).body.usedBy.libraries).toEqual([]);
    expect((await call('GET', '/policy-libraries/a')).body.usedBy.libraries).toEqual(['l']);
    expect((await call('DELETE', '/policy-libraries/c')).status).toBe(200);
    expect((await library('a', 'package a\nx := data.d.x')).body.code).toBe('policy_reference_unknown');
    await library('d', 'package d\nx := 3');
    expect((await library('a', 'package a\nx := data.d.x')).status).toBe(200);
    expect((await call('GET', '/policy-libraries/d')).body.usedBy.libraries).toEqual(['a', 'l']);
  });

  test('whose text goes while a draft is compiled with it: 429, not 500', async () => {
    const { tenant, call, library, policy, decide } = await partClient(server);
    await library('company.roles', managers('ann'));
    await policy('a', isManager);
    await asAdmin(server.db.adminUrl, 'update accord.policy_part_revision set content = null where tenant = $1', [
      tenant,
    ]);
    const draft = { rego: `${isManager}# a draft` };
    for (const body of [
      await decide('a', 'ann', '?explain=true'),
      (await call('POST', '/policies/a/test', { body: { ...draft, input: {} } })).body,
      (await call('POST', '/policies/a/test', { body: { ...draft, input: {}, coverage: true } })).body,
      (await call('POST', '/policies/a/replay', { body: draft })).body,
    ])
      expect(body).toMatchObject({ status: 429, code: 'policy_parts_changing' });
  });

  test('in the older syntax, with a package below, serves a policy in the newer', async () => {
    const { library, policy, decide } = await partClient(server);
    const rego = 'package company.roles.old\nis_manager(s) { s.id == "ann" }';
    expect((await library('company.roles', rego, 'package company.roles\nx := 1')).status).toBe(200);
    await policy('a', allowIf('roles.old.is_manager(input.subject)'));
    expect((await decide('a')).outcome).toBe('allow');
  });

  test('unchanged makes no revision, is not taken by another tenant, and wants a config-editor', async () => {
    const { tenant, library, policy } = await partClient(server);
    const first = await library('company.roles', managers('ann'));
    expect((await library('company.roles', managers('ann'))).headers['accord-revision']).toBe(
      first.headers['accord-revision'],
    );
    const other = await partClient(server);
    expect((await other.policy('a', isManager)).body.code).toBe('policy_reference_unknown');
    expect((await policy('a', isManager)).status).toBe(200);
    const viewer = await configClient(server, tenant, 'config-viewer');
    expect((await viewer('GET', '/policy-libraries/company.roles')).status).toBe(200);
    expect((await viewer('DELETE', '/policy-libraries/company.roles')).status).toBe(403);
  });

  test('is told in explain with its revision, also where it was imported by a library', async () => {
    const { library, data, policy, decide } = await partClient(server);
    await data('company/people', { managers: ['ann'] });
    await library('company.roles', 'package company.roles\nis_manager(s) if s.id in data.company.people.managers');
    await policy('a', isManager);
    const { outcome, explain } = await decide('a', 'bob', '?explain=true');
    expect(outcome).toBe('deny');
    expect(explain).toMatchObject({
      libraries: [{ package: 'company.roles', revision: 1 }],
      data: [{ path: 'company/people', revision: 1 }],
      whyNot: {
        rules: [
          {
            line: 4,
            condition: {
              text: 'roles.is_manager(input.subject)',
              because: [
                {
                  ...{ file: 'company.roles/m0.rego', line: 2 },
                  condition: {
                    text: 's.id in data.company.people.managers',
                    values: [
                      { of: 'input.subject.id', value: 'bob' },
                      { of: 'data.company.people.managers', value: ['ann'] },
                    ],
                  },
                },
              ],
            },
          },
        ],
      },
    });
  });

  test('only what a policy reaches counts as read by it', async () => {
    const { call, library, policy } = await partClient(server);
    await library(
      'company.roles',
      'package company.roles\nis_manager(s) if s.id == "ann"\nof_subject if count(input.dataSubjects) > 0',
    );
    expect((await policy('a', isManager)).status).toBe(200);
    expect((await policy('b', allowIf('roles.of_subject'))).body.code).toBe('policy_without_data_subjects');
    expect((await call('GET', '/policies/a')).body.relationships).toMatchObject({ subject: 'none' });
  });
});

describe('refused', () => {
  const cases: [string, string, string[], string, RegExp][] = [
    ['a reserved package', 'system.log', ['package system.log'], 'policy_part_name_invalid', /reserved/],
    ['our own package', 'accord.answer', ['package accord.answer'], 'policy_part_name_invalid', /reserved/],
    ['a package with a dash', 'a-b', ['package a'], 'policy_part_name_invalid', /must be a Rego package/],
    ['a module of another package', 'a.b', ['package a.c'], 'policy_library_invalid', /its package is a\.c/],
    ['a module above the package', 'a.b', ['package a'], 'policy_library_invalid', /its package is a;/],
    ['what does not compile', 'a.b', ['package a.b\nx := y'], 'policy_library_invalid', /var y is unsafe/],
    ['a forbidden builtin', 'a.b', ['package a.b\nx := opa.runtime()'], 'policy_library_invalid', /opa\.runtime/],
    ['a recursion', 'a.b', ['package a.b\nx if y\ny if x'], 'policy_library_invalid', /recursive/],
    ['what is not there', 'a.b', ['package a.b\nx := data.c.y'], 'policy_reference_unknown', /data\.c\.y/],
    ['the root of data', 'a.b', ['package a.b\nx := data[input.y]'], 'policy_library_invalid', /recursive/],
    ['deep nesting', 'a.b', [`package a.b\nx := ${'['.repeat(500)}`], 'policy_library_invalid', /depth|nest/],
  ];
  test.each(cases)('%s', async (_, name, modules, code, detail) => {
    const { call, library } = await partClient(server);
    const { status, body } = await library(name, ...modules);
    expect([status, body.code]).toEqual([400, code]);
    expect(body.detail).toMatch(detail);
    expect((await call('GET', '/policy-libraries')).body.resources).toEqual([]);
  });

  test('with the module, line and column', async () => {
    const { library } = await partClient(server);
    const { body } = await library('a.b', 'package a.b\nok := 1', 'package a.b\n\nx := y');
    expect(body.errors).toEqual([
      { pointer: '/modules/1/rego', detail: expect.stringContaining('var y is unsafe'), line: 3, column: 6 },
    ]);
  });

  test('two modules of one name, no module, a body of another shape', async () => {
    const { call } = await partClient(server);
    const put = (body: object) => call('PUT', '/policy-libraries/a.b', { body });
    const module = { name: 'm', rego: 'package a.b' };
    expect((await put({ modules: [module, module] })).body).toMatchObject({
      code: 'policy_library_invalid',
      errors: [{ pointer: '/modules/1/name' }],
    });
    expect((await put({ modules: [] })).body.code).toBe('invalid_request');
    expect((await put({ modules: [{ ...module, rego: 1 }] })).body.code).toBe('invalid_request');
    expect((await put({ module })).body.code).toBe('invalid_request');
  });

  test('libraries that refer to each other in a cycle', async () => {
    const { library } = await partClient(server);
    await library('a', 'package a\nx := 1');
    await library('b', 'package b\ny := data.a.x');
    expect((await library('c', 'package c\nz := data.b.y')).status).toBe(200);
    const { status, body } = await library('a', 'package a\nx := 1\nw := data.c.z');
    expect([status, body.code]).toEqual([400, 'policy_library_cycle']);
    expect(body.detail).toContain('a refers to c refers to b refers to a');
    expect((await library('a', 'package a\nx := 2\nv := data.a.x')).status).toBe(200);
  });

  test('packages and paths that stand above or below one another', async () => {
    const { library, data } = await partClient(server);
    await library('a.b', 'package a.b\nx := 1');
    for (const refused of [
      await library('a', 'package a\nx := 1'),
      await library('a.b.c', 'package a.b.c\nx := 1'),
      await data('a', {}),
      await data('a/b', {}),
      await data('a/b/c', {}),
    ]) {
      expect([refused.status, refused.body.code]).toEqual([409, 'policy_part_overlaps']);
      expect(refused.body.detail).toContain('the library a.b overlap');
    }
    expect((await data('a/bc', {})).status).toBe(200);
  });

  test('a policy that refers to a whole package of several, or to a rule that its library lacks', async () => {
    const { library, policy } = await partClient(server);
    await library('a.b', 'package a.b\nx := 1');
    const above = await policy('p', 'package p\noutcome := "allow" if data.a[input.y].x');
    expect(above.body).toMatchObject({ code: 'policy_reference_unknown', detail: expect.stringContaining('data.a') });
    const lacking = await policy('p', 'package p\noutcome := "allow" if data.a.b.y');
    expect(lacking.body).toMatchObject({
      code: 'policy_does_not_compile',
      detail: expect.stringContaining('the library data.a.b has no such rule'),
    });
  });

  test('a policy in the package of a library does not get at it', async () => {
    const { library, policy } = await partClient(server);
    await library('a.b', 'package a.b\nsecret := 1');
    for (const own of ['a', 'a.b', 'a.b.c']) {
      const { body } = await policy('p', `package ${own}\noutcome := "allow" if data.a.b.secret == 1`);
      expect(body.status).toBe(400);
    }
  });
});

describe('limits', () => {
  test('policyPartNameCharsMax of a package', async () => {
    const { library } = await partClient(server);
    const [fits, long] = [0, 1].map((more) => 'a'.repeat(limits.policyPartNameCharsMax + more)) as [string, string];
    expect((await library(fits, `package ${fits}`)).status).toBe(200);
    expect((await library(long, `package ${long}`)).body.code).toBe('policy_part_name_invalid');
  });

  test('libraryModulesMax and libraryBytesMax of a library', async () => {
    const { library } = await partClient(server);
    const modules = (count: number) => Array.from({ length: count }, () => 'package a');
    expect((await library('a', ...modules(limits.libraryModulesMax))).status).toBe(200);
    expect((await library('a', ...modules(limits.libraryModulesMax + 1))).status).toBe(400);
    const sized = (bytes: number) => 'package a\n#'.padEnd(bytes, '.');
    const size = limits.libraryBytesMax / 8;
    const eight = (more: number) => [...Array.from({ length: 7 }, () => sized(size)), sized(size + more)];
    expect((await library('a', ...eight(0))).status).toBe(200);
    expect((await library('a', ...eight(1))).body.detail).toContain(`${limits.libraryBytesMax} are allowed`);
  });

  test('policyPartsMax of a tenant, and policyPartRevisionsKept of one', async () => {
    const { tenant, call, data } = await partClient(server);
    for (let i = 0; i <= limits.policyPartRevisionsKept; i++) await data('first', { i });
    const count = async () => {
      const rows = await asAdmin<{ number: unknown }>(
        server.db.adminUrl,
        'select number from accord.policy_part_revision where tenant = $1 order by number',
        [tenant],
      );
      return rows.map(({ number }) => Number(number));
    };
    expect([(await count())[0], (await count()).length]).toEqual([2, limits.policyPartRevisionsKept]);
    await asAdmin(
      server.db.adminUrl,
      `insert into accord.policy_part (tenant, kind, name, number, digest, bytes, refs, revision, owner, updated_by)
       select $1, 'data', 'd' || n, 1, '', 2, '[]', 1, '{"source": "api"}', 'test' from generate_series(3, ${limits.policyPartsMax}) n`,
      [tenant],
    );
    expect((await data('last', {})).status).toBe(200);
    expect((await data('more', {})).body.code).toBe('policy_part_quota_reached');
    expect((await data('last', { changed: true })).status).toBe(200);
    expect((await call('GET', '/policy-data')).body.resources).toHaveLength(limits.policyPartsMax);
  });

  test('policyDependentsMax of what uses one that changes', async () => {
    const { tenant, library, data } = await partClient(server);
    await library('a', 'package a\nx := 1');
    await data('b', {});
    const use = (from: number, to: number) =>
      asAdmin(
        server.db.adminUrl,
        `insert into accord.policy_use (tenant, user_kind, user_name, kind, name)
         select $1, 'policy', 'p' || n, kind, name from accord.policy_part, generate_series($2::int, $3) n where tenant = $1`,
        [tenant, from, to],
      );
    await use(1, limits.policyDependentsMax);
    expect((await library('a', 'package a\nx := 2')).status).toBe(200);
    expect((await data('b', { x: 1 })).status).toBe(200);
    await use(limits.policyDependentsMax + 1, limits.policyDependentsMax + 1);
    for (const refused of [await library('a', 'package a\nx := y'), await data('b', {})])
      expect([refused.status, refused.body.code]).toEqual([409, 'too_many_dependents']);
  });

  test('policyDependentErrorsMax of those that a change breaks', async () => {
    const { library, policy } = await partClient(server);
    await library('company.roles', managers('ann'));
    const names = Array.from({ length: limits.policyDependentErrorsMax + 2 }, (_, i) => `p${10 + i}`);
    for (const name of names) expect((await policy(name, isManager)).status).toBe(200);
    const { body } = await library('company.roles', 'package company.roles\nother := 1');
    expect(body.errors).toHaveLength(limits.policyDependentErrorsMax);
    expect(body.detail).toMatch(/policy p29: [^;]*; and 2 more$/);
  });

  test('a document that several policies read is read once for a change of another', async () => {
    const { tenant, data } = await partClient(server);
    await data('d', { x: 1 });
    const { database } = server.services;
    const parts = await database.read(tenant, (tx) => readParts(tx, tenant));
    const next = { ...(parts[0] as Part), name: 'e' };
    const set = partSetWith({ database } as PolicyServices, tenant, parts, next, '{}');
    const [part] = set.parts as [Part];
    expect(await set.content(part)).toBe('{"x":1}');
    await asAdmin(server.db.adminUrl, 'update accord.policy_part_revision set content = null where tenant = $1', [
      tenant,
    ]);
    expect(await set.content(part)).toBe('{"x":1}');
    await expect(set.content({ ...part })).rejects.toMatchObject({ code: 'policy_parts_changing' });
  });

  test('policyPartAttemptsMax of a write whose parts move', async () => {
    for (const [moves, made] of [
      [limits.policyPartAttemptsMax - 1, limits.policyPartAttemptsMax],
      [limits.policyPartAttemptsMax, undefined],
    ] as const) {
      let attempts = 0;
      const result = await retryOnConflict(async () => {
        attempts++;
        if (attempts <= moves) throw new ConflictError();
        return attempts;
      }).catch(({ code }) => code);
      expect([attempts, result]).toEqual([limits.policyPartAttemptsMax, made ?? 'policy_parts_changing']);
    }
  });

  test('instanceDocumentBytes of documents count as a program, once for all programs of a tenant', () => {
    expect(decoded(JSON.stringify('x'.repeat(limits.instanceDocumentBytes - 2))).weight).toBe(1);
    const document = decoded(JSON.stringify('x'.repeat(limits.instanceDocumentBytes - 1)));
    expect(document.weight).toBe(2);
    const programs = new Programs<string>(5);
    const held = new Map([['digest', document]]);
    for (const name of ['a', 'b', 'c']) programs.set('t', name, name, held);
    expect([programs.size, programs.document('t', 'digest')]).toEqual([3, document]);
    programs.set('t', 'd', 'd', held);
    expect([programs.size, programs.get('t', 'a')]).toEqual([3, undefined]);
    programs.set('large', 'alone', 'alone', new Map([['other', { value: 1, weight: 9 }]]));
    expect([programs.size, programs.get('large', 'alone')]).toEqual([1, 'alone']);
    programs.set('t', 'e', 'e');
    expect([programs.get('t', 'e'), programs.get('large', 'alone')]).toEqual(['e', undefined]);
  });
});

test('changes of a library and of a policy at once end in one state that fits together', async () => {
  const { call, library, policy, decide } = await partClient(server);
  await library('company.roles', managers('ann'));
  const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
  const written = await Promise.all([
    ...ids.map((id) => policy(id, isManager)),
    ...ids.map((id) => library('company.roles', managers(id))),
  ]);
  expect(written.every(({ status }) => status === 200 || status === 429)).toBe(true);
  const { modules } = (await call('GET', '/policy-libraries/company.roles')).body;
  const [, manager = ''] = /== "(\w+)"/.exec(modules[0].rego) ?? [];
  for (const name of ids.filter((_, i) => written[i]?.status === 200))
    expect((await decide(name, manager)).outcome).toBe('allow');
});

describe('what overlaps the package of a policy', () => {
  const helpers = 'package helpers\nok if not data.company.blocked.users[input.subject.id]\n';
  const using = (of: string) => `package ${of}\ndefault outcome := "deny"\noutcome := "allow" if data.helpers.ok\n`;

  test('is not lost silently by a library: the policy is refused, and decides under another package', async () => {
    const { library, data, policy, decide } = await partClient(server);
    await data('company/blocked', { users: { mallory: true } });
    expect((await library('helpers', helpers)).status).toBe(200);
    expect(await policy('a', using('company'))).toMatchObject({
      status: 400,
      body: { code: 'policy_reference_unknown', detail: expect.stringContaining('overlaps the package company') },
    });
    expect((await policy('a', using('other'))).status).toBe(200);
    expect([(await decide('a', 'ann')).outcome, (await decide('a', 'mallory')).outcome]).toEqual(['allow', 'deny']);
  });

  test('is not lost by a library that begins to use it: the change is refused', async () => {
    const { library, data, policy } = await partClient(server);
    await data('company/blocked', { users: { mallory: true } });
    await library('helpers', 'package helpers\nok if input.subject.id != "mallory"\n');
    expect((await policy('a', using('company'))).status).toBe(200);
    expect(await library('helpers', helpers)).toMatchObject({
      status: 409,
      body: { code: 'policy_part_breaks_policies', detail: expect.stringContaining('overlaps the package company') },
    });
  });
});
