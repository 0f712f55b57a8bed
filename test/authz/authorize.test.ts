/** The Authorization API end to end: a policy by the Config API, decisions by POST /authz/{tenant}. */
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { sql } from '../../server/core/db/sql.ts';
import { encodeCursor } from '../../server/http/paging.ts';
import { createTestServer } from '../helpers/server.ts';

const server = await createTestServer();
const tenant = await server.tenant({ decisionLog: { mode: 'all' } });
const editor = await server.member(tenant, 'config-editor');
const backend = await server.client(tenant, 'authz:evaluate');

async function put(name: string, rego: string) {
  const response = await server.app.inject({
    method: 'PUT',
    url: `/tenants/${tenant}/policies/${encodeURIComponent(name)}`,
    headers: { authorization: `Bearer ${editor}` },
    payload: { rego },
  });
  expect(response.json()).toEqual({});
  expect(response.statusCode).toBe(200);
  return response;
}

async function ask(body: object | undefined, token = backend, query = '') {
  return server.app.inject({
    method: 'POST',
    url: `/authz/${tenant}${query}`,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { payload: body }),
  });
}

const owner = `package car
default outcome := "deny"
outcome := "allow" if input.resource.owner == input.subject.id
reason := "not the owner" if input.resource.owner != input.subject.id
obligations contains "log" if outcome == "allow"`;

describe('POST /authz/{tenant}', () => {
  test('answers by the policy that action names, from the moment its PUT is answered', async () => {
    await put('car:unlock', owner);
    const allowed = await ask({ subject: { id: 'alice' }, action: 'car:unlock', resource: { owner: 'alice' } });
    expect(allowed.statusCode).toBe(200);
    expect(allowed.json()).toEqual({ outcome: 'allow', obligations: ['log'] });
    expect(allowed.headers['accord-revision']).toMatch(/^c\d+$/);
    const denied = await ask({ subject: { id: 'bob' }, action: 'car:unlock', resource: { owner: 'alice' } });
    expect(denied.json()).toEqual({ outcome: 'deny', reason: 'not the owner', obligations: [] });
  });

  test('an object outcome is given as the policy made it', async () => {
    await put('car:object', 'package o\noutcome := {"allowed": input.subject.id == "a", "fields": ["x"]}');
    expect((await ask({ subject: { id: 'a' }, action: 'car:object' })).json()).toEqual({
      outcome: { allowed: true, fields: ['x'] },
    });
  });

  test.each([
    ['an empty body', undefined, 'no_action'],
    ['an empty object', {}, 'no_action'],
    ['a policy that is not there', { action: 'no:such' }, 'policy_not_found'],
  ])('%s denies', async (_, body, reason) => {
    const response = await ask(body);
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({ outcome: 'deny', reason });
  });

  test.each([
    ['undefined outcome', 'package a\noutcome := "allow" if input.context.never', 'outcome_undefined'],
    ['no outcome rule', 'package a\nallow := true', 'outcome_undefined'],
    ['a number', 'package a\noutcome := 1', 'outcome_malformed'],
    ['true', 'package a\noutcome := true', 'outcome_malformed'],
    ['another string', 'package a\noutcome := "Allow"', 'outcome_malformed'],
    ['an array', 'package a\noutcome := ["allow"]', 'outcome_malformed'],
    ['a reason that is no string', 'package a\noutcome := "allow"\nreason := 7', 'reason_malformed'],
    ['obligations that are no strings', 'package a\noutcome := "allow"\nobligations := [1]', 'obligations_malformed'],
    [
      'two outcomes',
      'package a\noutcome := "allow" if input.subject.id\noutcome := "deny" if input.subject.id',
      'policy_conflict',
    ],
    [
      'endless work',
      'package a\noutcome := "allow" if { r := numbers.range(1, 5000); some i in r; some j in r; i * j == 0.5 }',
      'policy_budget_exhausted',
    ],
  ])('%s is a deny with its reason', async (name, rego, reason) => {
    await put(`odd:${name}`, rego);
    const response = await ask({ subject: { id: 'a' }, action: `odd:${name}` });
    expect(response.json()).toEqual({ outcome: 'deny', reason });
  });

  test('a deleted policy denies from the next decision on', async () => {
    await put('car:gone', 'package a\noutcome := "allow"');
    expect((await ask({ action: 'car:gone' })).json().outcome).toBe('allow');
    const deleted = await server.app.inject({
      method: 'DELETE',
      url: `/tenants/${tenant}/policies/car:gone`,
      headers: { authorization: `Bearer ${editor}` },
    });
    expect([deleted.statusCode, deleted.json()]).toEqual([200, {}]);
    expect((await ask({ action: 'car:gone' })).json()).toEqual({ outcome: 'deny', reason: 'policy_not_found' });
  });

  test('a user asks about itself only', async () => {
    const alice = await server.user(tenant, 'alice');
    expect((await ask({ action: 'car:unlock', resource: { owner: 'alice' } }, alice)).json().outcome).toBe('allow');
    const other = await ask({ subject: { id: 'bob', type: 'user' }, action: 'car:unlock' }, alice);
    expect([other.statusCode, other.json().code]).toEqual([403, 'forbidden']);
  });

  test('unknown fields and malformed bodies are refused by name', async () => {
    const unknown = await ask({ subjekt: {} });
    expect(unknown.statusCode).toBe(400);
    expect(unknown.json().errors).toEqual([{ pointer: '/subjekt', detail: 'Unknown field; did you mean subject?' }]);
    const coerced = await ask({ action: 1 });
    expect(coerced.json().errors).toEqual([{ pointer: '/action', detail: 'Must be a string, but is a number.' }]);
    const broken = await server.app.inject({
      method: 'POST',
      url: `/authz/${tenant}`,
      headers: { authorization: `Bearer ${backend}`, 'content-type': 'application/json' },
      payload: '{"action":',
    });
    expect([broken.statusCode, broken.headers['content-type']]).toEqual([
      400,
      'application/problem+json; charset=utf-8',
    ]);
  });

  test('time is the instant of the request, also as time.now_ns', async () => {
    await put(
      't:now',
      'package a\noutcome := {"same": time.parse_rfc3339_ns(input.time) == time.now_ns(), "year": time.date(time.now_ns())[0] >= 2026}',
    );
    expect((await ask({ action: 't:now' })).json().outcome).toEqual({ same: true, year: true });
  });

  test('relationships and consents are empty lists while no room owns them', async () => {
    await put(
      'f:facts',
      'package a\noutcome := {"s": count(input.graph.subject), "r": count(input.graph.resource), "c": count(input.consents)}',
    );
    expect((await ask({ action: 'f:facts' })).json().outcome).toEqual({ s: 0, r: 0, c: 0 });
  });
});

describe('explain', () => {
  test('needs pg:tenant:admin', async () => {
    expect((await ask({ action: 'car:unlock' }, backend, '?explain=true')).statusCode).toBe(403);
  });
  test.each([
    ['a policy that there is not', { action: 'car:fly' }, 'car:fly', 'policy_not_found'],
    ['no policy', {}, undefined, 'no_action'],
  ])('tells of %s that it is not there', async (_, request, policy, reason) => {
    const admin = await server.client(tenant, 'pg:tenant:admin');
    const { outcome, explain, ...answer } = (await ask(request, admin, '?explain=true')).json();
    expect([outcome, answer.reason]).toEqual(['deny', reason]);
    expect(explain).toMatchObject({ rules: [], failure: { reason, detail: expect.any(String) } });
    expect(explain.policy).toBe(policy);
  });
  test('tells the rules that held, and the facts', async () => {
    const admin = await server.client(tenant, 'pg:tenant:admin');
    const response = await ask(
      { subject: { id: 'alice' }, action: 'car:unlock', resource: { owner: 'alice' } },
      admin,
      '?explain=true',
    );
    const { outcome, explain } = response.json();
    expect(outcome).toBe('allow');
    expect(explain.policy).toBe('car:unlock');
    expect(explain.revision).toBe(1);
    expect(explain.rules.map((rule: { line: number }) => rule.line)).toEqual([3, 5]);
    expect(explain.rules[0].text).toContain('outcome := "allow"');
  });
});

describe('batch', () => {
  const batch = (requests: object[], token = backend) =>
    server.app.inject({
      method: 'POST',
      url: `/authz/${tenant}/batch`,
      headers: { authorization: `Bearer ${token}` },
      payload: { requests },
    });
  test('answers in order', async () => {
    const asked = ['alice', 'bob', 'alice'].map((id) => ({
      subject: { id },
      action: 'car:unlock',
      resource: { owner: 'alice' },
    }));
    const { decisions } = (await batch(asked)).json();
    expect(decisions.map((decision: { outcome: string }) => decision.outcome)).toEqual(['allow', 'deny', 'allow']);
  });
  test('takes 1,000 and refuses 1,001', async () => {
    expect((await batch(Array(1000).fill({ action: 'no:such' }))).statusCode).toBe(200);
    expect((await batch(Array(1001).fill({ action: 'no:such' }))).statusCode).toBe(400);
  });
  test("a user's batch with somebody else in it is refused whole", async () => {
    const alice = await server.user(tenant, 'alice');
    expect(
      (await batch([{ action: 'car:unlock' }, { subject: { id: 'bob' }, action: 'car:unlock' }], alice)).statusCode,
    ).toBe(403);
  });
});

describe('the decision log', () => {
  test('keeps what the tenant asks for, newest first, by page', async () => {
    await server.services.authz.log.close();
    const read = async (query: string) => {
      const response = await server.app.inject({
        method: 'GET',
        url: `/tenants/${tenant}/decisions${query}`,
        headers: { authorization: `Bearer ${editor}` },
      });
      expect(response.statusCode).toBe(200);
      return response.json();
    };
    const all = await read('?action=car:unlock&outcome=allow');
    expect(all.decisions[0]).toMatchObject({
      caller: 'client:backend',
      action: 'car:unlock',
      answer: { outcome: 'allow' },
      policyRevision: 1,
    });
    const first = await read('?limit=2');
    const second = await read(`?limit=2&cursor=${first.cursor}`);
    expect(first.decisions).toHaveLength(2);
    expect(first.decisions[0].time >= second.decisions[0].time).toBe(true);
    expect(new Set([...first.decisions, ...second.decisions].map((one: { id: string }) => one.id)).size).toBe(4);
  });
  test('support sees neither subjects nor ids', async () => {
    const support = await server.member(tenant, 'support');
    const response = await server.app.inject({
      method: 'GET',
      url: `/tenants/${tenant}/decisions?limit=200`,
      headers: { authorization: `Bearer ${support}` },
    });
    expect(response.payload).not.toMatch(/alice|bob|backend/);
    const callers = response.json().decisions.map((one: { caller: string }) => one.caller);
    expect(callers).toContain('client:***');
    for (const caller of callers) expect(caller).toMatch(/^(client|user:user):\*\*\*$/);
  });

  test('a config-viewer reads configuration, and no records', async () => {
    const headers = { authorization: `Bearer ${await server.member(tenant, 'config-viewer')}` };
    const response = await server.app.inject({ url: `/tenants/${tenant}/decisions`, headers });
    expect([response.statusCode, response.json().code]).toEqual([403, 'forbidden']);
    expect((await server.app.inject({ url: `/tenants/${tenant}/policies`, headers })).statusCode).toBe(200);
  });

  test.each([
    '9999-99-99T99:99:99.999Z',
    '2026-13-01T00:00:00.000Z',
    '2026-02-30T00:00:00.000Z',
    '0000-01-01T00:00:00.000Z',
  ])('a cursor at %s, which is no instant, is a 400', async (at) => {
    const cursor = encodeCursor(`${at} 00000000-0000-4000-8000-000000000000`, 'decisions');
    const response = await server.app.inject({
      url: `/tenants/${tenant}/decisions?cursor=${cursor}`,
      headers: { authorization: `Bearer ${editor}` },
    });
    expect(response.statusCode).toBe(400);
    expect(response.json().errors[0].pointer).toBe('/query/cursor');
  });
});

test('an answer that jsonb cannot hold costs no record, neither its own nor those of its batch', async () => {
  await put('odd:answer', 'package a\noutcome := {"nul": concat("", ["a", "\\u0000", "b"]), "kept": "\\\\u0000"}');
  expect((await ask({ action: 'odd:answer' })).json().outcome).toEqual({ nul: 'a\u0000b', kept: '\\u0000' });
  await ask({ action: 'odd:neighbour' });
  await server.services.authz.log.close();
  const read = async (action: string) => {
    const url = `/tenants/${tenant}/decisions?action=${action}`;
    return (await server.app.inject({ url, headers: { authorization: `Bearer ${editor}` } })).json().decisions;
  };
  expect(await read('odd:neighbour')).toHaveLength(1);
  expect((await read('odd:answer'))[0].answer.outcome).toEqual({ nul: 'a\ufffdb', kept: '\\u0000' });
});

test('support sees of an outcome that is an object only that there was one, and no reason or obligation', async () => {
  await put(
    'object:answer',
    'package a\noutcome := {"owner": "carol"}\nreason := "dave asked"\nobligations := ["tell erin"]',
  );
  expect((await ask({ action: 'object:answer' })).json().outcome).toEqual({ owner: 'carol' });
  await server.services.authz.log.close();
  const read = async (token: string) => {
    const url = `/tenants/${tenant}/decisions?action=object:answer`;
    const response = await server.app.inject({ url, headers: { authorization: `Bearer ${token}` } });
    return response.json().decisions[0].answer;
  };
  const seen = { outcome: { owner: 'carol' }, reason: 'dave asked', obligations: ['tell erin'] };
  expect(await read(editor)).toEqual(seen);
  expect(await read(await server.member(tenant, 'support'))).toEqual({ outcome: '***' });
});

test('each use of the support role is audited before it is answered', async () => {
  const support = await server.member(tenant, 'support');
  const url = `/tenants/${tenant}/policies/car:unlock`;
  const response = await server.app.inject({
    url,
    headers: { authorization: `Bearer ${support}`, 'x-request-id': 'by-support' },
  });
  expect(response.statusCode).toBe(200);
  const entries = await server.db.database.tenant(tenant, (tx) =>
    tx.many(
      Type.Object({ actor: Type.String(), action: Type.String(), object_name: Type.String() }),
      sql`select actor #>> '{}' as actor, action, object_name from accord.audit_entry where request_id = 'by-support'`,
    ),
  );
  const name = 'GET /tenants/:tenant/policies/:policyName';
  expect(entries).toEqual([{ actor: 'member:support@localhost', action: 'read', object_name: name }]);
});
