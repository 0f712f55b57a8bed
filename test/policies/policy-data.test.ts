/** Data documents of a tenant's policies: below data, at their newest revision, tested with what reads them, kept while used. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';
import { configClient } from './config-client.ts';
import { partClient } from './parts.ts';

const server = await createTestServer();
const reads =
  'package p\ndefault outcome := "deny"\noutcome := "allow" if input.subject.id in data.company.managers.ids\n';
const annMay = { name: 'ann may', input: { subject: { id: 'ann' } }, expect: { outcome: 'allow' } };

describe('a document', () => {
  test('is read, listed, and decides as it is now; the policy stays the same revision', async () => {
    const { call, data, policy, decide } = await partClient(server);
    await data('company/managers', { ids: ['ann'] });
    expect((await policy('a', reads)).status).toBe(200);
    expect([(await decide('a', 'ann')).outcome, (await decide('a', 'bob')).outcome]).toEqual(['allow', 'deny']);
    expect((await data('company/managers', { ids: ['bob'] })).headers.etag).toBe('"2"');
    expect([(await decide('a', 'ann')).outcome, (await decide('a', 'bob')).outcome]).toEqual(['deny', 'allow']);
    expect((await call('GET', '/policies/a')).body.revision).toBe(1);
    expect((await call('GET', '/policy-data')).body.resources).toEqual(['company/managers']);
    expect((await call('GET', '/policy-data/company%2Fmanagers')).body).toMatchObject({
      ...{ path: 'company/managers', value: { ids: ['bob'] }, revision: 2, managedBy: 'api' },
      usedBy: { policies: ['a'], libraries: [] },
    });
  });

  test('is told with its revision in explain and in the record of the decision', async () => {
    const { tenant, call, data, policy, decide } = await partClient(server);
    await data('company/managers', { ids: ['ann'] });
    await policy('a', reads);
    await data('company/managers', { ids: ['ann', 'bob'] });
    await decide('a', 'bob');
    const { explain } = await decide('a', 'ann', '?explain=true');
    expect(explain).toMatchObject({ data: [{ path: 'company/managers', revision: 2 }], rules: [{ line: 3 }] });
    const admin = await configClient(server, tenant, 'security-admin');
    const decisions = async () => (await admin('GET', '/decisions')).body.decisions as Record<string, unknown>[];
    await until('the records', async () => (await decisions()).length === 2);
    for (const one of await decisions()) expect(one.data).toEqual({ 'company/managers': 2 });
    const [{ id } = { id: '' }] = await decisions();
    const explained = await admin('POST', `/decisions/${id}/explain`);
    expect(explained.body.differs).toEqual([]);
    const tried = await call('POST', '/policies/a/test', {
      body: { input: { subject: { id: 'bob' } }, coverage: true },
    });
    expect(tried.body).toMatchObject({ outcome: 'allow', coverage: { coverage: 50 } });
  });

  test('that breaks the tests of one of two policies changes nothing', async () => {
    const { call, data, policy, decide } = await partClient(server);
    await data('company/managers', { ids: ['ann'] });
    await policy('kept', reads);
    await policy('tested', reads, [annMay]);
    const { status, body } = await data('company/managers', { ids: [] });
    expect([status, body.code]).toEqual([409, 'policy_part_breaks_policies']);
    expect(body.errors).toEqual([{ pointer: '/value', detail: expect.stringMatching(/^policy tested: ann may/) }]);
    for (const name of ['kept', 'tested']) expect((await decide(name, 'ann')).outcome).toBe('allow');
    expect((await call('GET', '/policy-data/company%2Fmanagers')).body.revision).toBe(1);
  });

  test('that is used is kept; a policy without it is refused', async () => {
    const { call, data, policy } = await partClient(server);
    expect((await policy('a', reads)).body).toMatchObject({
      code: 'policy_reference_unknown',
      errors: [{ pointer: '/rego', line: 3, detail: expect.stringContaining('data.company.managers') }],
    });
    await data('company/managers', { ids: [] });
    await policy('a', reads);
    expect((await call('DELETE', '/policy-data/company%2Fmanagers')).body).toMatchObject({
      code: 'policy_part_in_use',
      detail: 'The data document company/managers is used by policy a.',
    });
    await call('PUT', '/policies/a', { body: { rego: 'package p\noutcome := "deny"' } });
    expect((await call('DELETE', '/policy-data/company%2Fmanagers')).status).toBe(200);
  });

  test('stands beside others under one name, and its numbers and names are as they were sent', async () => {
    const { call, data, policy, decide } = await partClient(server);
    const value = { constructor: { 'a b': [0.1, 1e21, -0.5, null, 'é\u{1f600}'] }, toString: 1 };
    await data('company/odd-one', value);
    await data('company/managers', { ids: ['ann'] });
    expect((await call('GET', '/policy-data/company%2Fodd-one')).body.value).toEqual(value);
    const condition = `{\n  d := data.company["odd-one"]\n  d.constructor["a b"] == [0.1, 1e21, -0.5, null, "é\u{1f600}"]\n  d.toString == 1\n  not d.valueOf\n  input.subject.id in data.company.managers.ids\n}`;
    await policy('a', `package p\noutcome := "allow" if ${condition}`);
    expect((await decide('a')).outcome).toBe('allow');
    expect((await decide('a', 'ann', '?explain=true')).outcome).toBe('allow');
  });

  test('can be replaced in a test by `with`, and be run by the Wasm', async () => {
    const { data, policy, decide } = await partClient(server);
    await data('company/managers', { ids: ['ann'] });
    await policy(
      'a',
      `${reads}outcome := "allow" if may with data.company.managers as {"ids": ["eve"]}\nmay if "eve" in data.company.managers.ids\nreason := "conflict" if input.subject.id == "eve"\n`,
    );
    expect((await decide('a', 'bob')).outcome).toBe('allow');
  });

  test('in rules that conflict ends in the conflict, again and again off the main thread', async () => {
    const { data, policy, decide } = await partClient(server);
    await data('company/managers', { ids: ['ann'], other: 'deny' });
    await policy('a', `${reads}outcome := data.company.managers.other if true\n`);
    for (let i = 0; i < limits.suspendConflicts + 2; i++)
      expect(await decide('a', 'ann')).toEqual({ outcome: 'deny', reason: 'policy_conflict' });
    expect((await decide('a', 'bob')).outcome).toBe('deny');
  });
});

describe('refused', () => {
  const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });
  test.each<[string, string, unknown, string]>([
    ['an array', 'a', [1], 'invalid_request'],
    ['a text', 'a', 'x', 'invalid_request'],
    ['null', 'a', null, 'invalid_request'],
    ['a reserved path', 'system/x', {}, 'policy_part_name_invalid'],
    ['our own root', 'accord', {}, 'policy_part_name_invalid'],
    ['an empty part', 'a//b', {}, 'policy_part_name_invalid'],
    ['a path with dots', '../a', {}, 'policy_part_name_invalid'],
    ['a prototype', '__proto__', {}, 'policy_part_name_invalid'],
    ['a NUL', 'a', { x: '\0' }, 'invalid_request'],
    ['half a surrogate pair', 'a', { x: '\ud800' }, 'invalid_request'],
    ['nesting', 'a', deep(limits.inputDepthMax + 1), 'invalid_request'],
  ])('%s', async (_, path, value, code) => {
    const { call, data } = await partClient(server);
    const { status, body } = await data(path, value);
    expect([status, body.code]).toEqual([400, code]);
    expect((await call('GET', '/policy-data')).body.resources).toEqual([]);
  });

  test('more bytes and more values than the limits', async () => {
    const { data } = await partClient(server);
    const sized = (bytes: number) => ({ x: 'x'.repeat(bytes - JSON.stringify({ x: '' }).length) });
    expect((await data('a', sized(limits.policyDataBytesMax))).status).toBe(200);
    expect((await data('b', sized(limits.policyDataBytesMax + 1))).body).toMatchObject({
      code: 'policy_data_invalid',
      errors: [{ pointer: '/value' }],
    });
    expect((await data('b', sized(limits.policyDataBodyBytesMax))).status).toBe(413);
    const list = (count: number) => ({ x: Array.from({ length: count }, () => 0) });
    expect((await data('c', list(limits.policyDataValuesMax - 3))).status).toBe(200);
    expect((await data('d', list(limits.policyDataValuesMax))).status).toBe(400);
  });

  test('documents that leave a policy no memory', async () => {
    const { data, policy } = await partClient(server);
    const names = Array.from({ length: 25 }, (_, i) => `d${i}`);
    const wide = { x: Array.from({ length: 49_000 }, () => 0) };
    for (const name of names) expect((await data(name, wide)).status).toBe(200);
    const sum = names.map((name) => `count(data.${name})`).join(' + ');
    expect((await policy('a', `package p\noutcome := "allow" if ${sum} > 0`)).body).toMatchObject({
      code: 'policy_data_too_large',
      detail: expect.stringContaining('do not fit into the memory'),
    });
    expect((await policy('a', 'package p\noutcome := "allow" if data.d0.x[7] == 0')).status).toBe(200);
  });
});

describe('policyDocumentsBytesMax of all documents of a policy', () => {
  const sized = (bytes: number) => ({ x: 'x'.repeat(bytes - JSON.stringify({ x: '' }).length) });
  const last = 16; // what is left for the last one
  const paths = ['d0', 'd1', 'd2', 'd3'];
  const all = `package p\ndefault outcome := "deny"\noutcome := "allow" if {${paths.map((path) => `data.${path}.x`).join('; ')}}\n`;

  async function withDocuments(lastBytes: number) {
    const client = await partClient(server);
    const whole = limits.policyDataBytesMax;
    const bytes = [whole, whole, limits.policyDocumentsBytesMax - 2 * whole - last, lastBytes];
    for (const [i, path] of paths.entries())
      expect((await client.data(path, sized(bytes[i] as number))).status).toBe(200);
    return client;
  }

  test('is kept by a policy, and by a change of a document', async () => {
    const { call, data, policy, decide } = await withDocuments(last);
    expect((await policy('a', all)).status).toBe(200);
    expect((await decide('a')).outcome).toBe('allow');
    expect((await data('d3', sized(last + 1))).body).toMatchObject({
      code: 'policy_part_breaks_policies',
      errors: [{ detail: expect.stringMatching(/^policy a: .* have 3145729 bytes together; 3145728 are allowed/) }],
    });
    expect((await call('PUT', '/policies/a', { body: { rego: 'package p\noutcome := "deny"' } })).status).toBe(200);
    expect((await data('d3', sized(last + 1))).status).toBe(200);
    const restored = await call('POST', '/policies/a/revisions/1/restore', { body: {} });
    expect([restored.status, restored.body.code]).toEqual([400, 'policy_data_too_large']);
  });

  test('is checked before the first document is read, wherever a policy is compiled', async () => {
    const { tenant, call, policy } = await withDocuments(last + 1);
    await policy('stored', 'package p\noutcome := "deny"');
    await asAdmin(server.db.adminUrl, 'update accord.policy_part_revision set content = null where tenant = $1', [
      tenant,
    ]);
    const draft = { rego: all };
    for (const { body } of [
      await policy('a', all),
      await call('PUT', '/policies/a?dryRun=true', { body: draft }),
      await call('POST', '/policies/a/test', { body: { ...draft, input: {} } }),
      await call('POST', '/policies/a/test', { body: { ...draft, input: {}, coverage: true } }),
      await call('POST', '/policies/stored/replay', { body: draft }),
    ])
      expect(body).toMatchObject({ status: 400, code: 'policy_data_too_large' });
  });

  test('a restored policy is tested as it was last, with the documents of now', async () => {
    const { call, data, policy } = await partClient(server);
    await data('company/managers', { ids: ['ann'] });
    await policy('a', reads);
    await policy('a', 'package p\noutcome := "allow"', [annMay]);
    await data('company/managers', { ids: [] });
    const restore = () => call('POST', '/policies/a/revisions/1/restore', { body: {} });
    expect((await restore()).body.code).toBe('policy_tests_failed');
    await data('company/managers', { ids: ['ann'] });
    expect((await restore()).status).toBe(200);
    expect((await call('GET', '/policies/a')).body).toMatchObject({ rego: reads, tests: [{ name: 'ann may' }] });
  });
});

test('a document of many names is decided with, by plan and by Wasm', async () => {
  const { data, policy, decide } = await partClient(server);
  const roles = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`user-${i}`, { role: `r${i % 7}` }]));
  expect((await data('roles', roles)).status).toBe(200);
  await policy(
    'a',
    'package p\ndefault outcome := "deny"\noutcome := "allow" if data.roles[input.subject.id].role == "r3"',
  );
  expect((await decide('a', 'user-3')).outcome).toBe('allow');
  expect((await decide('a', 'user-3', '?explain=true')).outcome).toBe('allow');
  expect((await decide('a', 'user-4')).outcome).toBe('deny');
  expect((await decide('a', 'user-4', '?explain=true')).explain.whyNot.rules).toHaveLength(1);
});

test('support does not read documents, which may hold ids of persons', async () => {
  const { tenant, data } = await partClient(server);
  await data('company/managers', { ids: ['ann'] });
  const support = await configClient(server, tenant, 'support');
  expect((await support('GET', '/policy-data')).body.resources).toEqual(['company/managers']);
  expect((await support('GET', '/policy-data/company%2Fmanagers')).status).toBe(403);
});
