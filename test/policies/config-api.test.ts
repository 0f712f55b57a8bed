/** The Config API of policies on a whole server: what the specification shows, and what api.md decides where it is silent. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { createTestServer } from '../helpers/server.ts';
import { configClient, graphSaying, says } from './config-client.ts';

const server = await createTestServer();
const tenant = await server.tenant();
const call = await configClient(server, tenant);
const backend = await server.client(tenant, 'authz:evaluate');
const at = (name: string) => `/policies/${encodeURIComponent(name)}`;

async function decide(action: string) {
  const response = await server.app.inject({
    method: 'POST',
    url: `/authz/${tenant}`,
    headers: { authorization: `Bearer ${backend}` },
    payload: { subject: { id: 'a' }, action },
  });
  return response.json();
}

describe('PUT', () => {
  test('creates, and answers 200 {} with the entity tag and the revision', async () => {
    const { status, headers, body } = await call('PUT', at('car:read'), { body: { rego: says('allow') } });
    expect([status, body, headers.etag]).toEqual([200, {}, '"1"']);
    expect(headers['accord-revision']).toMatch(/^c\d+$/);
    expect((await decide('car:read')).outcome).toBe('allow');
  });

  test('replaces whole: the graph of before is gone when only rego is sent', async () => {
    await call('PUT', at('car:whole'), { body: { graph: graphSaying('deny') } });
    const { headers } = await call('PUT', at('car:whole'), { body: { rego: says('allow') } });
    expect(headers.etag).toBe('"2"');
    const { body } = await call('GET', at('car:whole'));
    expect(body).not.toHaveProperty('graph');
    expect((await decide('car:whole')).outcome).toBe('allow');
  });

  test('with rego and graph, the graph is evaluated, and both are kept', async () => {
    const rego = says('allow');
    await call('PUT', at('car:both'), { body: { rego, graph: graphSaying('deny') } });
    const { body } = await call('GET', at('car:both'));
    expect([body.rego, body.graph]).toEqual([rego, graphSaying('deny')]);
    expect(body.effectiveRego).not.toBe(rego);
    expect(body.effectiveRego).toContain('"drawn"');
    expect(await decide('car:both')).toMatchObject({ outcome: 'deny', reason: 'drawn' });
  });

  test.each([
    ['neither rego nor graph', {}, 'policy_without_source', undefined],
    ['an unknown field', { rego: says('deny'), Graph: {} }, 'invalid_request', '/Graph'],
    ['an empty rego', { rego: '' }, 'invalid_request', '/rego'],
    ['rego that is no text', { rego: 1 }, 'invalid_request', '/rego'],
    ['a graph that is no object', { graph: [] }, 'invalid_request', '/graph'],
    ['null', { rego: null }, 'invalid_request', '/rego'],
    ['a NUL in the rego', { rego: 'package a\n# \0' }, 'invalid_request', '/rego'],
    ['half a surrogate pair', { rego: 'package a\n# \ud800' }, 'invalid_request', '/rego'],
  ])('%s is 400 and says where', async (_, sent, code, pointer) => {
    const { status, body } = await call('PUT', at('car:bad'), { body: sent });
    expect([status, body.code]).toEqual([400, code]);
    if (pointer) expect(body.errors.map((place: { pointer: string }) => place.pointer)).toContain(pointer);
    expect((await call('GET', at('car:bad'))).status).toBe(404);
  });

  test('a compile error has line and column, and the policy that served stays', async () => {
    await call('PUT', at('car:broken'), { body: { rego: says('allow') } });
    const { status, body } = await call('PUT', at('car:broken'), {
      body: { rego: 'package a\n\noutcome := "allow" if {\n  input.subject.id ==\n}' },
    });
    expect([status, body.code]).toEqual([400, 'policy_does_not_compile']);
    expect(body.errors[0]).toMatchObject({ pointer: '/rego', line: 5, column: 1 });
    expect(body.detail).toContain('line 5, column 1');
    expect((await decide('car:broken')).outcome).toBe('allow');
    expect((await call('GET', at('car:broken'))).body.revision).toBe(1);
  });

  test.each([
    'http.send({"method": "get", "url": "http://x"})',
    'opa.runtime()',
    'rand.intn("a", 3)',
    'uuid.rfc4122("a")',
  ])('refuses %s by its name and place', async (expression) => {
    const { status, body } = await call('PUT', at('car:builtin'), {
      body: { rego: `package a\noutcome := "allow" if {\n  x := ${expression}\n  x == 1\n}` },
    });
    expect([status, body.code]).toEqual([400, 'policy_does_not_compile']);
    const name = expression.slice(0, expression.indexOf('('));
    expect(body.errors[0]).toMatchObject({ detail: expect.stringContaining(name), line: 3, column: 8 });
  });

  test('refuses data that is not there by its name and place', async () => {
    const rego = 'package a\nimport data.users\noutcome := "allow" if users[input.subject.id].admin';
    const { status, body } = await call('PUT', at('car:data'), { body: { rego } });
    expect([status, body.code]).toEqual([400, 'policy_reference_unknown']);
    expect(body.errors).toMatchObject([{ detail: expect.stringContaining('data.users'), line: 3, column: 23 }]);
  });

  test('a graph that cannot be converted names the node', async () => {
    const graph = graphSaying('allow');
    graph.nodes.push({ id: 'lost', type: 'outcome', outcome: 'deny', reason: 'x' });
    const { status, body } = await call('PUT', at('car:graph'), { body: { graph } });
    expect([status, body.code]).toEqual([400, 'policy_graph_invalid']);
    expect(body.errors[0].detail).toContain('lost');
  });

  test('dryRun checks everything and stores nothing', async () => {
    const dry = `${at('car:dry')}?dryRun=true`;
    const good = await call('PUT', dry, { body: { rego: says('allow') } });
    const none = { relationships: { subject: 'none', resource: 'none' } };
    expect([good.status, good.body, good.headers.etag]).toEqual([200, none, undefined]);
    expect((await call('PUT', dry, { body: { rego: 'package' } })).body.code).toBe('policy_does_not_compile');
    expect((await call('PUT', dry, { body: {} })).body.code).toBe('policy_without_source');
    expect((await call('PUT', dry, { body: { rego: says('allow') }, headers: { 'if-match': '"1"' } })).status).toBe(
      412,
    );
    expect((await call('PUT', `${at('car:dry')}?dryRun=maybe`, { body: { rego: says('allow') } })).status).toBe(400);
    expect((await call('GET', at('car:dry'))).status).toBe(404);
    expect((await call('GET', `${at('car:dry')}/revisions`)).status).toBe(404);
  });

  test('dryRun and GET say how much of relationships a decision reads, and which line is why', async () => {
    const body = (condition: string) => ({
      rego: `package p\nimport rego.v1\noutcome := "allow" if {\n  some held in input.graph.subject\n  ${condition}\n}`,
    });
    const dry = async (condition: string) =>
      (await call('PUT', `${at('car:read-all')}?dryRun=true`, { body: body(condition) })).body.relationships;
    expect(await dry('held.to.id == input.resource.id')).toEqual({ subject: 'matching', resource: 'none' });
    expect(await dry('held.type in {"owner", "co_admin"}')).toEqual({ subject: 'byType', resource: 'none', line: 4 });
    expect(await dry('held.to.id != input.resource.id')).toEqual({ subject: 'all', resource: 'none', line: 4 });
    expect(await dry('input.graph[input.resource.id]')).toEqual({ subject: 'all', resource: 'all', line: 4 });
    expect((await call('PUT', at('car:read-all'), { body: body('startswith(held.type, "o")') })).body).toEqual({});
    expect((await call('GET', at('car:read-all'))).body.relationships).toMatchObject({ subject: 'all', line: 4 });
  });

  test('If-Match is obeyed, in lists too, and never by a weak tag', async () => {
    const put = (ifMatch: string) =>
      call('PUT', at('car:match'), { body: { rego: says('allow') }, headers: { 'if-match': ifMatch } });
    expect((await put('*')).body.code).toBe('precondition_failed');
    await call('PUT', at('car:match'), { body: { rego: says('allow') } });
    expect((await put('"1"')).headers.etag).toBe('"2"');
    const stale = await put('"1"');
    expect([stale.status, stale.body.detail]).toEqual([412, expect.stringContaining('"2"')]);
    expect((await put('"9", "2"')).headers.etag).toBe('"3"');
    expect((await put('W/"3"')).status).toBe(412);
    expect((await put('*')).headers.etag).toBe('"4"');
  });

  test('the same again is no revision', async () => {
    const body = { rego: says('allow') };
    const first = await call('PUT', at('car:same'), { body });
    const again = await call('PUT', at('car:same'), { body });
    expect(again.headers.etag).toBe('"1"');
    expect(again.headers['accord-revision']).toBe(first.headers['accord-revision']);
    expect((await call('GET', `${at('car:same')}/revisions`)).body.revisions).toHaveLength(1);
  });

  test('20 at once on one name all succeed, in some order without gaps, and the last one serves', async () => {
    const sources = Array.from({ length: 20 }, (_, n) => `package p\noutcome := {"n": ${n}}`);
    const answers = await Promise.all(sources.map((rego) => call('PUT', at('car:race'), { body: { rego } })));
    expect(answers.map(({ status }) => status)).toEqual(sources.map(() => 200));
    const tags = answers.map(({ headers }) => Number(String(headers.etag).slice(1, -1))).sort((a, b) => a - b);
    expect(tags).toEqual(sources.map((_, n) => n + 1));
    const { body } = await call('GET', at('car:race'));
    const last = answers.findIndex(({ headers }) => headers.etag === '"20"');
    expect([body.revision, body.rego]).toEqual([20, sources[last]]);
    expect((await decide('car:race')).outcome).toEqual({ n: last });
  });
});

describe('bodies', () => {
  test(`${limits.regoSourceBytesMax} bytes of source are taken, one more is refused, in bytes and not in characters`, async () => {
    const ending = '\noutcome := "allow"';
    const source = (bytes: number, filler: string) => {
      const room = bytes - Buffer.byteLength(`package a\n#${ending}`);
      return `package a\n#${filler.repeat(Math.floor(room / Buffer.byteLength(filler)))}${'x'.repeat(room % Buffer.byteLength(filler))}${ending}`;
    };
    const put = (rego: string) => call('PUT', at('car:large'), { body: { rego } });
    expect((await put(source(limits.regoSourceBytesMax, 'x'))).status).toBe(200);
    expect((await put(source(limits.regoSourceBytesMax, 'é'))).status).toBe(200);
    for (const filler of ['x', 'é']) {
      const { status, body } = await put(source(limits.regoSourceBytesMax + 1, filler));
      expect([status, body.errors[0].pointer]).toEqual([400, '/rego']);
      expect(body.detail).toContain(String(limits.regoSourceBytesMax));
    }
  });

  test('a body over the limit is 413', async () => {
    const { status, body } = await call('PUT', at('car:large'), { body: { rego: 'x'.repeat(limits.bodyBytesMax) } });
    expect([status, body.code]).toEqual([413, 'body_too_large']);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'application/jsonx'])(
    '%s is 415',
    async (type) => {
      const { status, body } = await call('PUT', at('car:type'), { raw: { type, text: '{"rego":"x"}' } });
      expect([status, body.code]).toEqual([415, 'unsupported_media_type']);
    },
  );

  test('JSON with a charset is JSON', async () => {
    const text = JSON.stringify({ rego: says('allow') });
    expect((await call('PUT', at('car:type'), { raw: { type: 'application/json; charset=utf-8', text } })).status).toBe(
      200,
    );
  });

  test.each([
    ['cut off', '{"rego":', 'JSON'],
    ['two values', '{} {}', 'JSON'],
    ['nothing', '', 'object'],
    ['null', 'null', 'object'],
    ['__proto__', '{"__proto__": {"rego": "x"}}', '/__proto__'],
    ['too deep', `{"graph":${'['.repeat(70)}${']'.repeat(70)}}`, 'levels deep'],
    ['a number of no double', '{"graph":{"nodes":[{"at":[0,-1e400]}]}}', '/graph/nodes/0/at/1: The number'],
    [
      'such a number, far on',
      `{"rego":"${'x'.repeat(70_000)}","graph":{"at":${'9'.repeat(400)}}}`,
      '/graph/at: The number',
    ],
  ])('a malformed one (%s) is 400 and says why', async (_, text, why) => {
    const { status, body } = await call('PUT', at('car:json'), { raw: { type: 'application/json', text } });
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.detail).toContain(why);
  });
});

describe('GET and DELETE', () => {
  test('GET tells everything about a policy, flat', async () => {
    const rego = says('allow');
    await call('PUT', at('car:get'), { body: { rego } });
    const { status, headers, body } = await call('GET', at('car:get'));
    expect([status, headers.etag]).toEqual([200, '"1"']);
    expect(body).toEqual({
      name: 'car:get',
      rego,
      effectiveRego: rego,
      revision: 1,
      updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      updatedBy: expect.stringMatching(/^member:/),
      managedBy: 'api',
      relationships: { subject: 'none', resource: 'none' },
    });
  });

  test('DELETE answers 200 {}, then 404, and the next decision denies', async () => {
    await call('PUT', at('car:delete'), { body: { rego: says('allow') } });
    expect((await call('DELETE', at('car:delete'), { headers: { 'if-match': '"7"' } })).status).toBe(412);
    const deleted = await call('DELETE', at('car:delete'), { headers: { 'if-match': '"1"' } });
    expect([deleted.status, deleted.body]).toEqual([200, {}]);
    expect(await decide('car:delete')).toEqual({ outcome: 'deny', reason: 'policy_not_found' });
    for (const method of ['GET', 'DELETE'] as const) {
      const { status, body } = await call(method, at('car:delete'));
      expect([status, body.code]).toEqual([404, 'policy_not_found']);
    }
  });

  test("another tenant's policy is 404", async () => {
    const other = await configClient(server, await server.tenant());
    for (const method of ['GET', 'DELETE'] as const) expect((await other(method, at('car:get'))).status).toBe(404);
    expect((await call('GET', at('car:get'))).status).toBe(200);
  });
});
