/** Decisions by policies that read relationships and stored attributes, end to end, and users governed by policies. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { createTestServer } from '../helpers/server.ts';
import { sharingTenant } from './sharing.ts';

const server = await createTestServer();
const cars = await sharingTenant(server);
const { backend, relate } = cars;
const alice = await cars.user('alice');
const bob = await cars.user('bob');

await cars.policy(
  'car:drive',
  `package car
default outcome := "deny"
outcome := "allow" if {
  some link in input.graph.subject
  link.relationshipType == "drives"
  link.type == link.relationshipType
  link.to.type == "car"
  link.to.id == input.resource.id
}`,
);
const drive = (user: string, car: string, query = '') =>
  cars.decide({ type: 'user', id: user }, 'car:drive', { type: 'car', id: car }, query);

describe('input.graph', () => {
  test('a relationship counts from the next decision on, and not after it was deleted', async () => {
    expect((await drive('carol', '1')).outcome).toBe('deny');
    await relate('user/carol', 'drives', 'car/1');
    expect((await drive('carol', '1')).outcome).toBe('allow');
    expect((await drive('carol', '2')).outcome).toBe('deny');
    await backend('DELETE', '/actors/user/carol/relationships/drives/car/1');
    expect((await drive('carol', '1')).outcome).toBe('deny');
  });

  test('fifty times: made and deleted, each next decision knows', async () => {
    for (let i = 0; i < 50; i++) {
      await relate('user/dan', 'drives', 'car/d');
      expect((await drive('dan', 'd')).outcome).toBe('allow');
      await backend('DELETE', '/actors/user/dan/relationships/drives/car/d');
      expect((await drive('dan', 'd')).outcome).toBe('deny');
    }
  });

  test('what is inherited counts, and explain tells the way', async () => {
    await relate('user/erin', 'member_of', 'group/family');
    await relate('group/family', 'owns', 'car/f');
    expect((await drive('erin', 'f')).outcome).toBe('allow');
    const { explain } = await drive('erin', 'f', '?explain=true');
    expect(explain.facts.inherited).toContainEqual({
      relationship: { from: { type: 'user', id: 'erin' }, relationshipType: 'drives', to: { type: 'car', id: 'f' } },
      through: [
        { from: { type: 'user', id: 'erin' }, relationshipType: 'member_of', to: { type: 'group', id: 'family' } },
        { from: { type: 'group', id: 'family' }, relationshipType: 'owns', to: { type: 'car', id: 'f' } },
      ],
    });
    await backend('DELETE', '/actors/user/erin/relationships/member_of/group/family');
    expect((await drive('erin', 'f')).outcome).toBe('deny');
  });

  test('a deny tells the paths over which the relationship would be inherited, and where each is broken', async () => {
    const step = (from: string, relationshipType: string, to: string) => {
      const [a, b] = [from, to].map((one) => one.split('/')).map(([type, id]) => ({ type, ...(id && { id }) }));
      return { from: a, relationshipType, to: b };
    };
    const pathsOf = async (user: string, car: string) => {
      const { explain } = await drive(user, car, '?explain=true');
      for (const { relationship } of explain.missingPaths ?? [])
        expect(relationship).toEqual(step(`user/${user}`, 'drives', `car/${car}`));
      return explain.missingPaths?.map(({ through }: { through: object[] }) => through);
    };
    const missing = { missing: true };
    // Nothing is there.
    expect(await pathsOf('fay', 'g')).toEqual([
      [
        { ...step('user/fay', 'member_of', 'group'), ...missing },
        { ...step('group', 'owns', 'car/g'), ...missing },
      ],
    ]);
    // The one end, and then both, of different groups.
    await relate('group/garage', 'owns', 'car/g');
    const joins = [
      { ...step('user/fay', 'member_of', 'group/garage'), ...missing },
      step('group/garage', 'owns', 'car/g'),
    ];
    expect(await pathsOf('fay', 'g')).toEqual([joins]);
    for (const group of ['one', 'two', 'three', 'four']) await relate('user/fay', 'member_of', `group/${group}`);
    const paths = await pathsOf('fay', 'g');
    expect(paths).toHaveLength(limits.missingPathsMax);
    for (const path of paths)
      expect(path).toEqual([
        step('user/fay', 'member_of', `group/${path[0].to.id}`),
        { ...step(`group/${path[0].to.id}`, 'owns', 'car/g'), ...missing },
      ]);
    // What is told is true: with the last step she may.
    const { from } = paths[0][1];
    await relate(`group/${from.id}`, 'owns', 'car/g');
    expect((await drive('fay', 'g')).outcome).toBe('allow');
    expect((await drive('fay', 'g', '?explain=true')).explain).not.toHaveProperty('missingPaths');
  });

  test('a subject without a type is one of the default type, and a user is its own', async () => {
    await relate('user/alice', 'drives', 'car/a');
    const resource = { type: 'car', id: 'a' };
    expect((await cars.decide({ id: 'alice' }, 'car:drive', resource)).outcome).toBe('allow');
    const response = await server.app.inject({
      method: 'POST',
      url: `/authz/${cars.tenant}`,
      headers: { authorization: `Bearer ${await server.user(cars.tenant, 'alice')}` },
      payload: { action: 'car:drive', resource },
    });
    expect(response.json()).toEqual({ outcome: 'allow' });
  });

  test('more relationships than a policy may be given are a deny that says so, observed', async () => {
    const lines = Array.from({ length: 1001 }, (_, i) =>
      JSON.stringify({
        from: { type: 'user', id: 'rich' },
        relationshipType: 'drives',
        to: { type: 'car', id: `r${i}` },
      }),
    );
    await backend('POST', '/relationships/import', { raw: lines.join('\n'), type: 'application/x-ndjson' });
    await cars.policy('car:count', 'package p\noutcome := {"of": count(input.graph.subject)}');
    const count = (query: string) =>
      cars.decide({ type: 'user', id: 'rich' }, 'car:count', { type: 'car', id: 'r1' }, query);
    for (const query of ['', '?explain=true'])
      expect(await count(query)).toMatchObject({ outcome: 'deny', reason: 'graph_too_large' });
    // One that asks for a certain relationship only does not see how many others there are.
    for (const query of ['', '?explain=true'])
      expect(await drive('rich', 'r1', query)).toMatchObject({ outcome: 'allow' });
    expect((await drive('rich', 'none')).outcome).toBe('deny');
    expect(server.observations).toContainEqual(
      expect.objectContaining({ kind: 'decision_failed', tenant: cars.tenant, reason: 'graph_too_large' }),
    );
  });

  test('a batch answers each question by its own facts', async () => {
    await relate('user/batch', 'drives', 'car/b3');
    await relate('user/another', 'drives', 'car/b4');
    const response = await server.app.inject({
      method: 'POST',
      url: `/authz/${cars.tenant}/batch`,
      headers: { authorization: `Bearer ${await server.client(cars.tenant, 'authz:evaluate')}` },
      payload: {
        requests: Array.from({ length: 120 }, (_, i) => ({
          subject: { type: 'user', id: i % 2 === 0 ? 'another' : 'batch' },
          action: 'car:drive',
          resource: { type: 'car', id: `b${i}` },
        })),
      },
    });
    const outcomes = response.json().decisions.map((one: { outcome: string }) => one.outcome);
    const allowed = outcomes.flatMap((one: string, i: number) => (one === 'allow' ? [i] : []));
    expect([outcomes.length, allowed]).toEqual([120, [3, 4]]);
  });
});

describe('stored attributes', () => {
  test('are merged into subject and resource and win over what the request says', async () => {
    await cars.policy(
      'car:paint',
      'package p\noutcome := {"color": input.resource.color, "level": input.subject.level, "note": object.get(input.resource, "note", "")}',
    );
    const ask = () =>
      cars.decide({ type: 'user', id: 'zoe', level: 9 }, 'car:paint', {
        type: 'car',
        id: 'p',
        color: 'green',
        note: 'n',
      });
    expect((await ask()).outcome).toEqual({ color: 'green', level: 9, note: 'n' });
    await backend('PUT', '/resources/car/p', { body: { color: 'red' } });
    await backend('PUT', '/actors/user/zoe', { body: { level: 1 } });
    expect((await ask()).outcome).toEqual({ color: 'red', level: 1, note: 'n' });
  });

  test('are merged into the far ends of relationships', async () => {
    await cars.policy(
      'car:ends',
      'package p\noutcome := {"far": [l.to.color | some l in input.graph.subject], "near": [l.from.level | some l in input.graph.resource]}',
    );
    await relate('user/zoe', 'drives', 'car/p');
    expect((await cars.decide({ type: 'user', id: 'zoe' }, 'car:ends', { type: 'car', id: 'p' })).outcome).toEqual({
      far: ['red'],
      near: [1],
    });
  });

  test('that the type declares no more are not given', async () => {
    await cars.config('PUT', '/resource-types/car', { body: { attributes: { since: { type: 'date' } } } });
    await cars.policy('car:undeclared', 'package p\noutcome := {"color": object.get(input.resource, "color", "none")}');
    const answer = await cars.decide({ id: 'x' }, 'car:undeclared', { type: 'car', id: 'p' });
    expect(answer.outcome).toEqual({ color: 'none' });
  });
});

describe('users', () => {
  const share = (who: typeof alice, from: string, to: string) =>
    who('POST', `/actors/user/${from}/relationships`, {
      body: { relationshipType: 'drives', to: { type: 'car', id: to } },
    });

  test('may nothing without a policy of the name', async () => {
    for (const answer of [
      await alice('GET', '/actors/user/alice/relationships'),
      await alice('GET', '/resources/car/a/relationships'),
      await share(alice, 'alice', 'x'),
      await alice('DELETE', '/actors/user/alice/relationships/drives/car/a'),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([403, 'forbidden']);
    }
    expect((await backend('GET', '/actors/user/alice/relationships')).status).toBe(200);
  });

  test('share what the policy allows: an owner lets another drive, nobody else does', async () => {
    await relate('user/alice', 'is_owner_of', 'car/mine');
    await cars.policy(
      'user:drives:car:create',
      `package p
default outcome := "deny"
reason := "not the owner" if outcome == "deny"
outcome := "allow" if {
  some link in input.graph.subject
  link.type == "is_owner_of"
  link.to.id == input.resource.id
  input.context.relationship.relationshipType == "drives"
  input.context.relationship.to.id == input.resource.id
  input.context.relationship.from.type == "user"
}`,
    );
    expect((await share(alice, 'bob', 'mine')).status).toBe(201);
    expect((await drive('bob', 'mine')).outcome).toBe('allow');
    const refused = await share(bob, 'mallory', 'mine');
    expect([refused.status, refused.body.detail]).toEqual([403, expect.stringContaining('not the owner')]);
    expect((await drive('mallory', 'mine')).outcome).toBe('deny');
    expect((await bob('DELETE', '/actors/user/bob/relationships/drives/car/mine')).status).toBe(403);
  });

  test('may nothing by a policy that answers an object, whatever it says', async () => {
    await cars.policy('user:is_owner_of:car:create', 'package p\noutcome := {"outcome": "allow"}');
    const body = { relationshipType: 'is_owner_of', to: { type: 'car', id: 'nobodys' } };
    const { status, body: answer } = await alice('POST', '/actors/user/alice/relationships', { body });
    expect([status, answer.code]).toEqual([403, 'forbidden']);
    expect((await backend('GET', '/resources/car/nobodys/relationships')).body).toEqual([]);
  });

  test('list their own where the policy says so, and never as another', async () => {
    await cars.policy(
      'user:relationships:list',
      'package p\ndefault outcome := "deny"\noutcome := "allow" if {input.subject.id == input.resource.id; input.subject.type == input.resource.type}',
    );
    expect((await bob('GET', '/actors/user/bob/relationships')).body).toEqual([
      { relationshipType: 'drives', to: { id: 'mine', type: 'car' } },
    ]);
    expect((await bob('GET', '/actors/user/alice/relationships')).status).toBe(403);
  });

  test('read their own actor, registered or not, and write nobody', async () => {
    await backend('PUT', '/actors/user/bob', { body: { level: 3 } });
    expect((await bob('GET', '/actors/me')).body).toEqual({ id: 'bob', type: 'user', level: 3 });
    expect((await alice('GET', '/actors/me')).body).toEqual({ id: 'alice', type: 'user' });
    expect((await backend('GET', '/actors/me')).status).toBe(403);
    for (const [method, path] of [
      ['GET', '/actors/user/bob'],
      ['PUT', '/actors/user/bob'],
      ['DELETE', '/actors/user/bob'],
      ['PUT', '/resources/car/a'],
      ['DELETE', '/relationships?fromType=user'],
      ['GET', '/relationships/export'],
      ['GET', '/relationships/imports/x'],
    ] as const) {
      expect((await bob(method, path, method === 'PUT' ? { body: {} } : {})).status).toBe(403);
    }
    const raw = { raw: '', type: 'application/x-ndjson' };
    expect((await bob('POST', '/relationships/import', raw)).status).toBe(403);
  });
});

describe('back ends', () => {
  test('read with relationships:read and write with relationships:write, and no policy is asked', async () => {
    const reader = await cars.scoped('relationships:read');
    const writer = await cars.scoped('relationships:write');
    const body = { relationshipType: 'drives', to: { type: 'car', id: 's' } };
    expect((await writer('POST', '/actors/user/s/relationships', { body })).status).toBe(201);
    expect((await reader('GET', '/actors/user/s/relationships')).status).toBe(200);
    expect((await writer('GET', '/actors/user/s/relationships')).body.code).toBe('insufficient_scope');
    expect((await reader('POST', '/actors/user/s/relationships', { body })).body.code).toBe('insufficient_scope');
    expect((await reader('DELETE', '/relationships?fromType=user')).body.code).toBe('insufficient_scope');
  });

  test('a revision of a record write is a state that every decision has', async () => {
    const written = await relate('user/rev', 'drives', 'car/rev');
    const headers = { 'accord-min-revision': String(written.headers['accord-revision']) };
    expect((await backend('GET', '/actors/user/rev/relationships', { headers })).status).toBe(200);
  });
});
