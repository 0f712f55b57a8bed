/** Registering, reading, inviting and revoking, at the instants that decide; and what the ledger has of it. */
import { describe, expect, test } from 'vitest';
import { type RequestContext, userOf } from '../../server/consents/request-context.ts';
import { limits } from '../../server/core/limits.ts';
import { ServedTenant, type TenantSnapshot } from '../../server/snapshot/index.ts';
import { eraseTenant, putTenant } from '../../server/tenants/index.ts';
import { createTestServer, manifestWriter, tenantSpec } from '../helpers/server.ts';
import { WallClock } from '../invitations/inviting.ts';
import { consenting, day, item } from './consenting.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
const world = () => consenting(server, clock);
const active = (name = 'news', language = 'en') => `/active?name=${name}&language=${language}`;

describe('reading what is active', () => {
  test('required, then given; a minor change makes it valid', async () => {
    const { define, user, ledger } = await world();
    await define('news', { '1 a en': 0, '1 b en': 1000 });
    const alice = user('alice');
    expect((await alice('GET', active())).body).toEqual({
      name: 'news',
      version: '1',
      document: { version: 'a', language: 'en' },
      status: 'required',
    });
    const given = await alice('POST', '', item('news', '1 a en'));
    expect(given.status).toBe(201);
    expect(given.headers.location).toMatch(new RegExp(`/consents/${given.body.id}$`));
    expect(given.headers['accord-revision']).toMatch(/^r\d+$/);
    expect(given.body).toEqual({
      id: expect.any(String),
      userId: 'alice',
      name: 'news',
      version: '1',
      document: { version: 'a', language: 'en' },
      givenAt: new Date(clock.now()).toISOString(),
    });
    expect((await alice('GET', active())).body.status).toBe('given');
    clock.advance(999);
    expect((await alice('GET', active())).body.status).toBe('given');
    clock.advance(1);
    expect((await alice('GET', active())).body).toMatchObject({ document: { version: 'b' }, status: 'valid' });
    expect(await ledger()).toEqual([
      'read required of alice: news 1 a',
      'registered registered of alice: news 1 a',
      'read given of alice: news 1 a',
      'read given of alice: news 1 a',
      'read valid of alice: news 1 b',
    ]);
  });

  test('a back end asks for a user, or for nobody; a user for itself only', async () => {
    const { define, user, backend, ledger } = await world();
    await define('news', { '1 a en': 0 });
    const reading = backend('consents:read');
    expect((await reading('GET', active())).body).toEqual({
      name: 'news',
      version: '1',
      document: { version: 'a', language: 'en' },
      status: 'active',
    });
    await user('bob')('POST', '', item('news', '1 a en'));
    expect((await reading('GET', `${active()}&userId=bob`)).body.status).toBe('given');
    expect((await reading('GET', `${active()}&userId=eve`)).body.status).toBe('required');
    expect((await user('bob')('GET', `${active()}&userId=bob`)).status).toBe(200);
    const other = await user('bob')('GET', `${active()}&userId=eve`);
    expect([other.status, other.body.errors[0].pointer]).toEqual([403, '/query/userId']);
    expect((await backend('consents:write')('GET', active())).status).toBe(403);
    expect((await ledger()).slice(-2)).toEqual(['denied forbidden of eve', 'denied insufficient_scope']);
  });

  test.each([
    ['an unknown definition', '/active?name=none&language=en', 404, 'consent_definition_not_found'],
    ['a language without documents', '/active?name=news&language=fr', 404, 'consent_not_active'],
    ['no language', '/active?name=news', 400, 'invalid_request'],
    ['no name', '/active?language=en', 400, 'invalid_request'],
    ['an unknown parameter', '/active?name=news&language=en&lang=en', 400, 'invalid_request'],
    ['an unknown name in a list', '/outstanding?names=news,none&language=en', 404, 'consent_definition_not_found'],
  ])('%s is refused, and in the ledger', async (_, path, status, code) => {
    const { define, user, ledger } = await world();
    await define('news', { '1 a en': 0 });
    const answer = await user('alice')('GET', path);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect((await ledger()).map((one) => one.replace(/:.*/, ''))).toEqual([`denied ${code} of alice`]);
  });

  test('before anything is in effect, and after everything has ended, nothing is active', async () => {
    const { define, user, end } = await world();
    await define('news', { '1 a en': 1000 });
    await end('news', '1', { startDate: 2000, endDate: 3000, gracePeriod: 'PT1S' });
    const statuses: number[] = [];
    for (const passed of [999, 1, 2000, 1]) {
      clock.advance(passed);
      statuses.push((await user('alice')('GET', active())).status);
    }
    expect(statuses).toEqual([404, 200, 200, 404]);
  });

  test('an actor of another type than the default has no consents', () => {
    const requestTenant = new ServedTenant({ tenant: 't', spec: tenantSpec() } as TenantSnapshot, () => true);
    const contextOf = (type: string): RequestContext => {
      const actor = { type, id: 'a' };
      return {
        tenant: 't',
        requestTenant,
        requestId: 'r',
        caller: { kind: 'user', tenant: 't', actor, issuer: 'i', claims: {} },
      };
    };
    expect(userOf(contextOf('user'))).toBe('a');
    expect(() => userOf(contextOf('car'))).toThrow('Only actors of the type user have consents.');
  });

  test('a list of names past consentNamesCharsMax is refused', async () => {
    const { user } = await world();
    const path = (n: number) => `/outstanding?language=en&names=${'n'.repeat(n)}`;
    expect((await user('a')('GET', path(limits.consentNamesCharsMax))).status).toBe(404);
    expect((await user('a')('GET', path(limits.consentNamesCharsMax + 1))).status).toBe(400);
  });
});

describe('a major change', () => {
  /** Version 2 is in effect from 1 s on; version 1 begins to end at 2 s, ends at 10 s, with 3 s of grace. */
  async function changing() {
    const it = await world();
    await it.define('news', { '1 a en': 0, '2 a en': 1000 });
    await it.end('news', '1', { startDate: 2000, endDate: 10_000, gracePeriod: 'PT3S' });
    await it.user('alice')('POST', '', item('news', '1 a en'));
    return it;
  }

  test("a user's own GET is the first invitation, once; grace lasts to its last instant", async () => {
    const { user, ledger } = await changing();
    const alice = user('alice');
    clock.advance(1999);
    expect((await alice('GET', active())).body).toMatchObject({ version: '1', status: 'given' });
    clock.advance(1);
    const ends = new Date(clock.now() + 3000).toISOString();
    expect((await alice('GET', active())).body).toEqual({
      name: 'news',
      version: '2',
      document: { version: 'a', language: 'en' },
      status: 'grace',
      gracePeriodEnds: ends,
    });
    clock.advance(3000);
    expect((await alice('GET', active())).body).toMatchObject({ status: 'grace', gracePeriodEnds: ends });
    clock.advance(1);
    expect((await alice('GET', active())).body).toMatchObject({ version: '2', status: 'expired' });
    expect((await ledger()).slice(1)).toEqual([
      'read given of alice: news 1 a',
      'invited grace of alice: news 1',
      'read grace of alice: news 2 a',
      'read grace of alice: news 2 a',
      'read expired of alice: news 2 a',
    ]);
  });

  test('HEAD, /me, lists and back ends do not invite: valid until endDate', async () => {
    const { user, admin } = await changing();
    const alice = user('alice');
    clock.advance(2000);
    expect((await alice('HEAD', active())).status).toBe(200);
    expect((await alice('HEAD', '/outstanding?language=en')).status).toBe(200);
    expect((await alice('GET', '/me')).body.consents).toMatchObject([{ version: '1', status: 'valid' }]);
    expect((await admin('GET', `${active()}&userId=alice`)).body).toMatchObject({ version: '2', status: 'valid' });
    expect((await admin('GET', '/outstanding?language=en&userId=alice')).body.consents).toMatchObject([
      { version: '2', status: 'valid' },
    ]);
    clock.advance(8000);
    expect((await admin('GET', `${active()}&userId=alice`)).body.status).toBe('valid');
    clock.advance(1);
    expect((await admin('GET', `${active()}&userId=alice`)).body.status).toBe('expired');
    expect((await alice('GET', '/me')).body.consents).toMatchObject([{ version: '1', status: 'expired' }]);
  });

  test('outstanding invites too, and grace is cut by endDate', async () => {
    const { user, define } = await changing();
    await define('terms', { '1 a en': 0 });
    clock.advance(8000);
    const ends = new Date(clock.now() + 2000).toISOString();
    expect((await user('alice')('GET', '/outstanding?language=en')).body.consents).toEqual([
      {
        name: 'news',
        version: '2',
        document: { version: 'a', language: 'en' },
        status: 'grace',
        gracePeriodEnds: ends,
      },
      { name: 'terms', version: '1', document: { version: 'a', language: 'en' }, status: 'required' },
    ]);
    expect((await user('alice')('GET', '/outstanding?language=en&names=terms')).body.consents).toHaveLength(1);
    await user('alice')('POST', '', [item('news', '2 a en'), item('terms', '1 a en')]);
    expect((await user('alice')('GET', '/outstanding?language=en')).body.consents).toEqual([]);
  });

  test('the tenant invites from startDate on; the first invitation stays', async () => {
    const { admin, backend, user } = await changing();
    const invite = (userId = 'alice') => admin('POST', '/invitations', { userId, name: 'news' });
    clock.advance(1999);
    expect((await invite()).body).toMatchObject({ status: 409, code: 'consent_invitation_not_due' });
    clock.advance(1);
    expect((await invite('nobody')).body.code).toBe('consent_invitation_not_due');
    const first = await invite();
    expect([first.status, first.body]).toEqual([
      201,
      {
        userId: 'alice',
        name: 'news',
        version: '1',
        invitedAt: new Date(clock.now()).toISOString(),
        gracePeriodEnds: new Date(clock.now() + 3000).toISOString(),
      },
    ]);
    clock.advance(1500);
    expect([(await invite()).status, (await invite()).body]).toEqual([200, first.body]);
    expect((await user('alice')('GET', active())).body.gracePeriodEnds).toBe(first.body.gracePeriodEnds);
    clock.advance(6501);
    expect((await invite()).status).toBe(409);
    expect((await admin('POST', '/invitations', { userId: 'alice', name: 'none' })).status).toBe(404);
    expect((await backend('consents:read')('POST', '/invitations', { userId: 'alice', name: 'news' })).status).toBe(
      403,
    );
    expect((await user('alice')('POST', '/invitations', { userId: 'alice', name: 'news' })).status).toBe(403);
  });

  test('without an effective successor there is nothing to invite to', async () => {
    const { define, end, user, admin } = await world();
    await define('news', { '1 a en': 0, '2 a en': 5000 });
    await end('news', '1', { startDate: 1000, endDate: 10_000, gracePeriod: 'PT3S' });
    await user('alice')('POST', '', item('news', '1 a en'));
    clock.advance(4999);
    expect((await admin('POST', '/invitations', { userId: 'alice', name: 'news' })).status).toBe(409);
    clock.advance(1);
    expect((await admin('POST', '/invitations', { userId: 'alice', name: 'news' })).status).toBe(201);
  });

  test('revoked in grace and given again: the old one never counts, and the invitation stays where it was', async () => {
    const { user } = await changing();
    const alice = user('alice');
    clock.advance(2000);
    const { gracePeriodEnds } = (await alice('GET', active())).body;
    const [{ id }] = (await alice('GET', '/me')).body.consents;
    expect((await alice('DELETE', `/${id}`)).status).toBe(204);
    expect((await alice('GET', active())).body).toMatchObject({ version: '2', status: 'required' });
    expect((await alice('POST', '', item('news', '1 a en'))).body.code).toBe('consent_superseded');
    expect((await alice('POST', '', item('news', '2 a en'))).status).toBe(201);
    expect((await alice('GET', active())).body.status).toBe('given');
    expect(Date.parse(gracePeriodEnds)).toBe(clock.now() + 3000);
  });
});

describe('registering', () => {
  test('again is 200 with the same consent, also after the version ended', async () => {
    const { define, user, end } = await world();
    await define('news', { '1 a en': 0, '2 a en': 1000 });
    await end('news', '1', { startDate: 2000, endDate: 3000, gracePeriod: 'PT1S' });
    const first = await user('alice')(
      'POST',
      '',
      item('news', '1 a en', { proof: { ip: '198.51.100.7', page: { n: 1 } } }),
    );
    clock.advance(5000);
    const again = await user('alice')('POST', '', item('news', '1 a en'));
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.body).toEqual(first.body);
    expect(first.body.proof).toEqual({ ip: '198.51.100.7', page: { n: 1 } });
  });

  test('to the millisecond: not in effect, superseded, ended', async () => {
    const { define, user, end } = await world();
    await define('news', { '1 a en': 1000, '1 b en': 1500, '2 a en': 2000 });
    await end('news', '1', { startDate: 3000, endDate: 4000, gracePeriod: 'PT1S' });
    const code = async (who: string, document: string) => {
      const { status, body } = await user(who)('POST', '', item('news', document));
      return status === 201 ? 'ok' : `${status} ${body.code} ${body.errors[0].pointer}`;
    };
    clock.advance(999);
    expect(await code('a', '1 a en')).toBe('409 consent_not_effective /document');
    clock.advance(1);
    expect(await code('a', '1 a en')).toBe('ok');
    clock.advance(999);
    // An earlier document of the active version.
    expect(await code('b', '1 a en')).toBe('ok');
    clock.advance(1);
    expect(await code('c', '1 a en')).toBe('409 consent_superseded /version');
    // Whose version it is may renew it, until that begins to end.
    expect(await code('a', '1 b en')).toBe('ok');
    clock.advance(999);
    expect(await code('b', '1 b en')).toBe('ok');
    clock.advance(1);
    await user('a')('POST', '', item('news', '2 a en'));
    expect(await code('d', '1 b en')).toBe('409 consent_superseded /version');
    clock.advance(1000);
    expect(await code('d', '1 b en')).toBe('409 consent_superseded /version');
    clock.advance(1);
    expect(await code('d', '1 b en')).toBe('409 consent_version_ended /version');
  });

  test('to a version that begins to end only without a successor', async () => {
    const { define, user, end } = await world();
    await define('news', { '1 a en': 0, '1 b en': 1 });
    await end('news', '1', { startDate: 1000, endDate: 2000, gracePeriod: 'PT1S' });
    clock.advance(1500);
    expect((await user('a')('POST', '', item('news', '1 a en'))).status).toBe(201);
  });

  test.each([
    ['an unknown definition', item('none', '1 a en'), 404, 'consent_definition_not_found'],
    ['an unknown version', item('news', '9 a en'), 404, 'consent_version_not_found'],
    ['a document of another version', item('news', '2 b en'), 404, 'consent_document_not_found'],
    ['an unknown language', item('news', '1 a fr'), 404, 'consent_document_not_found'],
    ['another user', item('news', '1 a en', { userId: 'eve' }), 403, 'forbidden'],
    ['no document', { name: 'news', version: '1' }, 400, 'invalid_request'],
    ['an unknown field', item('news', '1 a en', { when: 'now' }), 400, 'invalid_request'],
    ['a number as version', item('news', '1 a en', { version: 1 }), 400, 'invalid_request'],
    [
      'a proof past proofBytesMax',
      item('news', '1 a en', { proof: { a: 'x'.repeat(limits.proofBytesMax) } }),
      400,
      'invalid_request',
    ],
    ['a list of none', [], 400, 'invalid_request'],
  ])('%s is refused, and in the ledger', async (_, body, status, code) => {
    const { define, user, ledger } = await world();
    await define('news', { '1 a en': 0, '1 b en': 1, '2 a en': day });
    const answer = await user('alice')('POST', '', body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect((await user('alice')('GET', '/me')).body.consents).toEqual([]);
    expect((await ledger())[0]).toMatch(new RegExp(`^denied ${code} of (alice|eve)`));
  });

  test('bounds of a proof: proofBytesMax and proofMembersMax are accepted', async () => {
    const { define, user } = await world();
    await define('news', { '1 a en': 0, '1 b en': 1 });
    const proof = { a: 'x'.repeat(limits.proofBytesMax - '{"a":""}'.length) };
    expect((await user('a')('POST', '', item('news', '1 a en', { proof }))).status).toBe(201);
    const members = (n: number) => ({ proof: Object.fromEntries(Array.from({ length: n }, (_, i) => [`m${i}`, 1])) });
    expect((await user('b')('POST', '', item('news', '1 a en', members(limits.proofMembersMax)))).status).toBe(201);
    expect((await user('c')('POST', '', item('news', '1 a en', members(limits.proofMembersMax + 1)))).status).toBe(400);
  });

  test('a malformed body is refused, and in the ledger', async () => {
    const { tenant, ledger } = await world();
    const token = await server.user(tenant, 'alice');
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await server.app.inject({
      method: 'POST',
      url: `/${tenant}/consents`,
      headers,
      payload: '{"name":',
    });
    expect(answer.statusCode).toBe(400);
    expect(await ledger()).toEqual(['denied invalid_request of alice']);
  });

  test('so is a NUL in the address', async () => {
    const { user, ledger } = await world();
    const { status, body } = await user('alice')('GET', '/active?name=a%00b&language=en');
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(await ledger()).toEqual(['denied invalid_request of alice']);
  });

  test('a back end says for whom, and needs the scope', async () => {
    const { define, backend, admin } = await world();
    await define('news', { '1 a en': 0 });
    const nobody = await admin('POST', '', item('news', '1 a en'));
    expect([nobody.status, nobody.body.errors[0].pointer]).toEqual([400, '/userId']);
    expect((await admin('POST', '', item('news', '1 a en', { userId: 'a\u0007' }))).status).toBe(400);
    expect((await backend('consents:write')('POST', '', item('news', '1 a en', { userId: 'bob' }))).status).toBe(201);
    expect((await backend('consents:read')('POST', '', item('news', '1 a en', { userId: 'bob' }))).status).toBe(403);
  });

  test('a list of consentBatchMax, each by itself, in order', async () => {
    const { define, user, admin, ledger } = await world();
    await define('news', { '1 a en': 0, '1 b en': 1, '2 a en': day });
    const { body, status } = await user('alice')('POST', '', [
      item('news', '1 a en'),
      item('news', '2 a en'),
      item('none', '1 a en'),
      item('news', '1 a en', { userId: 'eve' }),
      item('news', '1 a en'),
    ]);
    expect(status).toBe(200);
    expect(
      body.results.map(
        (one: { status: number; problem?: { code: string } }) => `${one.status} ${one.problem?.code ?? ''}`,
      ),
    ).toEqual(['201 ', '409 consent_not_effective', '404 consent_definition_not_found', '403 forbidden', '200 ']);
    expect(body.results[4].consent).toEqual(body.results[0].consent);
    expect((await ledger()).map((one) => one.split(':')[0]).sort()).toEqual([
      'denied consent_definition_not_found of alice',
      'denied consent_not_effective of alice',
      'denied forbidden of eve',
      'registered already_given of alice',
      'registered registered of alice',
    ]);
    const many = (n: number) => Array.from({ length: n }, (_, i) => item('news', '1 a en', { userId: `u${i}` }));
    const all = await admin('POST', '', many(limits.consentBatchMax));
    expect(new Set(all.body.results.map((one: { status: number }) => one.status))).toEqual(new Set([201]));
    expect((await admin('POST', '', many(limits.consentBatchMax + 1))).status).toBe(400);
  });

  test('refusals are recorded and change nothing', async () => {
    const { define, user, ledger } = await world();
    await define('news', { '1 a en': 0, '1 b en': day });
    const refused = await user('alice')('POST', '/refusals', item('news', '1 a en'));
    expect([refused.status, refused.body]).toEqual([
      201,
      { userId: 'alice', ...item('news', '1 a en'), refusedAt: new Date(clock.now()).toISOString() },
    ]);
    expect((await user('alice')('GET', active())).body.status).toBe('required');
    expect((await user('alice')('POST', '/refusals', item('news', '1 b en'))).status).toBe(409);
    expect((await user('alice')('POST', '/refusals', item('news', '9 a en'))).status).toBe(404);
    expect((await user('alice')('POST', '/refusals', item('news', '1 a en', { userId: 'eve' }))).status).toBe(403);
    expect((await ledger())[0]).toBe('refused refused of alice: news 1 a');
  });
});

describe('revoking', () => {
  test('takes the consent and the older ones, not the newer', async () => {
    const { define, user, ledger } = await world();
    await define('news', { '1 a en': 0, '1 b en': 1, '1 c en': 2 });
    const ids: string[] = [];
    for (const document of ['1 a en', '1 b en', '1 c en']) {
      clock.advance(10);
      ids.push((await user('alice')('POST', '', item('news', document))).body.id);
    }
    expect((await user('alice')('DELETE', `/${ids[1]}`)).status).toBe(204);
    expect((await user('alice')('GET', '/me')).body.consents.map((one: { id: string }) => one.id)).toEqual([ids[2]]);
    expect((await ledger()).filter((one) => one.startsWith('revoked')).sort()).toEqual([
      'revoked revoked of alice: news 1 a',
      'revoked revoked of alice: news 1 b',
    ]);
    expect((await user('alice')('DELETE', `/${ids[0]}`)).body.code).toBe('consent_not_found');
  });

  test("a user's own only; a back end with the scope anybody's", async () => {
    const { define, user, backend, ledger } = await world();
    await define('news', { '1 a en': 0 });
    const { id } = (await user('alice')('POST', '', item('news', '1 a en'))).body;
    expect((await user('eve')('DELETE', `/${id}`)).status).toBe(403);
    expect((await user('eve')('DELETE', '/no-uuid')).status).toBe(400);
    expect((await user('eve')('DELETE', '/00000000-0000-7000-8000-000000000000')).status).toBe(404);
    expect((await backend('consents:read')('DELETE', `/${id}`)).status).toBe(403);
    expect((await backend('consents:write')('DELETE', `/${id}`)).status).toBe(204);
    expect((await ledger()).filter((one) => one.startsWith('denied'))).toEqual([
      'denied forbidden of eve',
      'denied invalid_request of eve',
      'denied consent_not_found of eve',
      'denied insufficient_scope',
    ]);
  });

  test('an old consent never revives, also one that was given later', async () => {
    const { define, user } = await world();
    // Version 2 is there in Dutch first: in English version 1 is still the newest.
    await define('news', { '1 a en': 0, '2 a nl': 1000 });
    clock.advance(1000);
    const { id } = (await user('alice')('POST', '', item('news', '2 a nl'))).body;
    clock.advance(10);
    expect((await user('alice')('POST', '', item('news', '1 a en'))).status).toBe(201);
    expect((await user('alice')('DELETE', `/${id}`)).status).toBe(204);
    expect((await user('alice')('GET', '/me')).body.consents).toEqual([]);
  });

  test('an old consent never revives, also one whose version is older in its own language only', async () => {
    const { define, user } = await world();
    await define('news', { '2 a nl': 0, '1 a en': 1000, '2 a en': 3000 });
    const { id } = (await user('alice')('POST', '', item('news', '2 a nl'))).body;
    clock.advance(1000);
    expect((await user('alice')('POST', '', item('news', '1 a en'))).status).toBe(201);
    clock.advance(2000); // in English version 2 took the place of version 1, and alice has it
    expect((await user('alice')('GET', active())).body).toMatchObject({ version: '2', status: 'valid' });
    expect((await user('alice')('DELETE', `/${id}`)).status).toBe(204);
    expect((await user('alice')('GET', active())).body).toMatchObject({ version: '2', status: 'required' });
  });
});

describe('lists', () => {
  test('of a tenant: filtered and paged; of a user: its own', async () => {
    const { define, user, admin, backend, ledger } = await world();
    await define('news', { '1 a en': 0, '1 b en': 1000 });
    await define('terms', { '1 a en': 0 });
    for (const id of ['a', 'b', 'c']) await user(id)('POST', '', [item('news', '1 a en'), item('terms', '1 a en')]);
    clock.advance(1000);
    await user('c')('POST', '', item('news', '1 b en'));
    const list = async (query: string) =>
      (await admin('GET', query)).body.consents.map(
        (one: { userId: string; name: string; status: string }) => `${one.userId} ${one.name} ${one.status}`,
      );
    expect(await list('?userId=a')).toEqual(['a terms given', 'a news valid']);
    expect(await list('?name=terms')).toEqual(['c terms given', 'b terms given', 'a terms given']);
    expect(await list('?name=news&version=1&status=given')).toEqual(['c news given']);
    const seen: string[] = [];
    for (let query = '?limit=2'; ; ) {
      const { body } = await admin('GET', query);
      seen.push(...body.consents.map((one: { id: string }) => one.id));
      if (body.cursor === undefined) break;
      query = `?limit=2&cursor=${body.cursor}`;
    }
    expect(new Set(seen).size).toBe(7);
    expect((await user('a')('GET', '')).status).toBe(403);
    expect((await backend('consents:write')('GET', '')).status).toBe(403);
    expect((await backend('consents:read')('GET', '/me')).status).toBe(403);
    expect((await user('a')('GET', '/me?limit=1')).body).toMatchObject({
      consents: [{ name: 'terms' }],
      cursor: expect.any(String),
    });
    expect((await ledger()).filter((one) => one === 'read listed of a')).toHaveLength(2);
    expect((await admin('GET', '?status=happy')).status).toBe(400);
  });
});

describe('receipts and erasure', () => {
  test("a receipt of one's own consent, and of nobody else's", async () => {
    const { define, user, backend } = await world();
    await define('news', { '1 a en': 0 });
    const { id } = (await user('alice')('POST', '', item('news', '1 a en'))).body;
    const { status, body } = await user('alice')('GET', `/${id}/receipt`);
    expect(status).toBe(200);
    const payload = JSON.parse(Buffer.from(body.receipt.split('.')[1], 'base64url').toString());
    expect(JSON.stringify(payload)).toContain(id);
    expect((await user('eve')('GET', `/${id}/receipt`)).status).toBe(403);
    expect((await backend('consents:read')('GET', `/${id}/receipt`)).status).toBe(200);
  });

  test('an erased tenant leaves no consents to a successor of its name', async () => {
    const { define, user, tenant, admin } = await world();
    await define('news', { '1 a en': 0 });
    await user('alice')('POST', '', item('news', '1 a en'));
    expect((await admin('GET', '')).body.consents).toHaveLength(1);
    await eraseTenant(server.services.tenants, manifestWriter, tenant);
    await putTenant(server.services.tenants, manifestWriter, tenant, tenantSpec());
    await server.services.snapshots.refresh(tenant);
    expect((await admin('GET', '')).body.consents).toEqual([]);
    expect((await user('alice')('GET', active())).body.code).toBe('consent_definition_not_found');
  });

  test('an erased user leaves no trace but unnamed entries', async () => {
    const { define, user, admin, backend, ledger } = await world();
    await define('news', { '1 a en': 0 });
    await user('alice')('POST', '', item('news', '1 a en'));
    await user('bob')('POST', '', item('news', '1 a en'));
    expect((await user('alice')('DELETE', '/users/alice')).status).toBe(403);
    expect((await backend('consents:read')('DELETE', '/users/alice')).status).toBe(403);
    expect((await admin('DELETE', '/users/alice')).status).toBe(204);
    expect((await admin('DELETE', '/users/nobody')).status).toBe(204);
    expect((await admin('GET', '?name=news')).body.consents).toMatchObject([{ userId: 'bob' }]);
    const entries = await ledger();
    expect(entries.filter((one) => one.includes('alice'))).toEqual([]);
    expect(entries).toContain('registered registered: news 1 a');
    expect(entries).toContain('registered registered of bob: news 1 a');
    expect(entries.filter((one) => one === 'erased erased')).toHaveLength(2);
  });

  test('an erased user takes nothing of a back end whose id is the same', async () => {
    const { define, user, admin, ledger } = await world();
    await define('news', { '1 a en': 0 });
    await user('backend')('POST', '', item('news', '1 a en')); // the id of the client that admin is
    await admin('POST', '', item('news', '1 a en', { userId: 'bob' }));
    expect((await admin('DELETE', '/users/backend')).status).toBe(204);
    const entries = await ledger();
    expect(entries).toContain('registered registered of bob: news 1 a');
    expect(entries.filter((one) => one.includes('backend'))).toEqual([]);
  });
});
