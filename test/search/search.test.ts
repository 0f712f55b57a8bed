/** AuthZEN search end to end: shapes, pages, callers, bounds. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { createTestServer } from '../helpers/server.ts';
import { sharingTenant } from '../relationships/sharing.ts';

let aheadMs = 0;
const clock = { now: () => Date.now() + aheadMs, monotonic: () => performance.now() };
const server = await createTestServer({}, undefined, clock);
const cars = await sharingTenant(server);
const { backend } = cars;
const drives = (rest = '') => `package p
default outcome := "deny"
outcome := "allow" if {
  some link in input.graph.subject
  link.type == "drives"
  link.to.type == "car"
  link.to.id == input.resource.id
}
${rest}`;
await cars.policy('car:drive', drives());
await cars.policy(
  'car:red',
  'package p\ndefault outcome := "deny"\noutcome := "allow" if input.resource.color == "red"',
);
await cars.policy('car:see', 'package p\noutcome := "allow"');
await cars.policy('car:never', 'package p\noutcome := "deny"');
await cars.policy('car:object', 'package p\noutcome := {"allow": true}');
await cars.policy('car:drives:weird', 'package p\noutcome := "allow"');
for (const id of ['a', 'b', 'c']) await cars.relate('user/alice', 'drives', `car/${id}`);
await cars.relate('user/bob', 'member_of', 'group/family');
await cars.relate('group/family', 'owns', 'car/c');
await backend('PUT', '/resources/car/registered', { body: { color: 'red' } });
await backend('PUT', '/actors/user/zoe', { body: {} });

type Kind = 'subject' | 'resource' | 'action';
const search = (kind: Kind, body: object, who = backend) => who('POST', `/access/v1/search/${kind}`, { body });
const alice = { type: 'user', id: 'alice' };
const drive = { name: 'drive' };
const ids = (body: { results: { id: string }[] }) => body.results.map(({ id }) => id);
const everyCar = { subject: alice, action: drive, resource: { type: 'car' } };

describe('resources', () => {
  test('that a subject may, in the order of their ids', async () => {
    const { status, body } = await search('resource', everyCar);
    expect([status, body]).toEqual([
      200,
      {
        page: { next_token: '', count: 3 },
        results: [
          { type: 'car', id: 'a' },
          { type: 'car', id: 'b' },
          { type: 'car', id: 'c' },
        ],
      },
    ]);
  });

  test('by inheritance, by attribute, and where everybody may: everything that is registered or related', async () => {
    const find = async (name: string, id: string) =>
      ids(
        (await search('resource', { subject: { type: 'user', id }, action: { name }, resource: { type: 'car' } })).body,
      );
    expect(await find('drive', 'bob')).toEqual(['c']);
    expect(await find('drive', 'stranger')).toEqual([]);
    expect(await find('red', 'stranger')).toEqual(['registered']);
    expect(await find('see', 'stranger')).toEqual(['a', 'b', 'c', 'registered']);
    expect(await find('never', 'alice')).toEqual([]);
    expect(await find('object', 'alice')).toEqual([]);
  });

  test('an id of what is searched for is ignored; its properties are the candidates’', async () => {
    const body = {
      ...everyCar,
      action: { name: 'red' },
      resource: { type: 'car', id: 'x', properties: { color: 'red' } },
    };
    // The stored color wins, where there is one.
    expect(ids((await search('resource', body)).body)).toEqual(['a', 'b', 'c', 'registered']);
  });

  test('page by page, with a token of this search only', async () => {
    const first = (await search('resource', { ...everyCar, page: { limit: 2 } })).body;
    expect([ids(first), first.page.count]).toEqual([['a', 'b'], 2]);
    const token = first.page.next_token;
    expect(token).not.toBe('');
    const second = (await search('resource', { ...everyCar, page: { token } })).body;
    expect([ids(second), second.page]).toEqual([['c'], { next_token: '', count: 1 }]);
    expect((await search('resource', { ...everyCar, page: { token, limit: 2 } })).status).toBe(200);
    for (const [changed, pointer] of [
      [{ ...everyCar, subject: { type: 'user', id: 'bob' }, page: { token } }, '/page/token'],
      [{ ...everyCar, context: { a: 1 }, page: { token } }, '/page/token'],
      [{ ...everyCar, page: { token, limit: 3 } }, '/page/limit'],
      [{ ...everyCar, page: { token: 'nonsense' } }, '/page/token'],
      [{ ...everyCar, page: { limit: -1 } }, '/page/limit'],
    ] as const) {
      const { status, body } = await search('resource', changed);
      expect([status, body.errors[0].pointer]).toEqual([400, pointer]);
    }
    expect(
      (await search('action', { subject: alice, resource: { type: 'car', id: 'a' }, page: { token } })).status,
    ).toBe(400);
  });

  test('a token has at most searchTokenCharsMax characters, and one of an id of 1 KiB is within', async () => {
    const wild = { type: 'user', id: 'wild' };
    const id = '"'.repeat(limits.entityIdBytesMax);
    for (const one of [id, `${'#'.repeat(1023)}~`]) await cars.relate('user/wild', 'drives', `car/${one}`);
    const body = { ...everyCar, subject: wild, page: { limit: 1 } };
    const first = (await search('resource', body)).body;
    expect([ids(first), first.page.next_token.length <= limits.searchTokenCharsMax]).toEqual([[id], true]);
    const { token, ...rest } = { token: first.page.next_token, ...body };
    expect(ids((await search('resource', { ...rest, page: { limit: 1, token } })).body)).toHaveLength(1);
    const tooLong = { ...rest, page: { token: 'x'.repeat(limits.searchTokenCharsMax + 1) } };
    expect((await search('resource', tooLong)).body.errors[0].pointer).toBe('/page/token');
    await backend('DELETE', '/actors/user/wild');
  });
});

describe('subjects', () => {
  test('who may, directly and by inheritance, by relationship and by none', async () => {
    const who = async (name: string, id: string) =>
      ids(
        (await search('subject', { subject: { type: 'user' }, action: { name }, resource: { type: 'car', id } })).body,
      );
    expect(await who('drive', 'c')).toEqual(['alice', 'bob']);
    expect(await who('drive', 'a')).toEqual(['alice']);
    expect(await who('drive', 'registered')).toEqual([]);
    expect(await who('red', 'registered')).toEqual(['alice', 'bob', 'zoe']);
  });

  test('expired relationships lead nobody anywhere', async () => {
    const soon = new Date(clock.now() + 60_000).toISOString();
    await cars.relate('user/guest', 'drives', 'car/lent', soon);
    const who = async () =>
      ids(
        (await search('subject', { subject: { type: 'user' }, action: drive, resource: { type: 'car', id: 'lent' } }))
          .body,
      );
    expect(await who()).toEqual(['guest']);
    aheadMs = 60_001;
    expect(await who()).toEqual([]);
    expect(
      ids(
        (
          await search('subject', {
            subject: { type: 'user' },
            action: { name: 'see' },
            resource: { type: 'car', id: 'lent' },
          })
        ).body,
      ),
    ).not.toContain('guest');
  });
});

describe('actions', () => {
  test('by the names that evaluation takes', async () => {
    const { body } = await search('action', { subject: alice, resource: { type: 'car', id: 'a' } });
    expect(body).toEqual({
      page: { next_token: '', count: 3 },
      results: [{ name: 'drive' }, { name: 'car:drives:weird' }, { name: 'see' }],
    });
    for (const action of body.results) {
      const asked = { subject: alice, action, resource: { type: 'car', id: 'a' } };
      expect((await backend('POST', '/access/v1/evaluation', { body: asked })).body.decision).toBe(true);
    }
    const one = (await search('action', { subject: alice, resource: { type: 'car', id: 'a' }, page: { limit: 1 } }))
      .body;
    expect([one.results, one.page.next_token !== '']).toEqual([[{ name: 'drive' }], true]);
  });
});

describe('callers', () => {
  test('an end user searches what it may itself, never what others may or who may', async () => {
    const user = await cars.user('alice');
    expect(ids((await search('resource', everyCar, user)).body)).toEqual(['a', 'b', 'c']);
    expect((await search('action', { subject: alice, resource: { type: 'car', id: 'a' } }, user)).status).toBe(200);
    const bob = { type: 'user', id: 'bob' };
    for (const answer of [
      await search('resource', { ...everyCar, subject: bob }, user),
      await search('resource', { ...everyCar, subject: bob, action: { name: 'no-such' } }, user),
      await search('action', { subject: bob, resource: { type: 'car', id: 'a' } }, user),
      await search('subject', { subject: { type: 'user' }, action: drive, resource: { type: 'car', id: 'a' } }, user),
    ])
      expect([answer.status, answer.body.code]).toEqual([403, 'forbidden']);
  });

  test('a back end needs authz:evaluate; another tenant’s token is none', async () => {
    const reader = await cars.scoped('relationships:read');
    expect((await search('resource', everyCar, reader)).body.code).toBe('insufficient_scope');
    const other = await sharingTenant(server);
    const response = await server.app.inject({
      method: 'POST',
      url: `/${cars.tenant}/access/v1/search/resource`,
      headers: { authorization: `Bearer ${await server.client(other.tenant, 'pg:tenant:admin')}` },
      payload: everyCar,
    });
    expect(response.statusCode).toBe(401);
  });
});

describe('names that the tenant does not have', () => {
  const car = { type: 'car', id: 'a' };
  const refused = async (kind: Kind, body: object) => {
    const { status, body: answer } = await search(kind, body);
    return [status, answer.errors];
  };

  test.each([
    [
      'a type that is searched for',
      { resource: { type: 'cra' } },
      '/resource/type',
      'No type has this name. Did you mean car?',
    ],
    ['and like which there is none', { resource: { type: 'submarine' } }, '/resource/type', 'No type has this name.'],
    [
      'a type of the subject',
      { subject: { ...alice, type: 'usr' } },
      '/subject/type',
      'No type has this name. Did you mean user?',
    ],
    ['an action', { action: { name: 'drvie' } }, '/action/name', 'There is no policy car:drvie. Did you mean drive?'],
    [
      'a full name of a policy',
      { action: { name: 'car:drives:wierd' } },
      '/action/name',
      'There is no policy car:drives:wierd. Did you mean car:drives:weird?',
    ],
    ['an action like which there is none', { action: { name: 'fly' } }, '/action/name', 'There is no policy car:fly.'],
  ])('%s: 400 with its place and what was probably meant', async (_what, changed, pointer, detail) => {
    expect(await refused('resource', { ...everyCar, ...changed })).toEqual([400, [{ pointer, detail }]]);
  });

  test('in a search for subjects and for actions too', async () => {
    const users = { subject: { type: 'usre' }, action: { name: 'drive' }, resource: car };
    const user = { pointer: '/subject/type', detail: 'No type has this name. Did you mean user?' };
    expect(await refused('subject', users)).toEqual([400, [user]]);
    const cars = { pointer: '/resource/type', detail: 'No type has this name. Did you mean car?' };
    expect(await refused('action', { subject: alice, resource: { ...car, type: 'caar' } })).toEqual([400, [cars]]);
    // No action can be found of a type that is not declared and that no policy is named after.
    const none = { pointer: '/resource/type', detail: 'No type has this name.' };
    expect(await refused('action', { subject: alice, resource: { ...car, type: 'submarine' } })).toEqual([400, [none]]);
  });

  test('a type beside what is searched for need not be declared', async () => {
    const body = { ...everyCar, subject: { type: 'satellite', id: 's' }, action: { name: 'red' } };
    expect(ids((await search('resource', body)).body)).toEqual(['registered']);
  });

  test('no names are told to whoever asks about somebody else', async () => {
    const user = await cars.user('alice');
    const body = { ...everyCar, subject: { type: 'user', id: 'bob' }, resource: { type: 'cra' } };
    expect((await search('resource', body, user)).status).toBe(403);
  });
});

describe('bounds', () => {
  const wide = async (count: number, line: (i: number) => [from: string, name: string, to: string]) => {
    const own = await sharingTenant(server);
    const entity = (text: string) => ({ type: text.split('/')[0], id: text.split('/')[1] });
    const lines = Array.from({ length: count }, (_, i) => {
      const [from, relationshipType, to] = line(i);
      return JSON.stringify({ from: entity(from), relationshipType, to: entity(to) });
    });
    const answer = await own.backend('POST', '/relationships/import', {
      raw: lines.join('\n'),
      type: 'application/x-ndjson',
    });
    expect(answer.status).toBe(200);
    return own;
  };
  const pad = (i: number) => String(i).padStart(5, '0');

  test('searchCandidatesMax are checked for a page: it may be empty, with a token, and nothing is left out', async () => {
    const count = limits.searchCandidatesMax + 1;
    const own = await wide(count, (i) => [`user/u${pad(i)}`, 'drives', `car/${pad(i)}`]);
    const last = pad(count - 1);
    await own.policy(
      'car:last',
      `package p\ndefault outcome := "deny"\noutcome := "allow" if input.resource.id == "${last}"`,
    );
    const request = { ...everyCar, action: { name: 'last' } };
    const first = (await search('resource', request, own.backend)).body;
    expect([first.results, first.page.next_token === '']).toEqual([[], false]);
    const second = (await search('resource', { ...request, page: { token: first.page.next_token } }, own.backend)).body;
    expect([ids(second), second.page.next_token]).toEqual([[last], '']);
    await own.policy(
      'car:second',
      `package p\ndefault outcome := "deny"\noutcome := "allow" if input.resource.id == "${pad(count - 2)}"`,
    );
    await own.backend('DELETE', `/resources/car/${last}`);
    const exact = (await search('resource', { ...everyCar, action: { name: 'second' } }, own.backend)).body;
    expect([ids(exact), exact.page.next_token]).toEqual([[pad(count - 2)], '']);
  });

  test('a token tells a user nothing of what it may not see, and cannot be made up', async () => {
    const count = limits.searchCandidatesMax + 1;
    const own = await wide(count, (i) => [`user/u${pad(i)}`, 'drives', `car/secret-${pad(i)}`]);
    await own.policy(
      'car:none',
      'package p\ndefault outcome := "deny"\noutcome := "allow" if input.resource.id == "-"',
    );
    const request = { subject: { type: 'user', id: 'eve' }, action: { name: 'none' }, resource: { type: 'car' } };
    const eve = await own.user('eve');
    const { results, page } = (await search('resource', request, eve)).body;
    expect(results).toEqual([]);
    const bytes = Buffer.from(page.next_token, 'base64url');
    expect(bytes.length).toBeGreaterThan(0);
    expect(bytes.toString('latin1')).not.toMatch(/secret|resource/);
    for (const at of [0, 1, 20, bytes.length - 1]) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] as number) ^ 1;
      const answer = await search('resource', { ...request, page: { token: changed.toString('base64url') } }, eve);
      expect([answer.status, answer.body.errors?.[0].pointer]).toEqual([400, '/page/token']);
    }
    const elsewhere = await (await sharingTenant(server)).user('eve');
    expect((await search('resource', { ...request, page: { token: page.next_token } }, elsewhere)).status).toBe(400);
    expect((await search('resource', { ...request, page: { token: page.next_token } }, eve)).status).toBe(200);
  });

  test('more than searchHeadsMax groups lead to the same answer over all entities', async () => {
    const count = limits.searchHeadsMax + 1;
    const own = await wide(count, (i) => ['user/joiner', 'member_of', `group/${pad(i)}`]);
    await own.policy('car:drive', drives());
    await own.relate(`group/${pad(count - 1)}`, 'owns', 'car/x');
    await own.relate('group/none', 'owns', 'car/y');
    const joiner = { ...everyCar, subject: { type: 'user', id: 'joiner' } };
    expect(ids((await search('resource', joiner, own.backend)).body)).toEqual(['x']);
    await own.backend('DELETE', `/actors/user/joiner/relationships/member_of/group/${pad(0)}`);
    expect(ids((await search('resource', joiner, own.backend)).body)).toEqual(['x']);
  });

  test('a subject of many entities gets them in pages of at most pageItemsMax, all of them', async () => {
    const count = 1234;
    const own = await wide(count, (i) => ['user/rich', 'drives', `car/${pad(i)}`]);
    await own.policy('car:drive', drives());
    const rich = { ...everyCar, subject: { type: 'user', id: 'rich' } };
    const found: string[] = [];
    for (let token: string | undefined; token !== ''; ) {
      const page = { limit: 100_000, ...(token === undefined ? {} : { token }) };
      const { body } = await search('resource', { ...rich, page }, own.backend);
      expect(body.results.length).toBeLessThanOrEqual(limits.pageItemsMax);
      found.push(...ids(body));
      token = body.page.next_token;
    }
    expect(found).toEqual(Array.from({ length: count }, (_, i) => pad(i)));
    expect(ids((await search('resource', rich, own.backend)).body)).toHaveLength(100);
  });
});

test('a search is observed and counts as the decisions that it made', async () => {
  await search('resource', everyCar);
  expect(server.observations).toContainEqual(
    expect.objectContaining({ kind: 'searched', tenant: cars.tenant, candidates: 3, found: 3 }),
  );
});

describe('what AuthZEN does not name', () => {
  test('is ignored, also by the token of a page', async () => {
    const first = { ...everyCar, page: { limit: 1, order: 'descending' }, trace: 'one' };
    const { status, body } = await search('resource', first);
    expect([status, ids(body)]).toEqual([200, ['a']]);
    const next = {
      ...everyCar,
      subject: { ...alice, later: 2 },
      resource: { type: 'car', id: { any: 'entity' }, later: 3 },
      action: { ...drive, later: 4 },
      page: { token: body.page.next_token },
      trace: 'two',
    };
    expect(ids((await search('resource', next)).body)).toEqual(['b']);
  });

  test('is no attribute of a candidate', async () => {
    const evaluation = { ...everyCar, action: { name: 'red' } };
    expect(ids((await search('resource', { ...evaluation, resource: { type: 'car', color: 'red' } })).body)).toEqual([
      'registered',
    ]);
  });

  test('an action in a search for actions is ignored', async () => {
    const evaluation = { subject: alice, resource: { type: 'car', id: 'a' } };
    const { body } = await search('action', evaluation);
    expect((await search('action', { ...evaluation, action: { name: 5 } })).body).toEqual(body);
  });
});

test('a limit of 0 finds nothing, and tells by its token whether there is anything', async () => {
  const some = await search('resource', { ...everyCar, page: { limit: 0 } });
  expect([some.status, some.body.results, some.body.page.count]).toEqual([200, [], 0]);
  expect(some.body.page.next_token).not.toBe('');
  const again = await search('resource', { ...everyCar, page: { limit: 0, token: some.body.page.next_token } });
  expect(again.body.page.count).toBe(0);
  const stranger = { ...everyCar, subject: { type: 'user', id: 'stranger' }, page: { limit: 0 } };
  expect((await search('resource', stranger)).body).toEqual({ page: { next_token: '', count: 0 }, results: [] });
});
