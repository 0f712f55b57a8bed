/** The decision log: searched by subject, resource, reason and revision, and its decisions explained by the revision that made them. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { maskedExplanation } from '../../server/authz/decision-view.ts';
import type { Explanation } from '../../server/authz/explain.ts';
import { searchDecisions } from '../../server/authz/store.ts';
import { limits } from '../../server/core/limits.ts';
import { noFacts } from '../../server/facts/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { configClient } from '../policies/config-client.ts';

const server = await createTestServer();
const { adminUrl } = server.db;
const tenant = await server.tenant({ decisionLog: { mode: 'all' } });
const editor = await configClient(server, tenant);
const support = await configClient(server, tenant, 'support');
const viewer = await configClient(server, tenant, 'config-viewer');
const backend = await server.client(tenant, 'pg:tenant:admin');

const call = async (method: 'POST' | 'PUT' | 'DELETE', url: string, payload?: object) =>
  server.app.inject({ method, url, headers: { authorization: `Bearer ${backend}` }, ...(payload ? { payload } : {}) });

async function decide(request: object) {
  const response = await call('POST', `/authz/${tenant}`, request);
  expect(response.statusCode, response.payload).toBe(200);
  return response.json();
}

async function put(name: string, rego: string) {
  const { status, body } = await editor('PUT', `/policies/${encodeURIComponent(name)}`, { body: { rego } });
  expect(status, JSON.stringify(body)).toBe(200);
  await server.services.snapshots.refresh(tenant);
}

async function search(query: Record<string, string>, as = editor) {
  await server.services.authz.log.close();
  return as('GET', `/decisions?${new URLSearchParams(query)}`);
}
const explain = (id: string, as = editor) => as('POST', `/decisions/${id}/explain`);

const related = `package p
default outcome := "deny"
reason := "not yours" if outcome == "deny"
outcome := "allow" if {
	some r in input.graph.subject
	r.relationshipType == "owns"
	r.to.type == input.resource.type
	r.to.id == input.resource.id
}`;
const alice = { id: 'alice', type: 'user' };
const car = { id: 'car-1', type: 'car', plate: 'A-1' };

beforeAll(async () => {
  const types = async (path: string, body: object) =>
    expect((await editor('PUT', path, { body })).body, path).not.toHaveProperty('code');
  await types('/actor-types/user', {});
  await types('/resource-types/car', {});
  await types('/relationship-types/user:owns:car', {});
  await put('car:open', related);
});

describe('a search', () => {
  beforeAll(async () => {
    await decide({ action: 'car:open', subject: alice, resource: car });
    await decide({
      action: 'car:open',
      subject: { id: 'alice', type: 'robot' },
      resource: { id: 'car-2', type: 'car' },
    });
    await decide({ action: 'car:open', subject: { id: 'bob', type: 'user' }, resource: car });
    await decide({ action: 'none', subject: { id: 'bob', type: 'user' } });
    await put('car:open', `${related}\n# changed`);
    await decide({
      action: 'car:open',
      subject: { id: 'carol', type: 'user' },
      resource: { id: 'car-3', type: 'car' },
    });
  });

  test.each([
    [{ subjectId: 'alice' }, 2],
    [{ subjectId: 'alice', subjectType: 'robot' }, 1],
    [{ subjectId: 'alic' }, 0],
    [{ resourceId: 'car-1' }, 2],
    [{ resourceId: 'car-1', resourceType: 'bus' }, 0],
    [{ resourceId: 'car-1', subjectId: 'bob' }, 1],
    [{ reason: 'policy_not_found' }, 1],
    [{ reason: 'not yours' }, 4],
    [{ action: 'car:open' }, 4],
    [{ action: 'car:open', policyRevision: '1' }, 3],
    [{ action: 'car:open', policyRevision: '2' }, 1],
    [{ action: 'car:open', policyRevision: '2', subjectId: 'alice' }, 0],
    [{ outcome: 'allow' }, 0],
    [{ outcome: 'deny', subjectId: 'bob' }, 2],
  ])('by %j finds %i', async (query, count) => {
    const { status, body } = await search(query);
    expect([status, body.decisions?.length], JSON.stringify(body)).toEqual([200, count]);
    expect(body).not.toHaveProperty('cursor');
  });

  test('goes on page by page', async () => {
    const first = await search({ action: 'car:open', limit: '3' });
    expect(first.body.decisions).toHaveLength(3);
    expect(first.headers.link).toContain('rel="next"');
    const second = await search({ action: 'car:open', limit: '3', cursor: first.body.cursor });
    expect(second.body.decisions).toHaveLength(1);
    const ids = [...first.body.decisions, ...second.body.decisions].map(({ id }: { id: string }) => id);
    expect(new Set(ids).size).toBe(4);
  });

  test.each([
    [{ subjectType: 'user' }, '/query/subjectType'],
    [{ resourceType: 'car' }, '/query/resourceType'],
    [{ policyRevision: '1' }, '/query/policyRevision'],
    [{ action: 'car:open', policyRevision: '0' }, '/query/policyRevision'],
    [{ subjectId: '' }, '/query/subjectId'],
    [{ subject: 'alice' }, '/query/subject'],
  ])('by %j is 400', async (query, pointer) => {
    const { status, body } = await search(query as never);
    expect([status, body.errors?.[0]?.pointer], JSON.stringify(body)).toEqual([400, pointer]);
  });

  test('by what support does not see is refused to it, by anything else is not', async () => {
    for (const query of [{ subjectId: 'alice' }, { resourceId: 'car-1' }, { reason: 'not yours' }])
      expect((await search(query as never, support)).status).toBe(403);
    const { status, body } = await search({ action: 'car:open', policyRevision: '2' }, support);
    expect([status, body.decisions.length]).toEqual([200, 1]);
    expect(body.decisions[0].request).toEqual({ action: 'car:open' });
    expect((await search({}, viewer)).status).toBe(403);
  });

  test('looks at so many records and says where to go on', async () => {
    const find = (before: { at: string; id: string } | undefined, looked: number) =>
      server.services.database.tenantSnapshot(tenant, (tx) =>
        searchDecisions(
          tx,
          tenant,
          { action: 'none', ...(before ? { before } : {}), outcome: 'allow', limit: 10 },
          looked,
        ),
      );
    expect(await find(undefined, 2)).toEqual({ rows: [] }); // all of the action's
    const first = await find(undefined, 1);
    expect(first).toEqual({ rows: [], next: { at: expect.any(String), id: expect.any(String) } });
    expect(await find(first.next, 1)).toEqual({ rows: [] });
    expect(limits.logEntriesLookedAtMax).toBeGreaterThan(limits.pageItemsMax);
  });

  test('uses an index for each of its filters', async () => {
    // As the servers' role: the owner is not bound by row-level security, which keeps some indexes from being used.
    const url = `${server.db.url}&options=-c%20enable_seqscan%3Doff%20-c%20accord.tenant%3Dx`;
    for (const where of [
      `subject_hash = hashtextextended('x', 0) and request #>> '{subject,id}' = 'x'`,
      `resource_hash = hashtextextended('x', 0) and request #>> '{resource,id}' = 'x'`,
      `reason_hash = hashtextextended('x', 0) and answer ->> 'reason' = 'x'`,
      `action_hash = hashtextextended('x', 0) and action = 'x'`,
      `action_hash = hashtextextended('x', 0) and action = 'x' and policy_number = 1`,
    ]) {
      const rows = await asAdmin<Record<string, string>>(
        url,
        `explain select from accord.decision where tenant = 'x' and ${where} order by at desc, id desc limit 10`,
      );
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan, plan).toMatch(/Index Cond: .*_hash/);
    }
  });
});

test('an explained deny says why not, and takes nothing from the answer', async () => {
  const request = { action: 'car:open', subject: { id: 'lea', type: 'user' }, resource: car };
  const plain = await decide(request);
  const response = await call('POST', `/authz/${tenant}?explain=true`, request);
  const { explain: explained, ...answer } = response.json();
  expect(answer).toEqual(plain);
  expect(explained.whyNot.rules).toMatchObject([
    { line: 4, condition: { line: 5 }, wouldAllowIf: [{ text: 'user:lea is owns car:car-1' }] },
  ]);
});

describe('a record of the log', () => {
  const only = async (subjectId: string) => (await search({ subjectId })).body.decisions[0];

  test('is explained by the revision that made it, with the facts of now', async () => {
    const subject = { id: `dave-${randomUUID()}`, type: 'user' };
    await put('car:lock', related);
    await decide({ action: 'car:lock', subject, resource: car });
    const { id } = await only(subject.id);
    await put('car:lock', 'package p\noutcome := "allow"');
    const { status, body } = await explain(id);
    expect([status, body.facts, body.differs], JSON.stringify(body)).toEqual([200, 'current', []]);
    expect(body.answer).toEqual({ outcome: 'deny', reason: 'not yours' });
    expect(body.decision).toMatchObject({ id, policyRevision: 1, request: { resource: car } });
    const text = `user:${subject.id} is owns car:car-1`;
    expect(body.explain).toMatchObject({
      revision: 1,
      whyNot: { rules: [{ line: 4, condition: { line: 5, missing: [{ text }] }, wouldAllowIf: [{ text }] }] },
    });
    // What would have allowed does.
    const made = await call('POST', `/${tenant}/actors/user/${subject.id}/relationships`, {
      ...{ relationshipType: 'owns', to: { type: 'car', id: 'car-1' } },
    });
    expect(made.statusCode, made.payload).toBe(201);
    const after = (await explain(id)).body;
    expect(after.answer).toEqual({ outcome: 'allow' });
    expect(after.differs).toEqual([
      { member: 'outcome', recorded: 'deny', now: 'allow' },
      { member: 'reason', recorded: 'not yours' },
    ]);
    expect(after.explain).not.toHaveProperty('whyNot');
  });

  test('is explained to support without ids and values', async () => {
    const subject = { id: `erin-${randomUUID()}`, type: 'user' };
    await decide({ action: 'car:open', subject, resource: { ...car, plate: 'secret-plate' } });
    const { id } = await only(subject.id);
    const { status, body } = await explain(id, support);
    expect(status).toBe(200);
    const text = JSON.stringify(body);
    for (const secret of [subject.id, 'car-1', 'secret-plate']) expect(text).not.toContain(secret);
    expect(body.answer).toEqual({ outcome: 'deny' });
    const [from, to] = ['user', 'car'].map((type) => ({ type, id: '***' }));
    expect(body.explain.whyNot.rules[0]).toMatchObject({
      condition: { line: 5, missing: [{ relationship: { relationshipType: 'owns', from, to } }] },
    });
    expect(body.explain.input).toEqual({ subject: from, action: 'car:open', resource: to });
    expect(body.explain).not.toHaveProperty('facts');
    expect((await explain(id, viewer)).status).toBe(403);
  });

  test('is explained to support without the persons whose consent is missing', () => {
    const missing = { type: 'user', id: 'patient-1', name: 'share', status: 'required' } as const;
    const explained = { input: {}, facts: noFacts, missingConsents: [missing] } as unknown as Explanation;
    const shown = (types: string[]) => maskedExplanation(explained, '', new Set(types)).missingConsents;
    expect(shown([])).toEqual([{ ...missing, type: '***', id: '***' }]);
    expect(shown(['user'])).toEqual([{ ...missing, id: '***' }]);
  });

  test('is explained to support with the types of the path over which a relationship is inherited, or would be', async () => {
    const types = async (path: string, body: object) =>
      expect((await editor('PUT', path, { body })).body, path).not.toHaveProperty('code');
    await types('/actor-types/club', {});
    await types('/relationship-types/user:joined:club', {});
    await types('/relationship-types/club:has:car', {});
    const inheritedThrough = [{ relationship: 'user:joined:club', from: 'club:has:car' }];
    await types('/relationship-types/user:owns:car', { inheritedThrough });
    await server.services.snapshots.refresh(tenant);
    const [inside, outside] = ['ina', 'otto'].map((name) => ({ id: `${name}-${randomUUID()}`, type: 'user' }));
    const resource = { id: 'secret-car', type: 'car' };
    const relate = async (from: string, relationshipType: string, to: object) =>
      expect((await call('POST', `/${tenant}/actors/${from}/relationships`, { relationshipType, to })).statusCode).toBe(
        201,
      );
    await relate(`user/${inside?.id}`, 'joined', { type: 'club', id: 'secret-club' });
    await relate('club/secret-club', 'has', resource);
    const told = async (subject: { id: string; type: string } | undefined) => {
      await decide({ action: 'car:open', subject, resource });
      const { id } = await only(subject?.id as string);
      const { body } = await explain(id, support);
      expect(JSON.stringify(body)).not.toMatch(/secret|ina-|otto-/);
      return body.explain;
    };
    const [user, club, masked] = ['user', 'club', 'car'].map((type) => ({ type, id: '***' }));
    const relationship = { from: user, relationshipType: 'owns', to: masked };
    const joined = { from: user, relationshipType: 'joined', to: club };
    const has = { from: club, relationshipType: 'has', to: masked };
    const held = await told(inside);
    expect(held.inherited).toEqual([{ relationship, through: [joined, has] }]);
    expect(held).not.toHaveProperty('missingPaths');
    const missed = await told(outside);
    expect(missed.missingPaths).toEqual([{ relationship, through: [{ ...joined, missing: true }, has] }]);
    expect(missed).not.toHaveProperty('inherited');
  });

  test('is explained to support without types, names and ids that the request states', async () => {
    const rego = `package p
outcome := "allow" if {
	some r in input.graph.subject
	r.relationshipType == input.context.wanted
	r.to.type == input.context.kind
}
outcome := "allow" if {
	some c in input.consents
	c.name == input.context.wanted
	c.sufficient
}
outcome := "allow" if {
	some c in input.consents
	c.name == "research"
	c.sufficient
}`;
    await put('car:wanted', rego);
    const subject = { id: `ned-${randomUUID()}`, type: 'secret-actor' };
    const context = { wanted: 'secret-name', kind: 'secret-kind' };
    await decide({ action: 'car:wanted', subject, resource: { id: 'secret-car', type: 'secret-type' }, context });
    const { id } = await only(subject.id);
    const { whyNot } = (await explain(id)).body.explain;
    expect(JSON.stringify(whyNot)).toContain('secret-actor');
    const shown = await explain(id, support);
    expect(JSON.stringify(shown.body)).not.toMatch(/secret|ned-/);
    const { rules } = shown.body.explain.whyNot;
    type Told = { condition: { missing: object[] }; wouldAllowIf?: object[] };
    expect(rules.map(({ condition }: Told) => condition.missing)).toMatchObject([
      [{ text: 'a relationship ***' }],
      [{ text: 'a consent to ***', consent: { name: '***', status: 'not_applicable' } }],
      [{ text: 'a consent to research', consent: { name: 'research', subject: { type: '***', id: '***' } } }],
    ]);
    expect(rules[0].wouldAllowIf).toMatchObject([{ text: 'a relationship ***' }]);
  });

  test('whose revision is gone says so', async () => {
    await put('car:old', related);
    const subject = { id: `fay-${randomUUID()}` };
    await decide({ action: 'car:old', subject });
    const { id } = await only(subject.id);
    await asAdmin(adminUrl, `delete from accord.policy_revision where tenant = $1 and name = 'car:old'`, [tenant]);
    const { status, body } = await explain(id);
    expect([status, body.code]).toEqual([404, 'policy_revision_not_found']);
    expect(body.detail).toBe('Revision 1 of car:old made this decision and is no longer kept.');
  });

  test('that no policy made is shown to support, and found by it, without its action', async () => {
    const subject = { id: `dave-${randomUUID()}` };
    await decide({ action: 'dave@example.com', subject });
    const { id } = await only(subject.id);
    const { body } = await search({ limit: '200' }, support);
    const shown = body.decisions.find((one: { id: string }) => one.id === id);
    expect(shown).toMatchObject({ action: '***', request: { action: '***' } });
    const found = async (action: string, as: typeof support) => (await search({ action }, as)).body.decisions.length;
    expect([await found('dave@example.com', editor), await found('dave@example.com', support)]).toEqual([1, 0]);
    expect(await found('car:open', support)).toBeGreaterThan(0);
  });

  test('that no policy made, or that is not there, says so', async () => {
    const subject = { id: `gus-${randomUUID()}` };
    await decide({ action: 'none', subject });
    const { id } = await only(subject.id);
    expect((await explain(id)).body).toMatchObject({ status: 409, code: 'decision_without_policy' });
    expect((await explain(randomUUID())).body).toMatchObject({ status: 404, code: 'decision_not_found' });
    expect((await explain('x')).body).toMatchObject({ status: 400 });
  });

  test('of another tenant is not there', async () => {
    const subject = { id: `hal-${randomUUID()}` };
    await decide({ action: 'car:open', subject });
    const { id } = await only(subject.id);
    const other = await configClient(server, await server.tenant());
    expect((await explain(id, other)).body.code).toBe('decision_not_found');
  });

  test('about a person who was erased is found by nobody, and not explained where it names it', async () => {
    const gone = `ida-${randomUUID()}`;
    const subject = { id: `jon-${randomUUID()}`, type: 'user' };
    await decide({ action: 'car:open', subject: { id: gone, type: 'user' }, resource: car });
    await decide({ action: 'car:open', subject, resource: { type: 'user', id: gone } });
    const own = await only(gone);
    const { id } = await only(subject.id);
    const erased = await call('POST', `/${tenant}/actors/user/${gone}/erase`, {});
    expect(erased.json().status, erased.payload).toBe('erased');
    expect((await search({ subjectId: gone })).body.decisions).toEqual([]);
    expect((await search({ resourceId: gone })).body.decisions).toEqual([]);
    expect((await explain(own.id)).body.code).toBe('decision_not_found');
    expect((await explain(id)).body).toMatchObject({ status: 410, code: 'decision_of_erased' });
  });

  test('is not found by the id of a person who is being erased, though it is still there', async () => {
    const gone = `kim-${randomUUID()}`;
    await decide({ action: 'car:open', subject: { id: gone, type: 'user' }, resource: car });
    expect((await search({ subjectId: gone })).body.decisions).toHaveLength(1);
    const { pseudonymizer } = server.services.authz;
    const pseudonym = pseudonymizer.digest(Buffer.from(gone), ['erased', tenant]);
    const columns = 'tenant, pseudonym, type, is_user, erased_at, progress';
    const values = `$1, $2, 'user', true, now(), '{}'`;
    await asAdmin(adminUrl, `insert into accord.erased_actor (${columns}) values (${values})`, [tenant, pseudonym]);
    expect((await search({ subjectId: gone })).body.decisions).toEqual([]);
  });

  test('does not show a person who is being erased, neither unfiltered nor explained', async () => {
    const gone = `lou-${randomUUID()}`;
    const by = `meg-${randomUUID()}`;
    await put(
      'car:share',
      'package p\ndefault outcome := "deny"\noutcome := "allow" if {\n\tsome r in input.graph.subject\n\tr.to.color == "red"\n}',
    );
    const owning = { relationshipType: 'owns', to: { type: 'car', id: gone } };
    await call('POST', `/${tenant}/actors/user/${by}/relationships`, owning);
    await decide({ action: 'car:share', subject: { id: gone, type: 'user' }, resource: car });
    await decide({ action: 'car:share', subject: { id: by, type: 'user' }, resource: car, context: { other: gone } });
    await decide({ action: 'car:share', subject: { id: by, type: 'user' }, resource: { type: 'car', id: 'car-9' } });
    const all = async () => (await search({ action: 'car:share' })).body.decisions;
    const [last, about, own] = await all();
    expect(JSON.stringify((await explain(last.id)).body)).toContain(gone);
    const { pseudonymizer } = server.services.authz;
    const mark = async (type: string) => {
      const pseudonym = pseudonymizer.digest(Buffer.from(gone), ['erased', tenant]);
      const columns = 'tenant, pseudonym, type, is_user, erased_at, progress';
      const values = `$1, $2, '${type}', ${type === 'user'}, now(), '{}'`;
      await asAdmin(adminUrl, `insert into accord.erased_actor (${columns}) values (${values})`, [tenant, pseudonym]);
    };
    await mark('user');
    await mark('car');
    const shown = await all();
    expect(shown.map(({ id }: { id: string }) => id)).toEqual([last.id, about.id]);
    expect(shown[1].request.context.other).toMatch(/^erased:/);
    expect(JSON.stringify(shown)).not.toContain(gone);
    expect((await explain(own.id)).body.code).toBe('decision_not_found');
    expect((await explain(about.id)).body.code).toBe('decision_of_erased');
    // The relationships are still those of now.
    const explained = await explain(last.id);
    expect([explained.status, JSON.stringify(explained.body).includes(gone)]).toEqual([200, false]);
    expect(JSON.stringify(explained.body.explain.facts)).toContain('erased:');
  });
});
