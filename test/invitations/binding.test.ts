/** Invitations that are bound to their contact: only a token whose verified address is the invited one accepts. */
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { startIdentityProvider } from '../core/auth/identity-provider.ts';
import { asAdmin, waitingForLock } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';
import { configClient } from '../policies/config-client.ts';
import { body, type Called, invitingTenant, WallClock } from './inviting.ts';

const clock = new WallClock();
const server = await createTestServer({ ACCORD_OUTBOUND_ALLOW: '127.0.0.0/8' }, undefined, clock);
const cars = await invitingTenant(server);
const { backend, path, accept } = cars;

const codeOf = ({ status, body: answer }: { status: number; body?: { code?: string } }) => [status, answer?.code];
const [unverified, mismatch] = [
  [403, 'invitation_address_unverified'],
  [403, 'invitation_contact_mismatch'],
];
const contact = (value: string) => ({ invitee: { contact: { type: 'email', value } } });
/** To the type whose invitations are bound. */
const invite = (more: object = {}) => cars.invite({ relationshipType: 'borrows', ...more });
const statusOf = async (id: string) => (await backend('GET', path(`/${id}`))).body.status;
const setBinding = async (type: string, binding: string, more: object = {}) => {
  const put = await cars.config('PUT', `/relationship-types/${type}`, { body: { invitation: { binding, ...more } } });
  expect([put.status, put.body]).toEqual([200, {}]);
};

describe('the verified address of the token', () => {
  test.each([['bob.builder@example.com'], ['Bob.Builder@example.com'], ['BOB.BUILDER@EXAMPLE.COM']])(
    '%s accepts',
    async (email) => {
      const { requestToken } = await invite();
      const answer = await accept(await cars.user('bob', email), 'bob', requestToken);
      expect([answer.status, answer.body.status]).toEqual([200, 'accepted']);
    },
  );

  test.each([
    ['another address', 'eve@example.com', mismatch],
    ['other dots', 'bobbuilder@example.com', mismatch],
    ['something after a plus', 'bob.builder+x@example.com', mismatch],
    ['another domain', 'bob.builder@example.org', mismatch],
    ['no address', undefined, unverified],
  ])('%s does not, and learns nothing', async (_, email, refusal) => {
    const { requestToken, invitationId } = await invite({ to: { type: 'car', id: 'refused' } });
    const eve = await cars.user('eve', email);
    const refused = await accept(eve, 'eve', requestToken);
    expect(codeOf(refused)).toEqual(refusal);
    expect(refused.text).not.toMatch(/@|example|builder/i);
    expect(codeOf(await eve('POST', path('/decline'), { body: { requestToken } }))).toEqual(refusal);
    expect(await statusOf(invitationId)).toBe('pending');
    expect(await cars.relationshipsOf('eve')).toEqual([]);
    const detail = await asAdmin<{ action: string }>(
      server.db.adminUrl,
      'select action from accord.audit_entry where object_name = $1',
      [invitationId],
    );
    expect(detail).toEqual([{ action: 'create' }]);
    expect((await accept(await cars.user('bob', 'bob.builder@example.com'), 'bob', requestToken)).status).toBe(200);
  });

  test.each([
    ['bob@münchen.example', 'bob@xn--mnchen-3ya.example'],
    ['bob@xn--mnchen-3ya.example', 'BOB@München.Example'],
    ['jose\u0301@example.org', 'jos\u00e9@example.org'],
  ])('invited as %s, it accepts as %s', async (invited, email) => {
    const { requestToken } = await invite(contact(invited));
    expect(codeOf(await accept(await cars.user('eve', 'bob@munchen.example'), 'eve', requestToken))).toEqual(mismatch);
    expect((await accept(await cars.user('bob', email), 'bob', requestToken)).status).toBe(200);
  });

  test('declines for its own', async () => {
    const { requestToken, invitationId } = await invite();
    const bob = await cars.user('bob', 'bob.builder@example.com');
    expect((await bob('POST', path('/decline'), { body: { requestToken } })).status).toBe(200);
    expect(await statusOf(invitationId)).toBe('declined');
  });

  test('who has accepted is answered the same again, also by a token without the address', async () => {
    const { requestToken } = await invite({ to: { type: 'car', id: 'again' } });
    const first = await accept(await cars.user('bob', 'bob.builder@example.com'), 'bob', requestToken);
    const again = await accept(await cars.user('bob'), 'bob', requestToken);
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(codeOf(await accept(await cars.user('eve'), 'eve', requestToken))).toEqual([409, 'invitation_used_up']);
  });

  test('a back end cannot accept for a user, and may decline as it may revoke', async () => {
    const { requestToken, invitationId } = await invite();
    const refused = await accept(backend, 'bob', requestToken);
    expect(codeOf(refused)).toEqual(unverified);
    expect(refused.body.detail).toContain('A back end has no address');
    expect(await statusOf(invitationId)).toBe('pending');
    expect((await backend('POST', path('/decline'), { body: { requestToken } })).status).toBe(200);
  });
});

describe('an invited contact', () => {
  test.each([
    ['Bob Builder <bob@example.org>', /without a display name/],
    ['bob@example.org (Bob)', /without a comment/],
    ['"bob builder"@example.org', /without a quoted/],
    ['bob@[192.0.2.1]', /not an IP address/],
    ['bob@127.1', /not an IP address/],
    ['bob@example..org', /not a domain name/],
    ['bob', /an e-mail address/],
  ])('%s is refused, bound or not', async (value, why) => {
    for (const relationshipType of ['borrows', 'drives']) {
      const made = await backend('POST', path(), { body: body({ relationshipType, ...contact(value) }) });
      expect(codeOf(made)).toEqual([400, 'invalid_request']);
      expect(made.body.errors).toEqual([
        { pointer: '/invitee/contact/value', detail: expect.stringMatching(why) as string },
      ]);
    }
  });

  test('is shown masked, whatever letters it begins with', async () => {
    const made = await invite(contact('\u{20000}b@münchen.example'));
    expect(made.invitee).toEqual({ contact: { type: 'email', masked: '\u{20000}***@münchen.example' } });
  });
});

describe('trusted issuers say which claims hold the address', async () => {
  const admin = await configClient(server, cars.tenant, 'security-admin');
  const [one, two] = [await startIdentityProvider(), await startIdentityProvider()];
  for (const [name, idp, more] of [
    ['one', one, {}],
    [
      'two',
      two,
      { sharesActors: true, contactClaims: { email: 'https://two.example/mail', emailVerified: 'mail.ok' } },
    ],
  ] as const) {
    await idp.addKey(name);
    const issuer = { issuer: idp.issuer, jwksUri: idp.jwksUri, ...more };
    expect((await admin('PUT', `/trusted-issuers/${name}`, { body: issuer })).status).toBe(200);
  }
  await server.services.snapshots.refresh(cars.tenant);
  const by = async (idp: typeof one, claims: object, requestToken: string) => {
    const token = await idp.sign({
      ...{ iss: idp.issuer, sub: 'bob', aud: 'https://api.test', exp: clock.seconds() + 600 },
      ...claims,
    });
    const response = await server.app.inject({
      method: 'POST',
      url: `/${cars.tenant}${path('/accept')}`,
      headers: { authorization: `Bearer ${token}` },
      payload: { acceptor: { type: 'user', id: 'bob' }, requestToken },
    });
    return codeOf({ status: response.statusCode, body: response.json() });
  };
  const address = 'bob.builder@example.com';
  const standard = { email: address, email_verified: true };
  const own = { 'https://two.example/mail': address, mail: { ok: true } };

  test('by default email and email_verified, which is the boolean true', async () => {
    const { requestToken } = await invite();
    for (const claims of [
      {},
      { email: address },
      { email_verified: true },
      { ...standard, email_verified: false },
      { ...standard, email_verified: 'true' },
      { ...standard, email_verified: 1 },
      { ...standard, email_verified: [true] },
      { ...standard, email: [address] },
      { ...standard, email: { value: address } },
      { ...standard, email: null },
      { ...standard, email: '' },
      { ...standard, email: ` ${address}` },
      { ...standard, email: `Bob <${address}>` },
      { ...standard, email: `${address}, eve@example.com` },
      own,
    ])
      expect([claims, await by(one, claims, requestToken)]).toEqual([claims, unverified]);
    expect(await by(one, standard, requestToken)).toEqual([200, undefined]);
  });

  test('otherwise the paths that contactClaims names, and no others', async () => {
    const { requestToken } = await invite();
    for (const claims of [
      standard,
      { ...own, mail: { ok: 'true' } },
      { ...own, mail: { ok: true, 'https://two.example/mail': address }, 'https://two.example/mail': undefined },
      { ...own, mail: [true] },
    ])
      expect([claims, await by(two, claims, requestToken)]).toEqual([claims, unverified]);
    expect(await by(two, { ...own, ...standard, 'https://two.example/mail': 'eve@example.com' }, requestToken)).toEqual(
      mismatch,
    );
    expect(await by(two, own, requestToken)).toEqual([200, undefined]);
  });
});

describe('a binding that changes', () => {
  const strangers = async () => ({ eve: await cars.user('eve', 'eve@example.com'), bob: await cars.user('bob', bobs) });
  const bobs = 'bob.builder@example.com';
  const previewOf = async (requestToken: string) =>
    (await backend('POST', path('/preview'), { body: { requestToken } })).body.binding;

  test('binds what was made before', async () => {
    const { eve, bob } = await strangers();
    const made = await cars.invite({ relationshipType: 'lends' });
    expect([made.binding, await previewOf(made.requestToken)]).toEqual(['none', 'none']);
    await setBinding('user:lends:car', 'contact');
    expect(await previewOf(made.requestToken)).toBe('contact');
    expect(codeOf(await accept(eve, 'eve', made.requestToken))).toEqual(mismatch);
    expect((await accept(bob, 'bob', made.requestToken)).status).toBe(200);
  });

  test('does not set free what was made with it', async () => {
    const { eve, bob } = await strangers();
    await setBinding('user:lends:car', 'contact');
    const made = await cars.invite({ relationshipType: 'lends' });
    await setBinding('user:lends:car', 'none');
    expect([made.binding, await previewOf(made.requestToken)]).toEqual(['contact', 'contact']);
    expect(codeOf(await eve('POST', path('/decline'), { body: { requestToken: made.requestToken } }))).toEqual(
      mismatch,
    );
    expect(codeOf(await accept(eve, 'eve', made.requestToken))).toEqual(mismatch);
    expect((await accept(bob, 'bob', made.requestToken)).status).toBe(200);
    const free = await cars.invite({ relationshipType: 'lends' });
    expect((await accept(eve, 'eve', free.requestToken)).status).toBe(200);
  });

  test('while somebody accepts, counts: it is looked at in the transaction that accepts', async () => {
    const { eve } = await strangers();
    await setBinding('user:lends:car', 'none');
    const { requestToken, invitationId } = await cars.invite({ relationshipType: 'lends' });
    const writer = new pg.Client({ connectionString: server.db.adminUrl });
    await writer.connect();
    try {
      // As a write of configuration does: it has the tenant's row, and is not committed yet.
      await writer.query('begin');
      await writer.query('select from accord.tenant where tenant = $1 for update', [cars.tenant]);
      await writer.query(
        `update accord.relationship_type set spec = jsonb_set(spec, '{invitation,binding}', '"contact"')
         where tenant = $1 and name = 'lends'`,
        [cars.tenant],
      );
      const accepting = accept(eve, 'eve', requestToken);
      await until('the one who accepts', async () => (await waitingForLock(server.db.adminUrl)) > 0);
      await writer.query('commit');
      expect(codeOf(await accepting)).toEqual(mismatch);
    } finally {
      await writer.end();
    }
    expect(await statusOf(invitationId)).toBe('pending');
  });
});

test('of many tokens with the address and as many without it, one of those with it wins', async () => {
  const { requestToken, invitationId } = await invite({ to: { type: 'car', id: 'crowd' } });
  const callers: [string, Called][] = await Promise.all(
    Array.from({ length: 40 }, async (_, i) => [
      `u${i}`,
      await cars.user(`u${i}`, i % 2 === 0 ? 'bob.builder@example.com' : `u${i}@example.com`),
    ]),
  );
  const answers = await Promise.all(callers.map(([id, as]) => accept(as, id, requestToken)));
  const of = (rest: number) => answers.filter((_, i) => i % 2 === rest).map(({ status }) => status);
  expect(of(0).filter((status) => status === 200)).toHaveLength(1);
  expect(of(0).filter((status) => status === 409)).toHaveLength(19);
  // Those without the address are told so, or that it is taken.
  expect(of(1).every((status) => status === 403 || status === 409)).toBe(true);
  expect((await backend('GET', path(`/${invitationId}`))).body).toMatchObject({ status: 'accepted', uses: 1 });
  expect((await backend('GET', '/resources/car/crowd/relationships')).body).toHaveLength(1);
});

test.each([['some'], [true], [null]])('binding: %j is refused by the Config API', async (binding) => {
  const put = await cars.config('PUT', '/relationship-types/user:lends:car', { body: { invitation: { binding } } });
  expect([put.status, put.body.errors?.[0]?.pointer]).toEqual([400, '/invitation/binding']);
});
