/** POST /tenants/{tenant}/policies/{p}/replay: a draft answers the logged decisions of its policy, and what would change is counted and shown. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { replay as replayed } from '../../server/authz/replay.ts';
import { Tally } from '../../server/authz/tally.ts';
import { limits } from '../../server/core/limits.ts';
import { createTestServer } from '../helpers/server.ts';
import { sharingTenant } from '../relationships/sharing.ts';
import { configClient, graphSaying } from './config-client.ts';

const server = await createTestServer();
const cars = await sharingTenant(server, undefined, { decisionLog: { mode: 'all' } });
const { backend, config, tenant } = cars;

const owner = (rest = '') => `package p
default outcome := "deny"
outcome := "allow" if input.subject.id == input.resource.owner
reason := "not yours" if outcome == "deny"
obligations contains "log" if outcome == "allow"
obligations contains "tell" if outcome == "allow"
${rest}`;
const drives = `package p
default outcome := "deny"
outcome := "allow" if {
  some link in input.graph.subject
  link.type == "drives"
  link.to.id == input.resource.id
}`;
await cars.policy('car:open', owner());
await cars.policy('car:drive', drives);
const alice = { type: 'user', id: 'alice' };
const car = (id: string, owner?: string) => ({ type: 'car', id, ...(owner ? { owner } : {}) });
for (const id of ['a', 'b', 'c']) await cars.decide(alice, 'car:open', car(id, id === 'c' ? 'bob' : 'alice'));
await cars.decide(alice, 'car:other', car('x'));
const written = () => server.services.authz.log.close();
await written();

const replay = (name: string, body: object, as = config) => as('POST', `/policies/${name}/replay`, { body });

describe('a draft', () => {
  test('with data subjects is answered as it would be for who asked: a user may not name one', async () => {
    await cars.policy('car:mine', 'package p\noutcome := "allow"');
    const request = { action: 'car:mine', subject: alice, resource: car('a', 'alice') };
    for (const token of [await server.client(tenant, 'authz:evaluate'), await server.user(tenant, 'alice')]) {
      const headers = { authorization: `Bearer ${token}` };
      await server.app.inject({ method: 'POST', url: `/authz/${tenant}`, headers, payload: request });
    }
    await written();
    const rego = 'package p\noutcome := "allow" if every one in input.dataSubjects { one.id == "alice" }';
    const { body } = await replay('car:mine', { rego, dataSubjects: { path: 'resource.owner' } });
    expect(body).toMatchObject({ records: 2, unchanged: 1, changed: 1 });
    expect(body.examples).toMatchObject([
      { caller: 'user:user:alice', after: { outcome: 'deny', reason: 'data_subject_forbidden' } },
    ]);
    const refused = await replay('car:mine', { rego });
    expect([refused.status, refused.body.code]).toEqual([400, 'policy_without_data_subjects']);
  });

  test('that answers alike changes nothing, whatever the order of its obligations', async () => {
    const { status, body, headers } = await replay('car:open', { rego: owner('# the same') });
    expect(status).toBe(200);
    expect(body).toEqual({
      ...{ policy: 'car:open', records: 3, oldest: expect.any(String), complete: true, decisionLog: 'all' },
      ...{ unchanged: 3, changed: 0, notByDraft: 0, outcomes: [], notEvaluated: [], examples: [] },
      facts: expect.stringContaining('current relationships'),
    });
    expect(headers['cache-control']).toBe('no-store');
  });

  test('that answers otherwise: how many, from what to what, and which', async () => {
    const rego = 'package p\ndefault outcome := "deny"\noutcome := "allow" if input.resource.id == "c"';
    const { body } = await replay('car:open', { rego });
    expect(body).toMatchObject({ records: 3, unchanged: 0, changed: 3, notByDraft: 0, notEvaluated: [] });
    expect(body.outcomes).toEqual([
      { before: 'deny', after: 'allow', count: 1, notByDraft: 0 },
      { before: 'allow', after: 'deny', count: 2, notByDraft: 0 },
    ]);
    const denied = { outcome: 'deny', reason: 'not yours', obligations: [] };
    expect(body.examples[0]).toEqual({
      ...{ id: expect.any(String), time: expect.any(String), caller: expect.stringContaining('backend') },
      request: { subject: alice, action: 'car:open', resource: car('c', 'bob') },
      ...{ before: denied, after: { outcome: 'allow' }, stored: denied },
    });
    const { body: log } = await config('GET', '/decisions?action=car:open&limit=1');
    expect(log.decisions[0]).toMatchObject({ id: body.examples[0].id, answer: denied });
  });

  test('of another reason or with fewer obligations is a change of the same outcome; a graph is a draft, too', async () => {
    const fewer = await replay('car:open', { rego: owner().replace('"tell"', '"log"').replace('yours', 'mine') });
    expect(fewer.body.outcomes).toEqual([
      { before: 'deny', after: 'deny', count: 1, notByDraft: 0 },
      { before: 'allow', after: 'allow', count: 2, notByDraft: 0 },
    ]);
    const drawn = await replay('car:open', { graph: graphSaying('allow') });
    expect(drawn.body.changed).toBe(3);
  });

  test('whose budget ends denies', async () => {
    const rego = 'package p\noutcome := {"n": count([1 | numbers.range(1, 100000)[_]; numbers.range(1, 100000)[_]])}';
    const { body } = await replay('car:open', { rego, limit: 1 });
    expect(body.examples[0].after).toEqual({ outcome: 'deny', reason: 'policy_budget_exhausted' });
  });

  test('of a policy that nothing was decided by has no records, and none is stored by it', async () => {
    const { body } = await replay('car:new', { rego: owner() });
    expect(body).toMatchObject({ records: 0, complete: true });
    expect((await config('GET', '/policies/car:new')).status).toBe(404);
    expect((await config('GET', '/policies/car:open')).body.rego).toBe(owner());
  });

  test('of a name that no policy had when it was asked for', async () => {
    const { body } = await replay('car:other', { rego: 'package p\noutcome := "allow"' });
    expect(body.examples).toMatchObject([{ before: { reason: 'policy_not_found' }, after: { outcome: 'allow' } }]);
    expect(body.examples[0]).not.toHaveProperty('stored');
  });

  test('is asked at the instant of the record', async () => {
    const { body: log } = await config('GET', '/decisions?action=car:open');
    const [newest] = log.decisions;
    const rego = `package p\noutcome := {"at": input.time, "ms": time.now_ns() / 1000000}`;
    const { body } = await replay('car:open', { rego, limit: 1 });
    expect(body.examples[0].after.outcome).toEqual({ at: newest.time, ms: Date.parse(newest.time) });
  });
});

describe('records', () => {
  test('are the newest since an instant, at most `limit`; replayRecordsMax is one', async () => {
    const { body: log } = await config('GET', '/decisions?action=car:open');
    const second = log.decisions[1].time;
    const two = await replay('car:open', { rego: owner(), limit: 2 });
    expect(two.body).toMatchObject({ records: 2, oldest: second, complete: false });
    expect((await replay('car:open', { rego: owner(), limit: 3 })).body.complete).toBe(true);
    const since = new Date(Date.now() + 60_000).toISOString().replace('Z', '+00:00');
    expect((await replay('car:open', { rego: owner(), since })).body.records).toBe(0);
    expect((await replay('car:open', { rego: owner(), limit: limits.replayRecordsMax })).status).toBe(200);
    const { status, body } = await replay('car:open', { rego: owner(), limit: limits.replayRecordsMax + 1 });
    expect([status, body.errors[0].pointer]).toEqual([400, '/limit']);
  });

  test('of more than a page are all looked at', async () => {
    const own = await sharingTenant(server, [], { decisionLog: { mode: 'all' } });
    await own.policy('doc:read', 'package p\noutcome := "allow"');
    const requests = Array.from({ length: 120 }, (_, n) => ({ action: 'doc:read', resource: { id: `${n}` } }));
    await server.app.inject({
      ...{ method: 'POST', url: `/authz/${own.tenant}/batch`, payload: { requests } },
      headers: { authorization: `Bearer ${await server.client(own.tenant, 'authz:evaluate')}` },
    });
    await written();
    const rego = 'package p\ndefault outcome := "deny"\noutcome := "allow" if to_number(input.resource.id) < 100';
    const { body } = await replay('doc:read', { rego }, own.config);
    expect(body).toMatchObject({ records: 120, unchanged: 100, changed: 20, complete: true });
    expect(body.examples).toHaveLength(20);
  });

  test('are judged by the relationships of now: what they change is told apart from what the draft changes', async () => {
    await cars.relate('user/alice', 'drives', 'car/gone');
    await cars.relate('user/alice', 'drives', 'car/kept');
    for (const id of ['gone', 'kept']) await cars.decide(alice, 'car:drive', car(id));
    await written();
    await backend('DELETE', '/actors/user/alice/relationships/drives/car/gone');
    const more = await replay('car:drive', { rego: `${drives}\n# the same` });
    const judged = { records: 2, unchanged: 1, changed: 1, notByDraft: 1, examples: [] };
    expect(more.body).toMatchObject(judged);
    // Also where the draft is what is stored, as when only a case was added.
    expect((await replay('car:drive', { rego: drives })).body).toMatchObject(judged);
    const all = await replay('car:drive', { rego: 'package p\noutcome := "deny"' });
    expect(all.body).toMatchObject({ changed: 2, notByDraft: 1 });
    expect(all.body.outcomes).toEqual([{ before: 'allow', after: 'deny', count: 2, notByDraft: 1 }]);
    expect(all.body.examples).toMatchObject([
      { request: { resource: { id: 'kept' } }, after: { outcome: 'deny' }, stored: { outcome: 'allow' } },
    ]);
  });

  test('whose requestToken was not kept are counted, when the draft can tell', async () => {
    const ask = { subject: alice, action: 'car:token', context: { requestToken: 'secret' } };
    await server.app.inject({
      ...{ method: 'POST', url: `/authz/${tenant}`, payload: ask },
      headers: { authorization: `Bearer ${await server.client(tenant, 'authz:evaluate')}` },
    });
    await written();
    const reading = await replay('car:token', { rego: 'package p\noutcome := "allow" if input.invitation.id' });
    expect(reading.body).toMatchObject({
      records: 1,
      changed: 0,
      notEvaluated: [{ reason: 'invitation_not_kept', count: 1 }],
    });
    expect((await replay('car:token', { rego: 'package p\noutcome := "allow"' })).body.changed).toBe(1);
  });
});

describe('refusals', () => {
  test('a draft that does not compile, none, and an unknown field', async () => {
    const broken = await replay('car:open', { rego: 'package p\noutcome := ' });
    expect([broken.status, broken.body.code]).toEqual([400, 'policy_does_not_compile']);
    expect((await replay('car:open', {})).body.code).toBe('policy_without_source');
    expect((await replay('car:open', { rego: owner(), input: {} })).body.errors[0].pointer).toBe('/input');
    expect((await replay('car:open', { rego: owner(), since: 'yesterday' })).body.errors[0].pointer).toBe('/since');
  });

  test.each(['security-admin', 'config-editor', 'config-viewer', 'support'] as const)('%s', async (role) => {
    const { status } = await replay('car:open', { rego: owner() }, await configClient(server, tenant, role));
    expect(status).toBe(role === 'security-admin' || role === 'config-editor' ? 200 : 403);
  });

  test('one at a time for a tenant; past replaysMax tenants wait their turn, up to replaysWaitingMax of them', async () => {
    const most = limits.replaysMax + limits.replaysWaitingMax;
    const others = await Promise.all(Array.from({ length: most - 1 }, () => server.tenant()));
    const callers = [config, ...(await Promise.all(others.map((one) => configClient(server, one))))];
    const late = await configClient(server, await server.tenant());
    // All have arrived before the first has compiled its draft.
    const all = async (as: (typeof config)[]) => {
      const rego = owner(`# ${randomUUID()}`);
      return Promise.all(as.map((one) => replay('car:open', { rego }, one)));
    };
    expect((await all(callers)).map(({ status }) => status)).toEqual(Array(most).fill(200));
    for (const asking of [
      [config, config],
      [...callers, late],
    ]) {
      const refused = (await all(asking)).filter(({ status }) => status !== 200);
      expect(refused.map(({ body }) => body.code)).toEqual(['replays_busy']);
      expect(refused[0]?.headers['retry-after']).toBe('10');
      expect(refused[0]?.headers.ratelimit).toBeUndefined();
    }
    expect((await all([config]))[0]?.status).toBe(200);
  });
});

test('after replayMsMax it tells what it has found', async () => {
  const snapshot = server.services.snapshots.get(tenant);
  if (snapshot === undefined) throw new Error('the tenant is not served');
  const draft = { name: 'car:open', draft: { rego: owner() }, since: '2026-01-01T00:00:00Z', limit: 10 };
  for (const [ms, records, complete] of [
    [limits.replayMsMax, 3, true],
    [limits.replayMsMax + 1, 0, false],
  ] as const) {
    let started = false;
    const monotonic = () => {
      const now = started ? ms : 0;
      started = true;
      return now;
    };
    const services = { ...server.services.authz, clock: { now: () => Date.now(), monotonic } };
    const told = await replayed(services, snapshot, draft, new AbortController().signal);
    expect(told).toMatchObject({ records, complete });
  }
  const gone = await replayed(server.services.authz, snapshot, draft, AbortSignal.abort());
  expect(gone).toMatchObject({ records: 0, complete: false });
});

describe('examples', () => {
  const row = (text: string) => ({
    ...{
      id: 'i',
      at: '2026-01-01T00:00:00.000Z',
      caller: 'c',
      action: 'a',
      policy_number: 1,
      documents: null,
      libraries: null,
      revision: 1,
    },
    ...{ duration_us: 1, request_id: null, request: { context: { text } }, answer: { outcome: 'allow' } },
  });
  const after = { outcome: 'deny' };
  const all = { policy: 'a', complete: true, decisionLog: 'all' };

  test('are at most replayExamplesMax', () => {
    const tally = new Tally();
    for (let n = 0; n < limits.replayExamplesMax + 1; n++) tally.differs(row(''), after, undefined);
    const { examples, changed } = tally.told(all);
    expect([examples.length, changed]).toEqual([limits.replayExamplesMax, limits.replayExamplesMax + 1]);
  });

  test('have requests and answers of at most replayExampleBytesMax together', () => {
    const bare = JSON.stringify({ request: row('').request, before: row('').answer, after }).length;
    for (const [more, told] of [
      [0, true],
      [1, false],
    ] as const) {
      const tally = new Tally();
      tally.differs(row('x'.repeat(limits.replayExampleBytesMax - bare + more)), after, undefined);
      const [example] = tally.told(all).examples;
      expect([example?.id, example !== undefined && 'request' in example]).toEqual(['i', told]);
    }
  });
});
