/** POST /tenants/{tenant}/policies/{p}/test: a stored policy or a draft answers an input, explained, and nothing is stored. */
import { describe, expect, test } from 'vitest';
import { createTestServer } from '../helpers/server.ts';
import { configClient, graphSaying } from './config-client.ts';
import { goldenGraphs } from './graph/examples.ts';

const server = await createTestServer();
const tenant = await server.tenant();
const call = await configClient(server, tenant);
const rego = [
  'package t',
  'default outcome := "deny"',
  'outcome := "allow" if input.subject.id == input.resource.owner',
  'reason := "not yours" if outcome == "deny"',
  'obligations contains "log" if outcome == "allow"',
].join('\n');
await call('PUT', '/policies/t%3Aread', { body: { rego } });

describe('a stored policy', () => {
  test('answers with explain: the revision, the input, the rules that held', async () => {
    const input = { subject: { id: 'a' }, resource: { owner: 'a' } };
    const { status, body } = await call('POST', '/policies/t%3Aread/test', { body: { input } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ outcome: 'allow', obligations: ['log'] });
    expect(body.explain).toMatchObject({ policy: 't:read', revision: 1, input });
    expect(body.explain.rules).toEqual([
      { line: 3, text: 'outcome := "allow" if input.subject.id == input.resource.owner' },
      { line: 5, text: 'obligations contains "log" if outcome == "allow"' },
    ]);
    expect(body.explain.timeUs).toBeGreaterThan(0);
  });

  test('is 404 when it is not there', async () => {
    expect((await call('POST', '/policies/none/test', { body: { input: {} } })).body.code).toBe('policy_not_found');
  });

  test('in a graph tells the path of nodes', async () => {
    await call('PUT', '/policies/t%3Agraph', { body: { graph: goldenGraphs['car-sharing'] } });
    const input = {
      graph: { subject: [], resource: [] },
      subject: { id: 'a' },
      resource: { id: 'c', type: 'car' },
      consents: [],
    };
    const { body } = await call('POST', '/policies/t%3Agraph/test', { body: { input } });
    expect(body).toMatchObject({ outcome: 'deny', reason: 'Only the owner and drivers in good standing.' });
    expect(body.explain.path).toEqual(['start', 'owner', 'driver-in-good-standing', 'closed']);
  });
});

describe('a draft', () => {
  test('in Rego answers instead of what is stored, which stays', async () => {
    const draft = 'package d\noutcome := {"draft": input.x}';
    const { body } = await call('POST', '/policies/t%3Aread/test', { body: { rego: draft, input: { x: 1 } } });
    expect(body.outcome).toEqual({ draft: 1 });
    expect(body.explain).not.toHaveProperty('revision');
    expect((await call('GET', '/policies/t%3Aread')).body).toMatchObject({ rego, revision: 1 });
  });

  test('may have a name that nothing is stored under, and is not stored either', async () => {
    const { body } = await call('POST', '/policies/t%3Anew/test', { body: { graph: graphSaying('allow'), input: {} } });
    expect(body).toMatchObject({ outcome: 'allow', explain: { path: ['start', 'end'] } });
    expect((await call('GET', '/policies/t%3Anew')).status).toBe(404);
  });

  test('that is drawn tells the Rego that it becomes, and which lines are of which node', async () => {
    const graph = goldenGraphs['car-sharing'];
    const tried = await call('POST', '/policies/t%3Alines/test', { body: { graph, input: {} } });
    expect((await call('PUT', '/policies/t%3Alines', { body: { graph } })).status).toBe(200);
    const { body: stored } = await call('GET', '/policies/t%3Alines');
    expect(tried.body.effectiveRego).toBe(stored.effectiveRego);
    expect(tried.body.nodeLines).toEqual(stored.nodeLines);
    const lines: string[] = stored.effectiveRego.split('\n');
    const owner = stored.nodeLines.find(({ node }: { node: string }) => node === 'owner');
    expect(lines[owner.start - 1]).toBe('# Condition "owner"');
    const again = await call('POST', '/policies/t%3Alines/test', { body: { input: {}, coverage: true } });
    expect(again.body).toMatchObject({ effectiveRego: stored.effectiveRego, nodeLines: stored.nodeLines });
  });

  test('in Rego says no Rego again, nor lines of nodes', async () => {
    const { body } = await call('POST', '/policies/t%3Aread/test', { body: { input: {} } });
    expect(Object.keys(body).sort()).toEqual(['explain', 'obligations', 'outcome', 'reason']);
    expect((await call('GET', '/policies/t%3Aread')).body).not.toHaveProperty('nodeLines');
  });

  test('that is drawn with errors has no Rego: the errors name the nodes', async () => {
    const graph = { nodes: [{ id: 'start', type: 'start' }], edges: [] };
    const { status, body } = await call('POST', '/policies/t%3Anew/test', { body: { graph, input: {} } });
    expect([status, body.code]).toEqual([400, 'policy_graph_invalid']);
    expect(body).not.toHaveProperty('effectiveRego');
  });

  test('that is drawn and fails has no path: nobody follows a graph for what its budget did not allow', async () => {
    const related = (n: number) => ({
      ...{ type: 'relationship', relationshipType: `r${n}`, target: 'entity', targetType: 'a', targetId: 'b' },
    });
    const conditions = Array.from({ length: 32 }, (_, n) => related(n));
    const ids = ['c0', 'c1', 'c2', 'c3', 'c4'];
    const graph = {
      nodes: [
        { id: 'start', type: 'start' },
        ...ids.map((id) => ({ id, type: 'condition', match: 'any', conditions })),
        { id: 'end', type: 'outcome', outcome: 'allow' },
      ],
      edges: [{ from: 'start', to: 'c0' }, ...ids.map((id, n) => ({ from: id, to: ids[n + 1] ?? 'end', on: 'false' }))],
    };
    const input = { graph: { subject: Array(45_000).fill(0), resource: [] } };
    const { status, body } = await call('POST', '/policies/t%3Anew/test', { body: { graph, input } });
    expect([status, body.outcome, body.reason]).toEqual([200, 'deny', 'policy_budget_exhausted']);
    expect(body.explain).not.toHaveProperty('path');
  });

  test('that does not compile says where', async () => {
    const { status, body } = await call('POST', '/policies/t%3Anew/test', {
      body: { rego: 'package d\nx := ', input: {} },
    });
    expect([status, body.code]).toEqual([400, 'policy_does_not_compile']);
    expect(body.errors[0].line).toBe(2);
  });

  test('that fails denies with its reason, and explains', async () => {
    const loop =
      'package d\noutcome := "allow" if { r := numbers.range(1, 5000); some i in r; some j in r; i * j == 0.5 }';
    const { body } = await call('POST', '/policies/t%3Anew/test', { body: { rego: loop, input: {} } });
    expect(body).toMatchObject({ outcome: 'deny', reason: 'policy_budget_exhausted' });
    expect(body.explain.failure.reason).toBe('policy_budget_exhausted');
  });

  test.each([
    [{}, '/input'],
    [{ input: 1 }, '/input'],
    [{ input: {}, policy: 'x' }, '/policy'],
  ])('%j is 400', async (sent, pointer) => {
    const { status, body } = await call('POST', '/policies/t%3Anew/test', { body: sent });
    expect([status, body.errors[0].pointer]).toEqual([400, pointer]);
  });
});

describe('why a deny', () => {
  test('was one is told by rule, of a stored policy and of a draft', async () => {
    const input = { subject: { id: 'a' }, resource: { owner: 'b' } };
    const { body } = await call('POST', '/policies/t%3Aread/test', { body: { input } });
    expect(body.explain.whyNot.rules).toEqual([
      {
        ...{ line: 3, text: 'outcome := "allow" if input.subject.id == input.resource.owner' },
        condition: {
          ...{ line: 3, text: 'input.subject.id == input.resource.owner' },
          values: [
            { of: 'input.subject.id', value: 'a' },
            { of: 'input.resource.owner', value: 'b' },
          ],
        },
      },
    ]);
    const draft = 'package d\noutcome := "allow" if input.x == 1';
    const tried = await call('POST', '/policies/t%3Aread/test', { body: { rego: draft, input: { x: 2 } } });
    expect(tried.body).toMatchObject({
      reason: 'outcome_undefined',
      explain: { whyNot: { rules: [{ line: 2, condition: { values: [{ of: 'input.x', value: 2 }] } }] } },
    });
  });

  test('is not told of an allow, nor where the policy did not say it', async () => {
    const allow = { subject: { id: 'a' }, resource: { owner: 'a' } };
    const allowed = await call('POST', '/policies/t%3Aread/test', { body: { input: allow } });
    expect(allowed.body.explain).not.toHaveProperty('whyNot');
    const odd = { rego: 'package d\noutcome := 1', input: {} };
    expect((await call('POST', '/policies/t%3Aread/test', { body: odd })).body.explain).not.toHaveProperty('whyNot');
  });

  test('of a drawn policy is told by node, with what would allow', async () => {
    const input = {
      graph: { subject: [], resource: [] },
      ...{ subject: { id: 'a', type: 'user' }, resource: { id: 'c', type: 'car' }, consents: [] },
    };
    const { body } = await call('POST', '/policies/t%3Agraph/test', { body: { input } });
    const [owner] = body.explain.whyNot.rules;
    const fact = {
      relationship: {
        relationshipType: 'is_owner_of',
        ...{ from: { id: 'a', type: 'user' }, to: { id: 'c', type: 'car' } },
      },
      text: 'user:a is_owner_of car:c',
    };
    expect(owner).toMatchObject({
      node: 'owner',
      answer: 'false',
      conditions: [{ drawn: { type: 'relationship', relationshipType: 'is_owner_of' }, missing: [fact] }],
      wouldAllowIf: [fact],
    });
    expect(body.explain.whyNot.rules.map(({ node }: { node: string }) => node)).toEqual([
      'owner',
      'driver-in-good-standing',
    ]);
  });
});

describe('coverage', () => {
  const covered = [
    'package c',
    'default outcome := "deny"',
    'outcome := "allow" if {',
    '\tinput.a',
    '\tinput.b',
    '}',
  ].join('\n');
  const lines = (...rows: number[]) => rows.map((row) => ({ start: { row }, end: { row } }));
  const own = { name: 'neither', input: {}, expect: { outcome: 'deny' } };

  test('says which lines the tests of the policy and the input reach', async () => {
    expect((await call('PUT', '/policies/t%3Acovered', { body: { rego: covered, tests: [own] } })).status).toBe(200);
    expect((await call('GET', '/policies/t%3Acovered')).body.tests).toEqual([own]);
    const path = '/policies/t%3Acovered/test';
    const denied = await call('POST', path, { body: { input: { a: true }, coverage: true } });
    expect(denied.body).toMatchObject({ outcome: 'deny', explain: { whyNot: { rules: [{ line: 3 }] } } });
    expect(denied.body.coverage).toEqual({
      ...{
        covered: [
          { start: { row: 2 }, end: { row: 2 } },
          { start: { row: 4 }, end: { row: 5 } },
        ],
      },
      ...{ notCovered: lines(3), coveredLines: 3, notCoveredLines: 1, coverage: 75 },
      ...{ allowReached: false, tests: 1 },
    });
    const allowed = await call('POST', path, { body: { input: { a: true, b: true }, coverage: true } });
    expect(allowed.body.coverage).toMatchObject({ notCovered: [], coverage: 100, allowReached: true });
    const others = await call('POST', path, { body: { input: {}, coverage: true, tests: [] } });
    expect(others.body.coverage).toMatchObject({
      notCovered: [{ start: { row: 3 } }, { start: { row: 5 } }],
      tests: 0,
    });
  });

  test('of a drawn policy names nodes', async () => {
    const { body } = await call('POST', '/policies/t%3Agraph/test', { body: { input: {}, coverage: true } });
    expect(body.coverage).toMatchObject({
      nodes: { covered: ['start', 'owner', 'driver-in-good-standing', 'closed'] },
      ...{ allowReached: false, tests: 0 },
    });
    expect(body.coverage.nodes.notCovered.length).toBeGreaterThan(0);
  });

  test('of evaluations without a result says how many', async () => {
    const loop =
      'package d\noutcome := "allow" if { r := numbers.range(1, 5000); some i in r; some j in r; i * j == 0.5 }';
    const { body } = await call('POST', '/policies/t%3Anew/test', { body: { rego: loop, input: {}, coverage: true } });
    expect(body.coverage).toMatchObject({ notEvaluated: 1, covered: [] });
  });

  test('a dry run notes that no test is answered allow', async () => {
    const put = (tests: object[]) =>
      call('PUT', '/policies/t%3Anew?dryRun=true', { body: { rego: covered, tests } }).then(({ body }) => body.notes);
    expect(await put([own])).toEqual([expect.stringMatching(/none of them is answered allow/)]);
    const allows = { name: 'both', input: { a: true, b: true }, expect: { outcome: 'allow' } };
    expect(await put([own, allows])).toBeUndefined();
    expect(await put([])).toBeUndefined();
  });

  test('tests without it are 400', async () => {
    const { status, body } = await call('POST', '/policies/t%3Anew/test', { body: { rego, input: {}, tests: [] } });
    expect([status, body.errors[0].pointer]).toEqual([400, '/tests']);
  });
});

describe('a request', async () => {
  const inherits = [
    'package u',
    'default outcome := "deny"',
    'outcome := "allow" if {',
    '	some link in input.graph.subject',
    '	link.relationshipType == "may_use"',
    '	link.to.id == input.resource.id',
    '	input.subject.license == "valid"',
    '	some c in input.consents',
    '	c.name == "tracking"',
    '	c.sufficient',
    '}',
  ].join('\n');
  const backend = await server.client(tenant, 'pg:tenant:admin');
  const managed = async (method: 'POST' | 'PUT', path: string, payload: object) => {
    const answer = await server.app.inject({
      method,
      url: path,
      headers: { authorization: `Bearer ${backend}` },
      payload,
    });
    expect([path, answer.statusCode < 300 ? 200 : answer.body]).toEqual([path, 200]);
    return answer.json();
  };
  const put = async (path: string, body: object) => {
    const { status, body: answer } = await call('PUT', path, { body });
    expect([path, status < 300 ? 200 : answer]).toEqual([path, 200]);
  };
  await put('/actor-types/user', { attributes: { license: { type: 'string' } } });
  await put('/actor-types/household', {});
  await put('/resource-types/car', {});
  await put('/relationship-types/user:lives_in:household', {});
  await put('/relationship-types/household:keeps:car', {});
  await put('/relationship-types/user:may_use:car', {
    inheritedThrough: [{ relationship: 'user:lives_in:household', from: 'household:keeps:car' }],
  });
  await put('/policies/car:use', { rego: inherits });
  await server.services.snapshots.refresh(tenant);
  const relate = (from: string, relationshipType: string, to: { type: string; id: string }) =>
    managed('POST', `/${tenant}/actors/${from}/relationships`, { relationshipType, to });
  await relate('user/bob', 'lives_in', { type: 'household', id: 'h1' });
  await relate('household/h1', 'keeps', { type: 'car', id: 'car-7' });
  await managed('PUT', `/${tenant}/actors/user/bob`, { license: 'valid' });
  const bob = { subject: { type: 'user', id: 'bob' }, resource: { type: 'car', id: 'car-7' } };
  const ask = (body: object) => call('POST', '/policies/car%3Ause/test', { body });

  test('is answered with what is stored, as a decision is', async () => {
    const decided = await managed('POST', `/authz/${tenant}?explain=true`, { action: 'car:use', ...bob });
    const { status, body } = await ask({ request: bob });
    expect([status, body.outcome]).toEqual([200, decided.outcome]);
    const { time: _, ...input } = body.explain.input;
    const { time: __, ...given } = decided.explain.input;
    expect(input).toEqual(given);
    expect(input.subject).toMatchObject({ id: 'bob', license: 'valid' });
    expect(input.graph.subject).toContainEqual(expect.objectContaining({ relationshipType: 'may_use' }));
    expect(body.explain.facts.inherited).toEqual(decided.explain.facts.inherited);
    expect(body.explain.facts.inherited[0].relationship).toMatchObject({ relationshipType: 'may_use' });
    // What it was given is an input that somebody may change: it is answered alike.
    expect(await ask({ input: body.explain.input })).toMatchObject({ body: { outcome: body.outcome } });
  });

  test('of a draft is answered with what the draft reads', async () => {
    const rego = inherits
      .split('\n')
      .filter((line) => !/consents|^\tc\./.test(line))
      .join('\n');
    expect((await ask({ rego, request: bob })).body).toMatchObject({ outcome: 'allow' });
    const carol = { ...bob, subject: { type: 'user', id: 'carol' } };
    expect((await ask({ rego, request: carol })).body).toMatchObject({ outcome: 'deny' });
    const stating = `${rego}\nreason := "x" if input.dataSubjects[0]`;
    expect((await ask({ rego: stating, request: bob })).body.code).toBe('policy_without_data_subjects');
    const stated = { dataSubjects: { relationship: 'user:may_use:car' }, rego: stating, request: bob };
    expect((await ask(stated)).body).toMatchObject({
      explain: { facts: { dataSubjects: [{ type: 'user', id: 'bob' }] } },
    });
    const nobody = { ...stated, request: { ...bob, resource: { type: 'car', id: 'none' } } };
    expect((await ask(nobody)).body).toMatchObject({ outcome: 'deny', reason: 'no_data_subject' });
  });

  test.each([
    [{}, '/input'],
    [{ input: {}, request: bob }, '/request'],
    [{ request: bob, coverage: true }, '/coverage'],
    [{ request: { ...bob, action: 'car:sell' } }, '/request/action'],
    [{ request: { ...bob, graph: {} } }, '/request/graph'],
  ])('that is wrong is refused: %j', async (body, pointer) => {
    const { status, body: problem } = await ask(body);
    expect([status, problem.errors?.[0]?.pointer], JSON.stringify(problem)).toEqual([400, pointer]);
  });

  test('is answered to those who try policies', async () => {
    for (const role of ['config-viewer', 'support'] as const)
      expect(
        (
          await (
            await configClient(server, tenant, role)
          )('POST', '/policies/car%3Ause/test', { body: { request: bob } })
        ).status,
      ).toBe(403);
  });
});
