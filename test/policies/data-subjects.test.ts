/** dataSubjects of a policy in the Config API: what is accepted and kept, and what is refused and why. */
import { describe, expect, test } from 'vitest';
import { bounds } from '../../crds/index.ts';
import { oneTest } from '../helpers/drawn.ts';
import { createTestServer } from '../helpers/server.ts';
import { configClient } from './config-client.ts';

const server = await createTestServer();
const tenant = await server.tenant();
const call = await configClient(server, tenant);
for (const path of [
  '/actor-types/user',
  '/resource-types/record',
  '/relationship-types/user:is_owner_of:record',
  '/relationship-types/user:was:record',
])
  expect((await call('PUT', path, { body: {} })).status).toBe(200);

const rego = 'package p\noutcome := "allow" if every one in input.dataSubjects { one.id == "a" }';
const owners = { relationship: 'user:is_owner_of:record' };
const both = { ...owners, path: 'resource.patient' };
const at = (name: string) => `/policies/${encodeURIComponent(name)}`;
const put = (name: string, body: object, query = '') => call('PUT', `${at(name)}${query}`, { body });

describe('kept', () => {
  test('in GET, in revisions, in the snapshot, and by a restore; a change of it alone is a revision', async () => {
    const name = 'record:kept';
    const first = await put(name, { rego, dataSubjects: owners });
    expect([first.status, first.headers.etag]).toEqual([200, '"1"']);
    expect((await put(name, { rego, dataSubjects: owners })).headers.etag).toBe('"1"');
    expect((await put(name, { rego, dataSubjects: both })).headers.etag).toBe('"2"');
    expect((await call('GET', at(name))).body.dataSubjects).toEqual(both);
    const served = () => server.services.snapshots.get(tenant)?.policies.get(name);
    await server.services.snapshots.refresh(tenant);
    expect(served()).toMatchObject({ number: 2, dataSubjects: both });
    const revision = async (number: number) => (await call('GET', `${at(name)}/revisions/${number}`)).body.dataSubjects;
    expect([await revision(1), await revision(2)]).toEqual([owners, both]);
    expect((await call('POST', `${at(name)}/revisions/1/restore`, { body: {} })).headers.etag).toBe('"3"');
    expect((await call('GET', at(name))).body.dataSubjects).toEqual(owners);
    const { revisions } = (await call('GET', `${at(name)}/revisions`)).body;
    expect(revisions.some((one: object) => 'dataSubjects' in one)).toBe(false);
    await put(name, { rego: 'package p\noutcome := "deny"' });
    expect((await call('GET', at(name))).body).not.toHaveProperty('dataSubjects');
    await server.services.snapshots.refresh(tenant);
    expect(served()).not.toHaveProperty('dataSubjects');
  });
});

describe('refused', () => {
  test.each<[string, unknown, string]>([
    ['nothing in it', {}, '/dataSubjects'],
    ['a list', [owners], '/dataSubjects'],
    ['an unknown field', { ...owners, from: 'user' }, '/dataSubjects/from'],
    ['two parts of a type', { relationship: 'is_owner_of:record' }, '/dataSubjects/relationship'],
    ['four parts', { relationship: 'a:b:c:d' }, '/dataSubjects/relationship'],
    ['an empty part', { relationship: 'user::record' }, '/dataSubjects/relationship'],
    ['a type that is no text', { relationship: 1 }, '/dataSubjects/relationship'],
    ['a type name of 64 characters', { relationship: `${'a'.repeat(64)}:b:c` }, '/dataSubjects/relationship'],
    ['an empty path', { path: '' }, '/dataSubjects/path'],
    ['a root alone', { path: 'resource' }, '/dataSubjects/path'],
    ['another root', { path: 'graph.resource' }, '/dataSubjects/path'],
    ['the action, which has nothing below it', { path: 'action.name' }, '/dataSubjects/path'],
    ['the whole input', { path: 'input.resource.patient' }, '/dataSubjects/path'],
    ['an index', { path: 'resource.patients[0]' }, '/dataSubjects/path'],
    ['a number for an index', { path: 'resource.patients.0' }, '/dataSubjects/path'],
    ['two dots', { path: 'resource..patient' }, '/dataSubjects/path'],
    ['a dot at the end', { path: 'resource.patient.' }, '/dataSubjects/path'],
    ['a pointer', { path: '/resource/patient' }, '/dataSubjects/path'],
    ['spaces', { path: 'resource. patient' }, '/dataSubjects/path'],
    ['too long', { path: `resource.${'a'.repeat(bounds.dataSubjectPathCharsMax)}` }, '/dataSubjects/path'],
  ])('%s', async (_, dataSubjects, pointer) => {
    const { status, body } = await put('record:bad', { rego, dataSubjects });
    expect([status, body.errors[0].pointer]).toEqual([400, pointer]);
    expect((await call('GET', at('record:bad'))).status).toBe(404);
  });

  test('a relationship type that the tenant does not have, also in a dry run and a restore', async () => {
    const dataSubjects = { relationship: 'user:was:record' };
    expect((await put('record:was', { rego, dataSubjects })).status).toBe(200);
    await put('record:was', { rego: 'package p\noutcome := "deny"' });
    expect((await call('DELETE', '/relationship-types/user:was:record')).status).toBe(200);
    const refusals = [
      await put('record:was', { rego, dataSubjects }),
      await put('record:was', { rego, dataSubjects }, '?dryRun=true'),
      await call('POST', `${at('record:was')}/revisions/1/restore`, { body: {} }),
    ];
    for (const { status, body } of refusals) {
      expect([status, body.code, body.errors]).toEqual([
        400,
        'type_unknown',
        [
          {
            pointer: '/dataSubjects/relationship',
            detail: 'There is no relationship type user:was:record: make it first.',
          },
        ],
      ]);
    }
  });

  test('a policy that reads input.dataSubjects and does not say who they are, drawn or not', async () => {
    const graph = oneTest([{ type: 'consent', name: 'care', whose: 'dataSubjects' }]);
    for (const body of [{ rego }, { graph }]) {
      const { status, body: answer } = await put('record:nobody', body);
      expect([status, answer.code, answer.errors[0].pointer]).toEqual([
        400,
        'policy_without_data_subjects',
        '/dataSubjects',
      ]);
      expect((await put('record:nobody', { ...body, dataSubjects: owners })).status).toBe(200);
    }
  });
});

describe('a policy that states none is refused, however it reads them', () => {
  const missing = 'some one in them\n  not "x" in one.consents';
  test.each([
    ['in a variable', 'i := input\n  them := i.dataSubjects'],
    ['by an argument', 'them := of(input)'],
    ['by object.get', 'them := object.get(input, "dataSubjects", [])'],
    [
      'by a key that is computed',
      'key := concat("", ["data", "Subjects"])\n  name := "dataSubjects"\n  them := input[name]',
    ],
  ])('%s', async (_, how) => {
    const source = `package p\nof(i) := i.dataSubjects\ndefault outcome := "deny"\noutcome := "allow" if not missing\nmissing if {\n  ${how}\n  ${missing}\n}`;
    const { status, body } = await put('record:indirect', { rego: source });
    expect([status, body.code]).toEqual([400, 'policy_without_data_subjects']);
    expect((await put('record:indirect', { rego: source, dataSubjects: owners })).status).toBe(200);
    expect((await call('DELETE', at('record:indirect'))).status).toBe(200);
  });

  test('by a library, also when the library learns to later', async () => {
    const source = 'package p\nimport data.people\ndefault outcome := "deny"\noutcome := "allow" if people.fine(input)';
    const library = (rego: string) =>
      call('PUT', '/policy-libraries/people', { body: { modules: [{ name: 'm', rego: `package people\n${rego}` }] } });
    const reading = 'fine(i) if not miss(i)\nmiss(i) if { some one in i.dataSubjects; not "x" in one.consents }';
    expect((await library(reading)).status).toBe(200);
    expect((await put('record:lib', { rego: source })).body.code).toBe('policy_without_data_subjects');
    expect((await library('# not of dataSubjects\nfine(i) if i.subject.id == "ann"')).status).toBe(200);
    expect((await put('record:lib', { rego: source })).status).toBe(200);
    expect(await library(reading)).toMatchObject({ status: 409, body: { code: 'policy_part_breaks_policies' } });
  });
});

test('relationships are narrowed beside data subjects as without them', async () => {
  const conditions = 'held.type == "treats"\nheld.to.type == "record"\nheld.to.id == input.resource.id';
  const treats = `outcome := "allow" if {\nsome held in input.graph.subject\n${conditions}\n`;
  const body = (more: string) => ({ rego: `package p\n${treats}${more}\n}`, dataSubjects: owners });
  const reads = async (more: string) => (await put('record:narrow', body(more), '?dryRun=true')).body.relationships;
  expect(await reads('every one in input.dataSubjects { one.id != "a" }')).toEqual({
    subject: 'matching',
    resource: 'none',
  });
  const compared = 'every one in input.dataSubjects { one.id == input.subject.id }';
  expect(await reads(compared)).toEqual({ subject: 'matching', resource: 'none' });
});

describe('a dry run notes', () => {
  const notes = async (body: object) => (await put('record:dry', body, '?dryRun=true')).body.notes;
  const reading = (...members: string[]) =>
    `package p\n${members.map((member) => `outcome := "allow" if ${member} == []`).join('\n')}`;

  test('the consents of the subject beside relationships, and dataSubjects that nothing reads', async () => {
    const [resource, consents] = ['input.graph.resource', 'input.consents'];
    expect(await notes({ rego: reading(resource, consents) })).toEqual([
      expect.stringContaining('which are the consents of the subject'),
    ]);
    expect(await notes({ rego: reading(resource) })).toBeUndefined();
    expect(await notes({ rego: reading('input.graph.subject', consents) })).toHaveLength(1);
    expect(await notes({ rego: reading(consents) })).toBeUndefined();
    expect(
      await notes({ rego: reading(resource, consents, 'input.dataSubjects'), dataSubjects: owners }),
    ).toBeUndefined();
    expect(await notes({ rego: reading(resource), dataSubjects: owners })).toEqual([
      'dataSubjects has no effect: the policy does not read input.dataSubjects',
    ]);
    expect(await notes({ rego: 'package p\noutcome := input', dataSubjects: owners })).toBeUndefined();
    const helper = (body: string) => `package p\noutcome := "allow" if ok(input)\nok(i) if {\n${body}\n}`;
    expect(await notes({ rego: helper('i.graph.subject == []\ni.consents == []') })).toEqual([
      expect.stringContaining('which are the consents of the subject'),
    ]);
    expect(await notes({ rego: helper('i.graph.subject == [] # i.consents') })).toBeUndefined();
    const about = async (name: string) => (await put(name, { rego, dataSubjects: owners }, '?dryRun=true')).body.notes;
    expect(await about('folder:read')).toEqual([
      expect.stringContaining('user:is_owner_of:record leads to the type record'),
    ]);
    expect(await about('folder')).toBeUndefined();
    expect(await about('user:is_owner_of:record:delete')).toBeUndefined();
  });
});
