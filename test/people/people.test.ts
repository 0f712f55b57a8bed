/** C/people: finding an actor, what is known of it, and everything about it in one order. */
import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { mailRecipientDigest } from '../../server/mail/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { invitingTenant } from '../invitations/inviting.ts';
import { membersOf } from '../members/roles.ts';

const server = await createTestServer();
const cars = await invitingTenant(server);
const { tenant } = cars;
const members = await membersOf(server, tenant);
const admin = members['security-admin'];
const timeline = '/people/user/alice/timeline';
type Item = { at: string; id: string; kind: string; what: string } & Record<string, unknown>;
const items = async (query = '', by = admin): Promise<Item[]> => (await by('GET', `${timeline}${query}`)).body.items;
const kinds = (all: Item[]) => all.map((one) => `${one.kind} ${one.what}`);

beforeAll(async () => {
  await cars.relate('user/alice', 'drives', 'car/1');
  await cars.relate('user/alice', 'drives', 'car/2');
  await admin('DELETE', '/actors/user/alice/relationships/drives/car/2');
  const { requestToken } = await cars.invite();
  expect((await cars.accept(cars.backend, 'bob', requestToken)).status).toBe(200);
  await cars.backend('PUT', '/actors/user/alice', { body: { displayName: 'Alice' } });
  const run = (text: string, values: unknown[] = []) => asAdmin(server.db.adminUrl, text, [tenant, ...values]);
  await run(
    `insert into accord.decision (tenant, at, caller, action, request, answer, policy_number, revision, duration_us)
     values ($1, now(), 'client:backend', 'car:read', '{"subject":{"id":"alice"},"resource":{"type":"car","id":"c1"}}',
       '{"outcome":"deny","reason":"alice is not known"}', 1, 1, 5),
     ($1, now() - interval '1 hour', 'client:backend', 'guess', '{"subject":{"id":"lone"},"resource":{"type":"t@example.com","id":"c1"}}',
       '{"outcome":"deny"}', null, 1, 5),
     ($1, now(), 'client:backend', 'mail@example.com', '{"subject":{"id":"lone"},"resource":{"type":"only@example.com"}}',
       '{"outcome":"deny"}', null, 1, 5)`,
  );
  await run(
    `insert into accord.ledger_entry (tenant, time, id, type, name, version, outcome, request_id, personal_digest, salt, actor_type,
       actor_id, user_id, sequence, hash)
     values ($1, now(), gen_random_uuid(), 'registered', 'terms', '1', 'registered', 'r1', sha256('a'), '\\x00112233445566778899aabbccddeeff',
       'client', 'backend', 'alice', 1, sha256('b'))`,
  );
  await run(
    `insert into accord.account (tenant, id, email, email_verified, created_at, updated_at)
     values ($1, '0199f2f0-7f5e-7c3a-9a53-5f4b1e0c2d11', 'anna@example.com', true, now(), now())`,
  );
  await run(
    `insert into accord.mail_message (tenant, id, template, transactional, recipient_digest, recipient_mask, status, next_at, created_at,
       expires_at, settled_at, kept_until)
     values ($1, gen_random_uuid(), 'consent-renewal', true, $2, 'a***@example.com', 'sent', now(), now(), now(), now(), now())`,
    [mailRecipientDigest(server.services.encrypter, tenant, 'anna@example.com')],
  );
});

describe('the time line', () => {
  test('has everything, newest first, and what was ended too', async () => {
    const all = await items();
    expect(new Set(kinds(all))).toEqual(
      new Set([
        ...['relationship created', 'invitation invited', 'consent registered', 'decision deny'],
        ...['audit create', 'audit delete', 'audit put'],
      ]),
    );
    expect(all.map((one) => one.at)).toEqual(
      all
        .map((one) => one.at)
        .toSorted()
        .toReversed(),
    );
    expect(all.find((one) => one.what === 'delete')).toMatchObject({
      objectKind: 'relationship',
      name: 'user/alice drives car/2',
      by: expect.stringMatching(/^member:/),
    });
    expect(all.find((one) => one.kind === 'decision')).toMatchObject({
      reason: 'alice is not known',
      action: 'car:read',
    });
    const bobs = (await admin('GET', '/people/user/bob/timeline?kinds=invitation')).body.items;
    expect(kinds(bobs)).toEqual(['invitation accepted']);
    const annas = await admin('GET', '/people/user/0199f2f0-7f5e-7c3a-9a53-5f4b1e0c2d11/timeline?kinds=mail');
    expect(kinds(annas.body.items)).toEqual(['mail sent']);
    expect((await admin('GET', '/people/group/alice/timeline')).body.items).toEqual([]);
  });

  test('goes on page by page without a gap or a repetition', async () => {
    const whole = await items();
    const paged: Item[] = [];
    let cursor: string | undefined;
    do {
      const { body } = await admin('GET', `${timeline}?limit=2${cursor ? `&cursor=${cursor}` : ''}`);
      paged.push(...body.items);
      cursor = body.cursor;
    } while (cursor !== undefined);
    expect(paged).toEqual(whole);
  });

  test.each([
    ['kinds=mails', '/query/kinds'],
    ['cursor=x', '/query/cursor'],
    ['limit=0', '/query/limit'],
  ])('%s is refused', async (query, pointer) => {
    const { status, body } = await admin('GET', `${timeline}?${query}`);
    expect([status, body.errors[0].pointer]).toEqual([400, pointer]);
  });

  test('support sees the person and nobody else, and the audit says about whom', async () => {
    const shown = await items('', members.support);
    expect(JSON.stringify(shown)).not.toMatch(/car\/|"c1"|not known|Bob|b\*\*\*|member:t/);
    expect(shown.find((one) => one.kind === 'relationship')).toMatchObject({
      from: { type: 'user', id: 'alice' },
      to: { type: 'car', id: '***' },
    });
    // An id that anybody can compute tells which car it is to who guesses.
    const guess = createHash('md5').update(['user', 'alice', 'drives', 'car', '1'].join('\u0001')).digest('hex');
    expect(shown.map((one) => one.id.replaceAll('-', ''))).not.toContain(guess);
    expect((await members.audit('read', 'actor')).map((one) => one.name)).toContain('user/alice');
    await members.refuses('GET', timeline, ['security-admin', 'config-editor', 'support']);
  });

  test('support sees no type and no action that are texts of the request only', async () => {
    const decided = async (id: string, by: typeof admin) =>
      ((await by('GET', `/people/user/${id}/timeline?kinds=decision`)).body.items as Item[]).map(
        ({ action, resource }) => ({ action, resource }),
      );
    expect(await decided('alice', members.support)).toEqual([
      { action: 'car:read', resource: { type: 'car', id: '***' } },
    ]);
    expect(await decided('lone', admin)).toEqual([
      { action: 'mail@example.com', resource: { type: 'only@example.com' } },
      { action: 'guess', resource: { type: 't@example.com', id: 'c1' } },
    ]);
    expect(await decided('lone', members.support)).toEqual([
      { action: '***', resource: { type: '***' } },
      { action: '***', resource: { type: '***', id: '***' } },
    ]);
  });
});

describe('a person', () => {
  test('has attributes, and when it was first and last seen', async () => {
    const { body } = await admin('GET', '/people/user/alice');
    expect(body).toMatchObject({ type: 'user', id: 'alice', attributes: { displayName: 'Alice' } });
    expect(body.firstSeen <= body.lastSeen).toBe(true);
    expect((await admin('GET', '/people/user/nobody')).body).toEqual({ type: 'user', id: 'nobody' });
    // A decision on user/alice says nothing of another type's alice.
    expect((await admin('GET', '/people/car/alice')).body).toEqual({ type: 'car', id: 'alice' });
    const support = await members.support('GET', '/people/user/alice');
    expect(support.body.attributes).toBeUndefined();
    await members.refuses('GET', '/people/user/alice', ['security-admin', 'config-editor', 'support']);
  });
});

describe('finding', () => {
  const find = async (query: string, by = admin) => {
    const { status, body } = await by('GET', `/people?${query}`);
    return status === 200 ? body.people.map((one: { id: string; by: string }) => `${one.id} ${one.by}`) : body;
  };

  test('by id, by its beginning, and by address', async () => {
    expect(await find('id=alice')).toEqual(['alice id']);
    expect(await find('id=alic')).toEqual([]);
    expect(await find('idPrefix=al')).toEqual(['alice id']);
    expect(await find('idPrefix=alice')).toEqual(['alice id']);
    expect(await find('type=car&idPrefix=1')).toContain('1 id');
    expect(await find('email=Bob.Builder@example.com')).toEqual(['bob invitation']);
    expect(await find('email=anna@example.com')).toEqual(['0199f2f0-7f5e-7c3a-9a53-5f4b1e0c2d11 account']);
    expect(await find('id=0199f2f0-7f5e-7c3a-9a53-5f4b1e0c2d11')).toEqual(['0199f2f0-7f5e-7c3a-9a53-5f4b1e0c2d11 id']);
    expect(await find('email=else@example.com')).toEqual([]);
  });

  test('page by page', async () => {
    await cars.relate('user/zoe1', 'drives', 'car/1');
    await cars.relate('user/zoe2', 'drives', 'car/1');
    const first = await admin('GET', '/people?idPrefix=zoe&limit=1');
    const second = await admin('GET', `/people?idPrefix=zoe&limit=1&cursor=${first.body.cursor}`);
    expect([first.body.people, second.body]).toMatchObject([[{ id: 'zoe1' }], { people: [{ id: 'zoe2' }] }]);
    expect(second.body.cursor).toBeUndefined();
  });

  test('one way at a time, and an address that is one', async () => {
    expect((await find('')).errors[0].pointer).toBe('/query');
    expect((await find('id=a&email=b@example.com')).errors[0].pointer).toBe('/query');
    expect((await find('email=nobody')).errors[0].pointer).toBe('/query/email');
  });

  test('support only by an id that it knows', async () => {
    expect(await find('id=alice', members.support)).toEqual(['alice id']);
    expect(await find('id=guessed', members.support)).toEqual([]);
    expect((await members.audit('read', 'actor')).map((one) => one.name)).toContain('user/guessed');
    expect((await find('idPrefix=al', members.support)).code).toBe('forbidden');
    expect((await find('email=anna@example.com', members.support)).code).toBe('forbidden');
    await members.refuses('GET', '/people?id=alice', ['security-admin', 'config-editor', 'support']);
  });
});
