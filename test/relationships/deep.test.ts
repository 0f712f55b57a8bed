/** Inheritance of any depth in decisions, explanations and searches, and walks that a bound ends: nothing that was not looked at allows. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { createTestServer } from '../helpers/server.ts';
import { sharingTenant } from './sharing.ts';

const server = await createTestServer();
const { backend, config, decide, policy } = await sharingTenant(server, [
  ['/actor-types/user', {}],
  ['/actor-types/group', {}],
  ['/resource-types/doc', {}],
  ['/relationship-types/group:within:group', {}],
  ['/relationship-types/group:barred:doc', {}],
  [
    '/relationship-types/user:member:group',
    { inheritedThrough: [{ relationship: 'user:member:group', from: 'group:within:group' }] },
  ],
  [
    '/relationship-types/user:barred:doc',
    { inheritedThrough: [{ relationship: 'user:member:group', from: 'group:barred:doc' }] },
  ],
]);

const line = (from: string, relationshipType: string, to: string) => {
  const [[fromType, fromId], [type, id]] = [from.split('/'), to.split('/')];
  return { from: { type: fromType, id: fromId }, relationshipType, to: { type, id } };
};

/** `${name}` is a member of the first of so many groups, each within the next, of which the last is barred from the doc `${name}`. */
async function barred(name: string, groups: number): Promise<void> {
  const lines = [
    line(`user/${name}`, 'member', `group/${name}0`),
    ...Array.from({ length: groups - 1 }, (_, i) => line(`group/${name}${i}`, 'within', `group/${name}${i + 1}`)),
    line(`group/${name}${groups - 1}`, 'barred', `doc/${name}`),
  ];
  const raw = lines.map((one) => JSON.stringify(one)).join('\n');
  const { status } = await backend('POST', '/relationships/import', { raw, type: 'application/x-ndjson' });
  expect(status).toBe(200);
}

const isBarred = `some one in input.graph.subject
  one.relationshipType == "barred"
  one.to.type == "doc"
  one.to.id == input.resource.id`;
await policy('doc:read', `package p\noutcome := "allow" if not barred\nbarred if {\n  ${isBarred}\n}`);
await policy('doc:barred', `package p\ndefault outcome := "deny"\noutcome := "allow" if {\n  ${isBarred}\n}`);
const whole = 'count([one | some one in input.graph.subject; one.relationshipType == "barred"]) == 0';
await policy('doc:count', `package p\ndefault outcome := "deny"\noutcome := "allow" if ${whole}`);
const asked = (name: string, action: string, query = '') =>
  decide({ type: 'user', id: name }, action, { type: 'doc', id: name }, query);

describe.each([
  ['twelve', 10],
  ['thirteen', 11],
  ['fourteen', 12],
  ['hundred', 98],
])('%s stored relationships', (name, groups) => {
  test('are walked: what they bar from is denied, what they grant is allowed, and both are found', async () => {
    await barred(name, groups);
    expect(await asked(name, 'doc:read')).toEqual({ outcome: 'deny', reason: 'outcome_undefined' });
    expect(await asked(name, 'doc:count')).toEqual({ outcome: 'deny' });
    expect(await asked(name, 'doc:barred')).toEqual({ outcome: 'allow' });
    const { explain } = await asked(name, 'doc:barred', '?explain=true');
    expect(explain.facts.inherited).toHaveLength(1);
    expect(explain.facts.inherited[0].through).toHaveLength(groups + 1);
    const [subject, resource] = [
      { type: 'user', id: name },
      { type: 'doc', id: name },
    ];
    const find = async (kind: 'subject' | 'resource', action: string) => {
      const body = {
        subject,
        resource,
        action: { name: action },
        [kind]: { type: kind === 'subject' ? 'user' : 'doc' },
      };
      const { results, context } = (await backend('POST', `/access/v1/search/${kind}`, { body })).body;
      expect(context).toBeUndefined();
      return results.map(({ id }: { id: string }) => id);
    };
    expect([await find('resource', 'barred'), await find('subject', 'barred')]).toEqual([[name], [name]]);
    expect(await find('resource', 'read')).not.toContain(name);
  });
});

test('a data subject is asked, however many relationships away', async () => {
  await barred('patient', 11);
  const rego = `package p\ndefault outcome := "deny"
outcome := "allow" if every one in input.dataSubjects { some given in one.consents; given.sufficient }`;
  const body = { rego, dataSubjects: { relationship: 'user:barred:doc' } };
  expect((await config('PUT', '/policies/doc:about', { body })).status).toBe(200);
  const about = (id: string) => decide({ type: 'user', id: 'x' }, 'doc:about', { type: 'doc', id });
  expect(await about('patient')).toEqual({ outcome: 'deny' });
  expect(await about('nobody')).toEqual({ outcome: 'deny', reason: 'no_data_subject' });
});

describe('a walk that a bound ends', async () => {
  await barred('fits', limits.factsEdgesMax - 1);
  await barred('long', limits.factsEdgesMax);
  const reason = 'graph_too_large';

  test('denies with the reason, and one below the bound decides', async () => {
    expect(await asked('fits', 'doc:barred')).toEqual({ outcome: 'allow' });
    expect(await asked('fits', 'doc:read')).toEqual({ outcome: 'deny', reason: 'outcome_undefined' });
    for (const action of ['doc:read', 'doc:barred', 'doc:count'])
      expect(await asked('long', action)).toEqual({ outcome: 'deny', reason });
  });

  test('is explained: which side, and of which types there are many', async () => {
    const { explain: narrowed } = await asked('long', 'doc:read', '?explain=true');
    expect(narrowed.failure).toEqual({
      reason,
      detail: 'the subject has more than 4000 stored relationships on the inheritance paths of user:barred:doc',
    });
    const { explain } = await asked('long', 'doc:count', '?explain=true');
    const many =
      'the subject has more than 4000 stored relationships on inheritance paths, 3999 of them group:within:group';
    expect(explain.failure).toEqual({ reason, detail: many });
  });

  test('is told by a search, which cannot know whether what it left out is allowed', async () => {
    const body = { subject: { type: 'user', id: 'long' }, action: { name: 'barred' }, resource: { type: 'doc' } };
    const { status, body: found } = await backend('POST', '/access/v1/search/resource', { body });
    expect([status, found.results, found.page.next_token]).toEqual([200, [], '']);
    expect(found.context).toEqual({ undecided: [{ reason, count: expect.any(Number) }] });
    expect(found.context.undecided[0].count).toBeGreaterThan(0);
    const actions = { subject: { type: 'user', id: 'long' }, resource: { type: 'doc', id: 'long' } };
    expect((await backend('POST', '/access/v1/search/action', { body: actions })).body).toMatchObject({
      results: [],
      context: { undecided: [{ reason, count: 4 }] },
    });
  });
});
