/** AuthZEN 1.0 evaluation, evaluations and metadata, end to end. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { createTestServer } from '../helpers/server.ts';
import { sharingTenant } from '../relationships/sharing.ts';

const server = await createTestServer();
const cars = await sharingTenant(server);
const { backend } = cars;
await cars.policy(
  'car:drive',
  `package p
default outcome := "deny"
outcome := "allow" if {
  some link in input.graph.subject
  link.type == "drives"
  link.to.id == input.resource.id
}
reason := "no relationship" if outcome == "deny"
obligations contains "log" if outcome == "allow"`,
);
await cars.policy('car:object', 'package p\noutcome := {"parts": ["door"]}');
await cars.policy(
  'car:echo',
  'package p\noutcome := {"s": input.subject, "r": input.resource, "a": input.action, "c": input.context}',
);
await cars.relate('user/alice', 'drives', 'car/a');
const subject = { type: 'user', id: 'alice' };
const action = { name: 'drive' };
const car = (id: string) => ({ resource: { type: 'car', id } });
const evaluate = async (body: object, who = backend, path = 'evaluation') =>
  who('POST', `/access/v1/${path}`, { body });
const allowed = { decision: true, context: { obligations: ['log'] } };
const denied = { decision: false, context: { reason: 'no relationship' } };

describe('evaluation', () => {
  test('is the decision of the policy {resource.type}:{action.name}, with reason and obligations', async () => {
    const { status, body, headers } = await evaluate({ subject, action, ...car('a') });
    expect([status, body]).toEqual([200, allowed]);
    expect(headers['accord-revision']).toMatch(/^c\d+$/);
    expect((await evaluate({ subject, action, ...car('b') })).body).toEqual(denied);
    expect((await evaluate({ subject, action: { name: 'car:drive' }, ...car('a') })).body).toEqual(allowed);
    expect((await evaluate({ subject, action: { name: 'fly' }, ...car('a') })).body).toEqual({
      decision: false,
      context: { reason: 'policy_not_found' },
    });
  });

  test('an outcome that is an object is no permission, and is told', async () => {
    const { body } = await evaluate({ subject, action: { name: 'object' }, ...car('a') });
    expect(body).toEqual({ decision: false, context: { outcome: { parts: ['door'] } } });
  });

  test('properties are attributes that cannot change type and id; those of the action are in the context', async () => {
    const { body } = await evaluate({
      subject: { ...subject, properties: { role: 'chief', id: 'mallory', type: 'god' } },
      resource: { type: 'car', id: 'a', properties: { wheels: 4 } },
      action: { name: 'echo', properties: { method: 'GET' } },
      context: { ip: '192.0.2.1' },
    });
    expect(body.context.outcome).toEqual({
      s: { type: 'user', id: 'alice', role: 'chief' },
      r: { type: 'car', id: 'a', wheels: 4 },
      a: 'car:echo',
      c: { ip: '192.0.2.1', actionProperties: { method: 'GET' } },
    });
  });

  test('the request id comes back', async () => {
    const headers = { 'x-request-id': 'bfe9eb29-ab87' };
    const answer = await backend('POST', '/access/v1/evaluation', { body: { subject, action, ...car('a') }, headers });
    expect(answer.headers['x-request-id']).toBe('bfe9eb29-ab87');
  });

  test.each([
    ['no subject', { action, ...car('a') }, '/subject'],
    ['no action name', { subject, action: {}, ...car('a') }, '/action/name'],
    ['a resource without id', { subject, action, resource: { type: 'car' } }, '/resource/id'],
    ['an empty id', { subject: { type: 'user', id: '' }, action, ...car('a') }, '/subject/id'],
    [
      'properties that are no object',
      { subject: { ...subject, properties: [1] }, action, ...car('a') },
      '/subject/properties',
    ],
    ['an id past 1 KiB', { subject: { type: 'user', id: 'x'.repeat(1025) }, action, ...car('a') }, '/subject/id'],
  ])('%s is a 400 with its place', async (_, body, pointer) => {
    const answer = await evaluate(body);
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, pointer]);
  });

  test('members that AuthZEN does not name are ignored, and are no attributes', async () => {
    const unknown = { later: { role: 'chief' }, role: 'chief' };
    const { status, body } = await evaluate({
      subject: { ...subject, ...unknown },
      resource: { type: 'car', id: 'a', ...unknown },
      action: { name: 'echo', properties: { method: 'GET' }, ...unknown },
      ...unknown,
    });
    expect([status, body.context.outcome]).toEqual([
      200,
      { s: subject, r: { type: 'car', id: 'a' }, a: 'car:echo', c: { actionProperties: { method: 'GET' } } },
    ]);
  });

  test('an end user may send members that are ignored', async () => {
    const alice = await cars.user('alice');
    expect((await evaluate({ subject: { ...subject, role: 'chief' }, action, ...car('a') }, alice)).body).toEqual(
      allowed,
    );
  });

  test('an id of 1 KiB is one', async () => {
    const id = 'x'.repeat(limits.entityIdBytesMax);
    await cars.relate(`user/${id}`, 'drives', `car/${id}`);
    expect((await evaluate({ subject: { type: 'user', id }, action, ...car(id) })).body).toEqual(allowed);
  });

  test('an end user asks about itself and vouches for nothing; a scope that is missing is told', async () => {
    const alice = await cars.user('alice');
    expect((await evaluate({ subject, action, ...car('a') }, alice)).body).toEqual(allowed);
    const other = await evaluate({ subject: { type: 'user', id: 'bob' }, action, ...car('a') }, alice);
    expect([other.status, other.body.code]).toEqual([403, 'forbidden']);
    const vouching = { subject: { ...subject, properties: { role: 'chief' } }, action, ...car('a') };
    expect((await evaluate(vouching, alice)).status).toBe(403);
    const reader = await cars.scoped('relationships:read');
    expect((await evaluate({ subject, action, ...car('a') }, reader)).body.code).toBe('insufficient_scope');
  });
});

describe('evaluations', () => {
  const three = { subject, action, evaluations: [car('a'), car('b'), car('a')] };
  const evaluations = async (body: object) => evaluate(body, backend, 'evaluations');

  test('are answered in order, each with what it leaves out from above', async () => {
    expect((await evaluations(three)).body).toEqual({ evaluations: [allowed, denied, allowed] });
    const mixed = {
      action,
      evaluations: [
        { subject, ...car('a') },
        { subject, action: { name: 'object' }, ...car('a') },
      ],
    };
    expect((await evaluations(mixed)).body.evaluations.map((one: { decision: boolean }) => one.decision)).toEqual([
      true,
      false,
    ]);
  });

  test.each([
    ['execute_all', [true, false, true]],
    ['deny_on_first_deny', [true, false]],
    ['permit_on_first_permit', [true]],
  ])('%s', async (evaluations_semantic, decisions) => {
    const { body } = await evaluations({ ...three, options: { evaluations_semantic, another: 1 } });
    expect(body.evaluations.map((one: { decision: boolean }) => one.decision)).toEqual(decisions);
  });

  test('without a list it is one evaluation', async () => {
    expect((await evaluations({ subject, action, ...car('a') })).body).toEqual(allowed);
    expect((await evaluations({ subject, action, ...car('a'), evaluations: [] })).body).toEqual(allowed);
  });

  const fault = (message: string) => ({ decision: false, context: { error: { status: 400, message } } });

  test('one that is not valid is denied in its place, and the others are answered', async () => {
    const other = { type: 'user', id: 'bob' };
    const { status, body } = await evaluations({
      subject,
      role: 'chief',
      evaluations: [
        { action, ...car('a'), role: 'chief' },
        car('a'),
        { action, resource: { type: 'car' } },
        { subject: { id: 'alice' }, action, ...car('a') },
        { subject: null, action, ...car('a') },
        'all',
        null,
        [],
        { subject: other, action, ...car('a') },
      ],
    });
    expect([status, body.evaluations]).toEqual([
      200,
      [
        allowed,
        fault('/action: This field is required.'),
        fault('/resource/id: This field is required.'),
        fault('/subject/type: This field is required.'), // nothing of the subject above
        fault('/subject: Must be an object, but is null.'),
        ...Array(3).fill(fault('Must be an object.')),
        denied,
      ],
    ]);
  });

  test.each([
    ['execute_all', [true, false, true]],
    ['deny_on_first_deny', [true, false]],
    ['permit_on_first_permit', [true]],
  ])('one that is not valid is a deny to %s', async (evaluations_semantic, decisions) => {
    const list = [car('a'), { resource: {} }, car('a')];
    const { body } = await evaluations({ subject, action, evaluations: list, options: { evaluations_semantic } });
    expect(body.evaluations.map((one: { decision: boolean }) => one.decision)).toEqual(decisions);
    if (evaluations_semantic !== 'permit_on_first_permit') expect(body.evaluations[1].context.error.status).toBe(400);
  });

  test('a default that is not valid counts only where it is used', async () => {
    const list = [{ resource: { type: 'car' } }, { subject, resource: { type: 'car', id: 'a' } }];
    const { body } = await evaluations({ subject: { type: 'user' }, action, evaluations: list });
    expect(body.evaluations[0].context.error.message).toContain('/subject/id');
    expect(body.evaluations[1]).toEqual(allowed);
  });

  test('an unknown semantic, and one evaluation that lacks something, are 400 with their place', async () => {
    const unknown = await evaluations({ ...three, options: { evaluations_semantic: 'all' } });
    expect([unknown.status, unknown.body.errors[0].pointer]).toEqual([400, '/options/evaluations_semantic']);
    for (const list of [{}, { evaluations: [] }]) {
      const { status, body } = await evaluations({ subject, ...car('a'), ...list });
      expect([status, body.code, body.errors[0].pointer]).toEqual([400, 'invalid_request', '/action']);
    }
  });

  test('an end user who asks about another among them gets none', async () => {
    const alice = await cars.user('alice');
    const list = [car('a'), { subject: { type: 'user', id: 'bob' }, ...car('a') }];
    const body = { subject, action, evaluations: list };
    expect((await evaluate(body, alice, 'evaluations')).status).toBe(403);
  });

  test('batchRequestsMax of them are answered, one more is refused', async () => {
    const many = (count: number) => ({ subject, action, evaluations: Array.from({ length: count }, () => car('a')) });
    expect((await evaluations(many(limits.batchRequestsMax))).body.evaluations).toHaveLength(limits.batchRequestsMax);
    expect((await evaluations(many(limits.batchRequestsMax + 1))).status).toBe(400);
  });
});

describe('metadata', () => {
  test.each(['/.well-known/authzen-configuration/TENANT', '/TENANT/.well-known/authzen-configuration'])(
    '%s',
    async (path) => {
      const { tenant } = cars;
      const response = await server.app.inject({ method: 'GET', url: path.replace('TENANT', tenant) });
      const base = `http://accord.test/${tenant}`;
      expect(response.statusCode).toBe(200);
      expect(response.json()).toEqual({
        policy_decision_point: base,
        access_evaluation_endpoint: `${base}/access/v1/evaluation`,
        access_evaluations_endpoint: `${base}/access/v1/evaluations`,
        search_subject_endpoint: `${base}/access/v1/search/subject`,
        search_resource_endpoint: `${base}/access/v1/search/resource`,
        search_action_endpoint: `${base}/access/v1/search/action`,
      });
      expect((await server.app.inject({ method: 'GET', url: path.replace('TENANT', 'nobody') })).statusCode).toBe(404);
    },
  );
});

test('evaluations are recorded and counted as requests of POST /authz are', async () => {
  const logged = await sharingTenant(server);
  expect(
    (await logged.backend('POST', '/access/v1/evaluation', { body: { subject, action, ...car('a') } })).status,
  ).toBe(200);
  expect(server.observations).toContainEqual(expect.objectContaining({ kind: 'decided', tenant: logged.tenant }));
});

const bomb = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

test.each([
  [30_000, 'evaluation', '/access/v1/evaluation', { subject, action, ...car('a'), context: 'BOMB' }],
  [
    30_000,
    'evaluations',
    '/access/v1/evaluations',
    { subject, action, evaluations: [{ ...car('a'), context: 'BOMB' }] },
  ],
  [30_000, 'search', '/access/v1/search/resource', { subject, action, resource: { type: 'car', properties: 'BOMB' } }],
  // As deep as their bodies may be large.
  [1000, 'a relationship', '/actors/user/deep/relationships', { relationshipType: 'drives', to: 'BOMB' }],
  [1000, 'an invitation', '/sharing/invitations', { relationshipType: 'drives', to: 'BOMB' }],
])('a bomb of %i levels in %s is a 400 with its place', async (levels, _, path, body) => {
  const raw = JSON.stringify(body).replace('"BOMB"', bomb(levels));
  const { status, body: answer } = await backend('POST', path, { raw, type: 'application/json' });
  expect([status, answer.code]).toEqual([400, 'invalid_request']);
  expect(answer.detail).toContain(`more than ${limits.inputDepthMax} levels`);
});

test('a depth bomb in a line of an import is a line that is refused', async () => {
  const good = { from: subject, relationshipType: 'drives', to: { type: 'car', id: 'beside-a-bomb' } };
  const bad = JSON.stringify({ ...good, to: 'BOMB' }).replace('"BOMB"', bomb(1000));
  const raw = `${bad}\n${JSON.stringify(good)}`;
  const { body } = await backend('POST', '/relationships/import', { raw, type: 'application/x-ndjson' });
  expect(body).toMatchObject({ created: 1, refused: 1 });
});
