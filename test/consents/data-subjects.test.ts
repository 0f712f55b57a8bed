/** input.dataSubjects: the consents of those whom the data is about, in decisions, explanations and searches. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { oneTest } from '../helpers/drawn.ts';
import { createTestServer } from '../helpers/server.ts';
import { WallClock } from '../invitations/inviting.ts';
import { configClient } from '../policies/config-client.ts';
import { consenting, item } from './consenting.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);

const agreed = (more = '') => `package p
default outcome := "deny"
outcome := "allow" if {
  every person in input.dataSubjects {
    some consent in person.consents
    consent.name == "care"
    consent.sufficient
  }
}
${more}`;
const owners = { relationship: 'user:is_owner_of:record' };
const patient = { path: 'resource.patient' };
const echo = 'package p\noutcome := {"persons": input.dataSubjects}';

type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';
async function records() {
  const it = await consenting(server, clock);
  const { tenant } = it;
  const config = async (method: Method, path: string, body?: unknown) =>
    (await configClient(server, tenant))(method, path, body === undefined ? {} : { body });
  const setup: [string, object][] = [
    ['/actor-types/user', {}],
    ['/actor-types/device', {}],
    ['/resource-types/folder', {}],
    ['/resource-types/record', { attributes: { patient: { type: 'string' } } }],
    ['/relationship-types/user:is_owner_of:record', {}],
    ['/relationship-types/user:treats:record', {}],
    ['/relationship-types/device:fills:record', {}],
    ['/relationship-types/user:holds:folder', {}],
    ['/relationship-types/folder:contains:record', {}],
    [
      '/relationship-types/user:has:record',
      { inheritedThrough: [{ relationship: 'user:holds:folder', from: 'folder:contains:record' }] },
    ],
  ];
  for (const [path, body] of setup) expect([path, (await config('PUT', path, body)).status]).toEqual([path, 200]);
  const policy = async (name: string, body: object) => {
    const { status, body: answer } = await config('PUT', `/policies/${name}`, body);
    expect([status, answer]).toEqual([200, {}]);
  };
  const post = async (path: string, payload: object, token?: string, method: Method = 'POST') => {
    const bearer = token ?? (await server.client(tenant, 'pg:tenant:admin'));
    const headers = { authorization: `Bearer ${bearer}` };
    const response = await server.app.inject({ method, url: path, headers, payload });
    return { status: response.statusCode, body: response.body === '' ? undefined : response.json() };
  };
  const relate = async (from: string, relationshipType: string, to: string, expiresAt?: string) => {
    const [type, id] = to.split('/');
    const body = { relationshipType, to: { type, id }, ...(expiresAt ? { expiresAt } : {}) };
    const { status } = await post(`/${tenant}/actors/${from}/relationships`, body);
    expect(status).toBe(201);
  };
  const ask = async (action: string, resource: object, more: object = {}, query = '', token?: string) => {
    const subject = token === undefined ? { subject: { type: 'user', id: 'doctor' } } : {};
    const { status, body } = await post(`/authz/${tenant}${query}`, { ...subject, action, resource, ...more }, token);
    expect(status).toBe(200);
    return body;
  };
  await it.define('care', { '1 a en': 0 });
  const agree = async (userId: string) => (await it.user(userId)('POST', '', item('care', '1 a en'))).body.id as string;
  return { ...it, config, policy, post, relate, ask, agree };
}

const record = (id: string, more: object = {}) => ({ type: 'record', id, ...more });
const denied = (reason: string) => ({ outcome: 'deny', reason });

describe('by a relationship to the resource', () => {
  test('allowed when all owners agreed, whoever asks; from the next decision on', async () => {
    const { policy, relate, ask, agree, user } = await records();
    await policy('record:read', { rego: agreed(), dataSubjects: owners });
    await policy('record:drawn', {
      graph: oneTest([{ type: 'consent', name: 'care', whose: 'dataSubjects' }]),
      dataSubjects: owners,
    });
    const outcome = async () => {
      const [rego, graph] = [await ask('record:read', record('r')), await ask('record:drawn', record('r'))];
      expect(graph).toEqual(rego);
      return rego;
    };
    await agree('doctor'); // who asks is not asked
    expect(await outcome()).toEqual(denied('no_data_subject'));
    await relate('user/ann', 'is_owner_of', 'record/r');
    expect(await outcome()).toEqual({ outcome: 'deny' });
    const id = await agree('ann');
    expect(await outcome()).toEqual({ outcome: 'allow' });
    await relate('user/ben', 'is_owner_of', 'record/r');
    expect(await outcome()).toEqual({ outcome: 'deny' });
    await agree('ben');
    expect(await outcome()).toEqual({ outcome: 'allow' });
    await user('ann')('DELETE', `/${id}`);
    expect(await outcome()).toEqual({ outcome: 'deny' });
  });

  test('the same statuses as input.consents: grace, end of life', async () => {
    const { policy, relate, ask, agree, put, direct, from, end, user } = await records();
    await policy('record:echo', { rego: echo, dataSubjects: owners });
    await policy('record:read', { rego: agreed(), dataSubjects: owners });
    await relate('user/ann', 'is_owner_of', 'record/r');
    await agree('ann');
    await put('/care/versions/2', direct);
    await put('/care/versions/2/documents/en/a', { effectiveDate: from(1000) });
    await end('care', '1', { startDate: 2000, endDate: 10_000, gracePeriod: 'PT3S' });
    const status = async () => (await ask('record:echo', record('r'))).outcome.persons[0].consents[0].status;
    expect(await status()).toBe('given');
    clock.advance(2000);
    expect(await status()).toBe('valid');
    await user('ann')('GET', '/active?name=care&language=en');
    expect(await status()).toBe('grace');
    clock.advance(3000);
    expect(await ask('record:read', record('r'))).toEqual({ outcome: 'allow' });
    clock.advance(1);
    expect([await status(), await ask('record:read', record('r'))]).toEqual(['expired', { outcome: 'deny' }]);
  });

  test('by type and id, without duplicates; an expired relationship is none, and neither is one of another type', async () => {
    const { policy, relate, ask, agree, from } = await records();
    await policy('record:echo', { rego: echo, dataSubjects: owners });
    for (const id of ['zoe', 'ann', 'Mia']) await relate(`user/${id}`, 'is_owner_of', 'record/r');
    await relate('user/gone', 'is_owner_of', 'record/r', from(1000));
    await relate('user/other', 'is_owner_of', 'record/s');
    await relate('user/doc', 'treats', 'record/r');
    await relate('device/zoe', 'fills', 'record/r');
    await agree('ann');
    const persons = async () => (await ask('record:echo', record('r'))).outcome.persons;
    expect((await persons()).map(({ id }: { id: string }) => id)).toEqual(['Mia', 'ann', 'gone', 'zoe']);
    clock.advance(1000);
    expect(await persons()).toEqual([
      { type: 'user', id: 'Mia', consents: [] },
      {
        ...{ type: 'user', id: 'ann' },
        consents: [
          { name: 'care', version: '1', document: { version: 'a', language: 'en' }, status: 'given', sufficient: true },
        ],
      },
      { type: 'user', id: 'zoe', consents: [] },
    ]);
    for (const resource of [{ type: 'folder', id: 'r' }, { type: 'record' }, { id: 'r' }, {}, record('none')])
      expect(await ask('record:echo', resource)).toEqual(denied('no_data_subject'));
  });

  test('through others, where the relationship is inherited; actors of another type have no consents', async () => {
    const { policy, relate, ask, agree } = await records();
    await policy('record:has', { rego: echo, dataSubjects: { relationship: 'user:has:record' } });
    await policy('record:fills', { rego: echo, dataSubjects: { relationship: 'device:fills:record' } });
    await relate('user/ann', 'holds', 'folder/f');
    await relate('folder/f', 'contains', 'record/r');
    await relate('user/ben', 'has', 'record/r');
    await relate('device/ann', 'fills', 'record/r');
    await agree('ann');
    const persons = (await ask('record:has', record('r'))).outcome.persons;
    expect(persons).toMatchObject([
      { type: 'user', id: 'ann', consents: [{ name: 'care', status: 'given' }] },
      { type: 'user', id: 'ben', consents: [] },
    ]);
    expect((await ask('record:fills', record('r'))).outcome.persons).toEqual([
      { type: 'device', id: 'ann', consents: [] },
    ]);
    expect(await ask('record:has', record('s'))).toEqual(denied('no_data_subject'));
  });

  test('more than dataSubjectsMax are a deny, and never a part; so are ten thousand', async () => {
    const { policy, post, ask, tenant, admin } = await records();
    await policy('record:read', { rego: agreed(), dataSubjects: owners });
    await policy('record:has', { rego: agreed(), dataSubjects: { relationship: 'user:has:record' } });
    const fill = async (count: number, id: string, relationshipType: string) => {
      const to = { type: 'record', id };
      const lines = Array.from({ length: count }, (_, i) => ({
        from: { type: 'user', id: `u${i}` },
        relationshipType,
        to,
      }));
      const response = await server.app.inject({
        method: 'POST',
        url: `/${tenant}/relationships/import`,
        headers: {
          authorization: `Bearer ${await server.client(tenant, 'pg:tenant:admin')}`,
          'content-type': 'application/x-ndjson',
        },
        payload: lines.map((line) => JSON.stringify(line)).join('\n'),
      });
      expect(response.statusCode).toBe(200);
    };
    for (let first = 0; first < limits.dataSubjectsMax; first += 50) {
      const users = Array.from({ length: 50 }, (_, i) => item('care', '1 a en', { userId: `u${first + i}` }));
      await admin('POST', '', users);
    }
    await fill(limits.dataSubjectsMax, 'full', 'is_owner_of');
    await fill(limits.dataSubjectsMax, 'full', 'has');
    await fill(limits.dataSubjectsMax + 1, 'past', 'is_owner_of');
    await fill(limits.dataSubjectsMax + 1, 'past', 'has');
    await fill(10_000, 'everybody', 'is_owner_of');
    for (const action of ['record:read', 'record:has']) {
      expect(await ask(action, record('full'))).toEqual({ outcome: 'allow' });
      expect(await ask(action, record('past'))).toEqual(denied('data_subjects_too_many'));
    }
    expect(await ask('record:read', record('everybody'))).toEqual(denied('data_subjects_too_many'));
    expect(server.observations).toContainEqual(
      expect.objectContaining({ kind: 'decision_failed', tenant, reason: 'data_subjects_too_many' }),
    );
    const { body } = await post(`/authz/${tenant}/batch`, {
      requests: ['full', 'past', 'everybody', 'nobody'].flatMap((id) =>
        Array.from({ length: 20 }, () => ({ action: 'record:read', resource: record(id) })),
      ),
    });
    const reasons = body.decisions.map(
      ({ outcome, reason }: { outcome: string; reason?: string }) => reason ?? outcome,
    );
    const expected = ['allow', 'data_subjects_too_many', 'data_subjects_too_many', 'no_data_subject'];
    expect(reasons).toEqual(expected.flatMap((one) => Array.from({ length: 20 }, () => one)));
  });
});

describe('by a path in the request', () => {
  test('an id, or an object of type and id; what is stored of the resource wins', async () => {
    const { policy, ask, agree, post, tenant } = await records();
    await policy('record:read', { rego: agreed(), dataSubjects: patient });
    await policy('record:deep', { rego: echo, dataSubjects: { path: 'context.about.person' } });
    await agree('ann');
    const by = async (said: unknown) => ask('record:read', record('r', { patient: said }));
    expect(await by('ann')).toEqual({ outcome: 'allow' });
    expect(await by('ben')).toEqual({ outcome: 'deny' });
    expect(await by({ type: 'user', id: 'ann', name: 'Ann' })).toEqual({ outcome: 'allow' });
    expect(await by({ type: 'device', id: 'ann' })).toEqual({ outcome: 'deny' });
    expect(
      (await ask('record:deep', record('r'), { context: { about: { person: 'ann' } } })).outcome.persons,
    ).toMatchObject([{ type: 'user', id: 'ann', consents: [{ name: 'care' }] }]);
    expect((await post(`/${tenant}/resources/record/r`, { patient: 'ben' }, undefined, 'PUT')).status).toBe(200);
    expect(await by('ann')).toEqual({ outcome: 'deny' });
  });

  test.each<[unknown, string]>([
    [undefined, 'data_subject_absent'],
    [null, 'data_subject_absent'],
    [['ann'], 'data_subject_malformed'],
    [[], 'data_subject_malformed'],
    [7, 'data_subject_malformed'],
    [true, 'data_subject_malformed'],
    ['', 'data_subject_malformed'],
    ['a\u0001', 'data_subject_malformed'],
    ['x'.repeat(limits.entityIdBytesMax + 1), 'data_subject_malformed'],
    [{}, 'data_subject_malformed'],
    [{ id: 'ann' }, 'data_subject_malformed'],
    [{ type: 'user' }, 'data_subject_malformed'],
    [{ type: 'user', id: ['ann'] }, 'data_subject_malformed'],
    [{ type: 'no type', id: 'ann' }, 'data_subject_malformed'],
  ])('%j denies with %s', async (said, reason) => {
    const { policy, ask } = await shared;
    await policy('record:read', { rego: agreed(), dataSubjects: patient });
    expect(await ask('record:read', record('r', { patient: said }))).toEqual(denied(reason));
  });
  const shared = records();

  test('nothing is found below arrays, strings or prototypes', async () => {
    const { policy, ask } = await shared;
    await policy('record:in', { rego: agreed(), dataSubjects: { path: 'resource.patient.id' } });
    await policy('record:proto', { rego: agreed(), dataSubjects: { path: 'context.constructor.name' } });
    expect(await ask('record:in', record('r', { patient: [{ id: 'ann' }] }))).toEqual(denied('data_subject_malformed'));
    expect(await ask('record:in', record('r', { patient: 'ann' }))).toEqual(denied('data_subject_absent'));
    expect(await ask('record:proto', record('r'), { context: {} })).toEqual(denied('data_subject_absent'));
    expect(await ask('record:proto', record('r'))).toEqual(denied('data_subject_absent'));
  });

  test('a user may not say it, whatever it says', async () => {
    const { policy, ask, agree, tenant } = await records();
    await policy('record:read', { rego: agreed(), dataSubjects: patient });
    await policy('record:both', { rego: agreed(), dataSubjects: { ...owners, ...patient } });
    await policy('record:own', { rego: agreed(), dataSubjects: owners });
    await agree('ann');
    const token = await server.user(tenant, 'ann');
    for (const resource of [record('r', { patient: 'ann' }), record('r')]) {
      for (const action of ['record:read', 'record:both'])
        expect(await ask(action, resource, {}, '', token)).toEqual(denied('data_subject_forbidden'));
      expect(await ask('record:own', resource, {}, '', token)).toEqual(denied('no_data_subject'));
    }
  });

  test('both: those of both, each once; each of the two is needed', async () => {
    const { policy, relate, ask, agree } = await records();
    await policy('record:read', { rego: echo, dataSubjects: { ...owners, ...patient } });
    await relate('user/ann', 'is_owner_of', 'record/r');
    await agree('ann');
    const persons = async (id: string, said: unknown) =>
      (await ask('record:read', record(id, { patient: said }))).outcome.persons;
    const ann = { type: 'user', id: 'ann', consents: [expect.objectContaining({ name: 'care' })] };
    const ben = { type: 'user', id: 'ben', consents: [] };
    expect(await persons('r', 'ben')).toEqual([ann, ben]);
    expect(await persons('r', 'ann')).toEqual([ann]);
    for (const resource of [record('unknown', { patient: 'ben' }), { type: 'folder', id: 'r', patient: 'ben' }])
      expect(await ask('record:read', resource)).toEqual(denied('no_data_subject'));
    await policy('record:has', { rego: echo, dataSubjects: { relationship: 'user:has:record', ...patient } });
    expect(await ask('record:has', record('s', { patient: 'ben' }))).toEqual(denied('no_data_subject'));
    expect(await ask('record:read', record('r'))).toEqual(denied('data_subject_absent'));
  });
});

describe('explain', () => {
  test('tells whose consent is missing, and what denied before the policy was asked', async () => {
    const { policy, relate, ask, agree, user } = await records();
    await policy('record:read', { rego: agreed(), dataSubjects: owners });
    const explained = (id: string) => ask('record:read', record(id), {}, '?explain=true');
    for (const id of ['ann', 'ben']) await relate(`user/${id}`, 'is_owner_of', 'record/r');
    await agree('ann');
    const { outcome, explain } = await explained('r');
    expect(outcome).toBe('deny');
    expect(explain.missingConsents).toEqual([{ type: 'user', id: 'ben', name: 'care', status: 'required' }]);
    expect(explain.facts.dataSubjects).toEqual(explain.input.dataSubjects);
    expect(explain.facts.dataSubjects).toMatchObject([
      { id: 'ann', consents: [{ name: 'care', status: 'given', sufficient: true }] },
      { id: 'ben', consents: [] },
    ]);
    const graph = oneTest([{ type: 'consent', name: 'care', whose: 'dataSubjects' }]);
    await policy('record:drawn', { graph, dataSubjects: owners });
    const text = 'user:ben agrees to care (status now: required)';
    const consent = { name: 'care', subject: { type: 'user', id: 'ben' }, status: 'required' };
    const drawn = (await ask('record:drawn', record('r'), {}, '?explain=true')).explain;
    expect(drawn.whyNot.rules).toMatchObject([
      { conditions: [{ missing: [{ consent, text }] }], wouldAllowIf: [{ consent, text }] },
    ]);
    expect(explain.whyNot.rules).toMatchObject([
      { condition: { missing: [{ consent, text }] }, wouldAllowIf: [{ consent, text }] },
    ]);
    await agree('ben');
    expect((await explained('r')).explain).not.toHaveProperty('missingConsents');
    await user('ann')('DELETE', `/${(await user('ann')('GET', '/me')).body.consents[0].id}`);
    expect((await explained('r')).explain.missingConsents).toMatchObject([{ id: 'ann' }]);
    expect(await explained('s')).toMatchObject({
      ...denied('no_data_subject'),
      explain: { policy: 'record:read', revision: 1, rules: [], failure: { reason: 'no_data_subject' } },
    });
  });
});

test('explain names consents that a library asks for, and nobody who cannot agree is advised to', async () => {
  const { config, policy, relate, ask } = await records();
  const rego =
    'package company.care\nall_agreed if every p in input.dataSubjects {\n\tsome c in p.consents\n\tc.name == "care"\n\tc.sufficient\n}';
  expect((await config('PUT', '/policy-libraries/company.care', { modules: [{ name: 'm', rego }] })).status).toBe(200);
  await policy('record:read', {
    rego: 'package p\nimport data.company.care\ndefault outcome := "deny"\noutcome := "allow" if care.all_agreed',
    dataSubjects: { relationship: 'user:is_owner_of:record', path: 'resource.about' },
  });
  await relate('user/ann', 'is_owner_of', 'record/r');
  const explained = async (about: object) =>
    (await ask('record:read', record('r', { about }), {}, '?explain=true')).explain;
  const users = await explained({ type: 'user', id: 'ben' });
  const missing = (id: string) => ({ type: 'user', id, name: 'care', status: 'required' });
  expect(users.missingConsents).toEqual([missing('ann'), missing('ben')]);
  const [inLibrary] = users.whyNot.rules[0].condition.because;
  expect(inLibrary).toMatchObject({
    ...{ file: 'company.care/m.rego', line: 2, text: 'all_agreed if every p in input.dataSubjects {' },
    wouldAllowIf: [{ consent: { subject: { id: 'ann' } } }, { consent: { subject: { id: 'ben' } } }],
  });
  const device = await explained({ type: 'device', id: 'd' });
  expect(device.missingConsents).toEqual([
    { type: 'device', id: 'd', name: 'care', status: 'not_applicable' },
    missing('ann'),
  ]);
  const [rule] = device.whyNot.rules[0].condition.because;
  expect(rule).not.toHaveProperty('wouldAllowIf');
  expect(rule.condition.missing[0].text).toBe(
    'device:d cannot agree to care: only actors of the type user have consents',
  );
});

describe('search', () => {
  test('resources: each candidate by its own data subjects, also those that nothing else leads to', async () => {
    const { policy, relate, agree, post, tenant } = await records();
    const treats = `outcome := "allow" if {
  some link in input.graph.subject
  link.type == "treats"
  link.to.type == "record"
  link.to.id == input.resource.id
}`;
    await policy('record:read', { rego: agreed(), dataSubjects: owners });
    await policy('record:either', { rego: agreed(treats), dataSubjects: owners });
    await policy('record:path', { rego: agreed(), dataSubjects: patient });
    for (let i = 0; i < 120; i++) await relate(`user/o${i % 3}`, 'is_owner_of', `record/${String(i).padStart(3, '0')}`);
    await relate('user/doctor', 'treats', 'record/001');
    await relate('user/doctor', 'treats', 'record/unowned');
    await agree('o0');
    const found = async (kind: string, name: string, more: object, token?: string) => {
      const subject = { type: 'user', id: 'doctor' };
      const body = {
        subject,
        action: { name },
        resource: { type: 'record', id: '000' },
        page: { limit: 200 },
        ...more,
      };
      const { status, body: answer } = await post(`/${tenant}/access/v1/search/${kind}`, body, token);
      expect(status).toBe(200);
      return answer.results.map((one: { id?: string; name?: string }) => one.id ?? one.name);
    };
    const ofO0 = Array.from({ length: 40 }, (_, i) => String(3 * i).padStart(3, '0'));
    expect(await found('resource', 'read', {})).toEqual(ofO0);
    // Of nobody: the question is denied before the policy is asked.
    expect(await found('resource', 'either', {})).toEqual([...ofO0, '001'].sort());
    const said = { resource: { type: 'record', properties: { patient: 'o0' } } };
    expect(await found('resource', 'path', said)).toHaveLength(121);
    expect(await found('resource', 'path', { resource: { type: 'record', properties: { patient: 'o1' } } })).toEqual(
      [],
    );
    const everybody = { subject: { type: 'user' } };
    expect(await found('subject', 'read', everybody)).toEqual(['doctor', 'o0', 'o1', 'o2']);
    expect(await found('subject', 'read', { ...everybody, resource: { type: 'record', id: '001' } })).toEqual([]);
    const either = { ...everybody, resource: { type: 'record', id: '001' } };
    expect(await found('subject', 'either', either)).toEqual(['doctor']);
    expect(await found('action', 'none', { action: undefined })).toEqual(['either', 'read']);
    const { body } = await post(`/${tenant}/access/v1/evaluation`, {
      subject: { type: 'user', id: 'doctor' },
      action: { name: 'path' },
      resource: { type: 'record', id: 'x', properties: { patient: 'o0' } },
    });
    expect(body).toEqual({ decision: true });
  });
});
