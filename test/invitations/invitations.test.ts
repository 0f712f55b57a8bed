/** /{tenant}/sharing/invitations on a whole server with a real Postgres: every verb, in every state. */
import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { endInvitation, readInvitation } from '../../server/invitations/store.ts';
import { accessKey } from '../../server/keys/actions.ts';
import { eraseTenant } from '../../server/tenants/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer, manifestWriter } from '../helpers/server.ts';
import { body, type Called, invitingTenant, ownersMay, WallClock } from './inviting.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
const cars = await invitingTenant(server);
const { backend, path, relate } = cars;
const bob = await cars.user('bob');
const one = (id: string) => backend('GET', path(`/${id}`));
const codeOf = (answer: { status: number; body: { code?: string } }) => [answer.status, answer.body?.code];

const behind = <Row extends object>(text: string, values: unknown[] = []) =>
  asAdmin<Row>(server.db.adminUrl, text, values);
const audit = (id: string) =>
  behind<{ actor: string; action: string; detail: unknown }>(
    `select actor #>> '{}' as actor, action, detail from accord.audit_entry
      where object_kind = 'invitation' and object_name = $1 order by at, id`,
    [id],
  );

describe('an invitation', () => {
  test('is made as the specification shows, accepted, and grants the relationship from the next decision on', async () => {
    const made = await backend('POST', path(), { body: body({ to: { type: 'car', id: 'a' } }) });
    expect(made.status).toBe(200);
    expect(made.headers['accord-revision']).toMatch(/^r\d+$/);
    expect(made.headers['cache-control']).toBe('no-store');
    const { invitationId, requestToken, ...rest } = made.body;
    expect(rest).toEqual({
      status: 'pending',
      relationshipType: 'drives',
      direction: 'acceptor_to_target',
      to: { type: 'car', id: 'a' },
      invitor: { type: 'user', id: 'alice' },
      invitee: { contact: { type: 'email', masked: 'B***@example.com' } },
      binding: 'none',
      createdAt: new Date(clock.now()).toISOString(),
      expiresAt: new Date(clock.now() + 7 * 86_400_000).toISOString(),
      maxUses: 1,
      uses: 0,
    });
    const accepted = await cars.accept(bob, 'bob', requestToken);
    const relationship = {
      from: { id: 'bob', type: 'user' },
      relationshipType: 'drives',
      to: { id: 'a', type: 'car' },
    };
    expect([accepted.status, accepted.body]).toEqual([200, { invitationId, status: 'accepted', relationship }]);
    expect(await cars.relationshipsOf('bob')).toEqual([{ relationshipType: 'drives', to: { id: 'a', type: 'car' } }]);
    const again = await cars.accept(bob, 'bob', requestToken);
    expect([again.status, again.body]).toEqual([200, accepted.body]);
    const details = (await one(invitationId)).body;
    expect(details).toMatchObject({
      status: 'accepted',
      uses: 1,
      deliveries: [{ kind: 'response', status: 'delivered' }],
    });
    expect(details).not.toHaveProperty('requestToken');
    expect((await audit(invitationId)).map((entry) => [entry.actor, entry.action])).toEqual([
      ['client:backend', 'create'],
      ['user:user:bob', 'accept'],
    ]);
  });

  test('accepted again after the relationship was deleted, it stays deleted', async () => {
    const { requestToken } = await cars.invite({ to: { type: 'car', id: 'del' } });
    const dan = await cars.user('dan');
    expect((await cars.accept(dan, 'dan', requestToken)).status).toBe(200);
    await backend('DELETE', '/actors/user/dan/relationships/drives/car/del');
    expect((await cars.accept(dan, 'dan', requestToken)).status).toBe(200);
    expect(await cars.relationshipsOf('dan')).toEqual([]);
  });

  test('that another took is 409, with one use; with more, as many may', async () => {
    const { requestToken } = await cars.invite({ to: { type: 'car', id: 'taken' } });
    await cars.accept(bob, 'bob', requestToken);
    expect(codeOf(await cars.accept(await cars.user('eve'), 'eve', requestToken))).toEqual([409, 'invitation_used_up']);
    const shared = await cars.invite({ relationshipType: 'cleans', maxUses: 2, to: { type: 'car', id: 'taken' } });
    const answers = [];
    for (const id of ['x', 'y', 'x', 'z']) {
      answers.push((await cars.accept(await cars.user(id), id, shared.requestToken)).status);
      if (id === 'x') expect((await one(shared.invitationId)).body.uses).toBeGreaterThan(0);
    }
    expect(answers).toEqual([200, 200, 200, 409]);
  });

  test('to a relationship that begins at the target makes it that way', async () => {
    const made = await cars.invite({ relationshipType: 'has_guest', to: { type: 'car', id: 'g' } });
    expect(made.direction).toBe('target_to_acceptor');
    const accepted = await cars.accept(bob, 'bob', made.requestToken);
    expect(accepted.body.relationship).toEqual({
      from: { type: 'car', id: 'g' },
      relationshipType: 'has_guest',
      to: { type: 'user', id: 'bob' },
    });
  });

  test('for a group is accepted for a group, by the back end', async () => {
    const made = await cars.invite({
      ...{ relationshipType: 'may_use', to: { type: 'car', id: 'gr' } },
      invitee: { contact: { type: 'EMAIL', value: 'g@example.com' }, type: 'group' },
    });
    const wrong = await cars.accept(bob, 'bob', made.requestToken);
    expect([codeOf(wrong), wrong.body.errors[0].pointer]).toEqual([[400, 'invalid_request'], '/acceptor/type']);
    expect((await cars.accept(backend, 'family', made.requestToken, 'group')).status).toBe(200);
  });

  test('gives a relationship that ends, and does not shorten one that is there', async () => {
    const until = new Date(clock.now() + 60_000).toISOString();
    const made = await cars.invite({ to: { type: 'car', id: 'until' }, relationshipExpiresAt: until });
    expect(made.expiresAt).toBe(until);
    const [first, second] = [await cars.user('first'), await cars.user('second')];
    await cars.accept(first, 'first', made.requestToken);
    await relate('user/second', 'drives', 'car/until');
    const other = await cars.invite({ to: { type: 'car', id: 'until' }, relationshipExpiresAt: until });
    expect((await cars.accept(second, 'second', other.requestToken)).status).toBe(200);
    clock.advance(59_999);
    expect(await cars.relationshipsOf('first')).toHaveLength(1);
    clock.advance(1);
    expect(await cars.relationshipsOf('first')).toEqual([]);
    expect(await cars.relationshipsOf('second')).toHaveLength(1);
  });

  test('can be accepted one millisecond before it expires, and not at that instant or after it', async () => {
    const soon = (ms: number) => new Date(clock.now() + ms).toISOString();
    const invite = () => cars.invite({ to: { type: 'car', id: 'exp' }, expiresAt: soon(10_000) });
    const [early, exact, late] = [await invite(), await invite(), await invite()];
    clock.advance(9999);
    expect((await cars.accept(bob, 'bob', early.requestToken)).status).toBe(200);
    expect((await one(exact.invitationId)).body.status).toBe('pending');
    clock.advance(1);
    for (const verb of ['accept', 'decline', 'preview']) {
      const acceptor = verb === 'accept' ? { acceptor: { type: 'user', id: 'bob' } } : {};
      const answer = await bob('POST', path(`/${verb}`), { body: { ...acceptor, requestToken: exact.requestToken } });
      expect([verb, ...codeOf(answer)]).toEqual([verb, 410, 'invitation_expired']);
    }
    expect((await one(exact.invitationId)).body.status).toBe('expired');
    clock.advance(1);
    expect(codeOf(await cars.accept(bob, 'bob', late.requestToken))).toEqual([410, 'invitation_expired']);
    expect(codeOf(await backend('POST', path(`/${late.invitationId}/resend`)))).toEqual([410, 'invitation_expired']);
    expect(codeOf(await backend('DELETE', path(`/${late.invitationId}`)))).toEqual([410, 'invitation_expired']);
  });

  test.each([
    ['an unknown field', { expiresat: 'x' }, 'invalid_request', '/expiresat'],
    ['no invitor', { invitor: undefined }, 'invalid_request', '/invitor'],
    ['an unknown relationship', { relationshipType: 'flies' }, 'type_unknown', '/relationshipType'],
    ['one that is not shared', { relationshipType: 'is_owner_of' }, 'invitation_not_offered', undefined],
    ['one that is switched off', { relationshipType: 'paints' }, 'invitation_not_offered', undefined],
    ['several types', { relationshipType: 'may_use' }, 'invalid_request', '/invitee/type'],
    [
      'no address',
      { invitee: { contact: { type: 'email', value: 'bob at home' } } },
      'invalid_request',
      '/invitee/contact/value',
    ],
    [
      'a telephone',
      { invitee: { contact: { type: 'phone', value: '+49 30 1' } } },
      'invalid_request',
      '/invitee/contact/type',
    ],
    ['an id with a NUL', { to: { type: 'car', id: 'a\0' } }, 'invalid_request', '/to/id'],
    ['an id of 1025 bytes', { to: { type: 'car', id: 'é'.repeat(513) } }, 'invalid_request', '/to/id'],
    ['too many uses', { maxUses: 2 }, 'invalid_request', '/maxUses'],
    ['another address to go on to', { redirectUri: 'https://app.example/done?a=2' }, 'invalid_request', '/redirectUri'],
    ['too long', { expiresAt: '2036-01-01T00:00:00Z' }, 'invalid_request', '/expiresAt'],
  ])('with %s is 400 and says where', async (_, more, code, pointer) => {
    const before = (await behind<{ n: number }>('select count(*)::int as n from accord.invitation'))[0]?.n;
    const answer = await backend('POST', path(), { body: body(more) });
    expect([codeOf(answer), answer.body.errors?.[0]?.pointer]).toEqual([[400, code], pointer]);
    expect((await behind<{ n: number }>('select count(*)::int as n from accord.invitation'))[0]?.n).toBe(before);
  });

  test('keeps what it was asked for', async () => {
    const more = { redirectUri: 'https://app.example/done?a=1', language: 'de-AT', delivery: 'event' };
    const { invitationId } = await cars.invite(more);
    const [row] = await behind<object>('select language, redirect_uri, delivery from accord.invitation where id = $1', [
      invitationId,
    ]);
    expect(row).toEqual({ language: 'de-AT', redirect_uri: more.redirectUri, delivery: 'event' });
  });

  test('says of a delivery that does not happen yet that it has no effect', async () => {
    const made = async (delivery: string) => cars.invite({ to: { type: 'car', id: `by-${delivery}` }, delivery });
    expect((await made('event')).note).toContain('delivery: event has no effect');
    for (const delivery of ['response', 'mail']) expect(await made(delivery)).not.toHaveProperty('note');
  });
});

describe('declining, revoking, sending again', () => {
  test('declined is over, for everybody; declined again by the same is the same', async () => {
    const { requestToken, invitationId } = await cars.invite();
    const decline = (as: Called) => as('POST', path('/decline'), { body: { requestToken } });
    const declined = await decline(bob);
    expect([declined.status, declined.body]).toEqual([200, { invitationId, status: 'declined' }]);
    expect((await decline(bob)).status).toBe(200);
    expect(codeOf(await decline(await cars.user('eve')))).toEqual([410, 'invitation_declined']);
    expect(codeOf(await cars.accept(bob, 'bob', requestToken))).toEqual([410, 'invitation_declined']);
    expect(codeOf(await backend('DELETE', path(`/${invitationId}`)))).toEqual([410, 'invitation_declined']);
    expect((await audit(invitationId)).map((entry) => entry.action)).toEqual(['create', 'decline']);
  });

  test('one of several acceptors cannot decline for the others', async () => {
    const { requestToken } = await cars.invite({ relationshipType: 'cleans', maxUses: 2 });
    expect(codeOf(await bob('POST', path('/decline'), { body: { requestToken } }))).toEqual([409, 'invitation_shared']);
  });

  test('revoked is 204 and over, revoked again 204; once accepted 409', async () => {
    const { requestToken, invitationId } = await cars.invite();
    expect((await backend('DELETE', path(`/${invitationId}`))).status).toBe(204);
    expect((await backend('DELETE', path(`/${invitationId}`))).status).toBe(204);
    expect((await audit(invitationId)).map((entry) => entry.action)).toEqual(['create', 'revoke']);
    expect(codeOf(await cars.accept(bob, 'bob', requestToken))).toEqual([410, 'invitation_revoked']);
    const taken = await cars.invite({ to: { type: 'car', id: 'r' } });
    await cars.accept(bob, 'bob', taken.requestToken);
    expect(codeOf(await backend('DELETE', path(`/${taken.invitationId}`)))).toEqual([409, 'invitation_accepted']);
    expect(codeOf(await backend('POST', path(`/${taken.invitationId}/resend`)))).toEqual([409, 'invitation_accepted']);
    expect(codeOf(await bob('POST', path('/decline'), { body: taken }))).toEqual([400, 'invalid_request']);
    const { requestToken: old } = taken;
    expect(codeOf(await bob('POST', path('/decline'), { body: { requestToken: old } }))).toEqual([
      409,
      'invitation_accepted',
    ]);
  });

  test('sent again, the old token is void; not before the pause, which doubles (invitationResendPauseMs)', async () => {
    const { requestToken, invitationId } = await cars.invite({ to: { type: 'car', id: 'again' }, delivery: 'mail' });
    const resend = () => backend('POST', path(`/${invitationId}/resend`));
    const early = await resend();
    expect([codeOf(early), early.headers['retry-after']]).toEqual([[429, 'rate_limited'], '60']);
    expect([early.headers['ratelimit-policy'], early.headers.ratelimit]).toEqual([
      '"invitation-deliveries";q=1;w=60',
      '"invitation-deliveries";r=0;t=60',
    ]);
    clock.advance(limits.invitationResendPauseMs - 1);
    expect((await resend()).status).toBe(429);
    clock.advance(1);
    const fresh = (await resend()).body.requestToken;
    expect(codeOf(await cars.accept(bob, 'bob', requestToken))).toEqual([410, 'invitation_token_void']);
    expect(codeOf(await bob('POST', path('/preview'), { body: { requestToken } }))).toEqual([
      410,
      'invitation_token_void',
    ]);
    clock.advance(2 * limits.invitationResendPauseMs - 1);
    expect((await resend()).status).toBe(429);
    clock.advance(1);
    const newest = (await resend()).body.requestToken;
    expect((await one(invitationId)).body.deliveries.map((d: object) => d)).toMatchObject(
      Array.from({ length: 3 }, () => ({ kind: 'mail', status: 'recorded' })),
    );
    expect(codeOf(await cars.accept(bob, 'bob', fresh))).toEqual([410, 'invitation_token_void']);
    expect((await cars.accept(bob, 'bob', newest)).status).toBe(200);
    expect((await audit(invitationId)).map((entry) => entry.action)).toEqual(['create', 'resend', 'resend', 'accept']);
  });

  test('a target that is forgotten, or an invitor, ends what waits for it', async () => {
    const to = { type: 'car', id: 'forgotten' };
    const [target, invited] = [await cars.invite({ to }), await cars.invite({ invitor: { type: 'user', id: 'gone' } })];
    expect((await backend('DELETE', '/resources/car/forgotten')).status).toBe(204);
    expect((await backend('DELETE', '/actors/user/gone')).status).toBe(204);
    expect((await backend('DELETE', '/resources/car/forgotten')).status).toBe(404);
    for (const { requestToken } of [target, invited])
      expect(codeOf(await cars.accept(bob, 'bob', requestToken))).toEqual([410, 'invitation_revoked']);
  });

  test('a type that is shared no more, or gone, is not given', async () => {
    const own = await invitingTenant(server);
    const user = await own.user('bob');
    const { requestToken, invitationId } = await own.invite();
    await own.config('PUT', '/relationship-types/user:drives:car', { body: { invitation: { enabled: false } } });
    expect(codeOf(await own.accept(user, 'bob', requestToken))).toEqual([410, 'invitation_revoked']);
    await own.config('DELETE', '/relationship-types/user:drives:car');
    expect(codeOf(await own.accept(user, 'bob', requestToken))).toEqual([410, 'invitation_revoked']);
    await own.config('PUT', '/relationship-types/user:drives:car', { body: { invitation: { enabled: true } } });
    expect((await own.accept(user, 'bob', requestToken)).status).toBe(200);
    expect((await own.backend('GET', own.path(`/${invitationId}`))).body.status).toBe('accepted');
  });
});

test('a transaction of another tenant sees none of them, whatever it asks for (row-level security)', async () => {
  const { invitationId } = await cars.invite();
  const other = await server.tenant();
  const { database } = server.services;
  const read = (as: string) => database.tenant(as, (tx) => readInvitation(tx, cars.tenant, invitationId));
  expect([(await read(cars.tenant))?.id, await read(other), await read('')]).toEqual([
    invitationId,
    undefined,
    undefined,
  ]);
  const now = new Date(clock.now()).toISOString();
  const end = { status: 'revoked', by: 'eve', now } as const;
  await database.tenant(other, (tx) => endInvitation(tx, cars.tenant, invitationId, end));
  expect((await one(invitationId)).body.status).toBe('pending');
});

test('an erased tenant leaves nothing', async () => {
  const own = await invitingTenant(server);
  const { requestToken } = await own.invite();
  await own.accept(await own.user('bob'), 'bob', requestToken);
  await eraseTenant(server.services.tenants, manifestWriter, own.tenant);
  for (const table of ['invitation', 'invitation_use', 'invitation_delivery', 'signing_key'])
    expect([table, await behind(`select 1 from accord.${table} where tenant = $1`, [own.tenant])]).toEqual([table, []]);
});

describe('what is told', () => {
  test('preview tells the target and a display name that is stored, nothing of the invitee, and no ids of people', async () => {
    const { requestToken, expiresAt } = await cars.invite({ invitor: { type: 'user', id: 'shown' } });
    const look = async () => {
      const url = `/${cars.tenant}${path('/preview')}`;
      const response = await server.app.inject({ method: 'POST', url, payload: { requestToken } });
      return [response.statusCode, response.json()];
    };
    const told = {
      relationshipType: 'drives',
      direction: 'acceptor_to_target',
      to: { type: 'car', id: '1' },
      expiresAt,
      binding: 'none',
    };
    expect(await look()).toEqual([200, told]);
    await backend('PUT', '/actors/user/shown', { body: { displayName: 'Anna A.' } });
    expect(await look()).toEqual([200, { ...told, invitor: { displayName: 'Anna A.' } }]);
  });

  test('lists by state and target, newest first, in pages', async () => {
    const own = await invitingTenant(server);
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.unshift((await own.invite({ to: { type: 'car', id: `${i % 2}` } })).invitationId);
    await own.backend('DELETE', own.path(`/${ids[0]}`));
    const list = async (query: string) => {
      const { body: answer } = await own.backend('GET', own.path(query));
      return answer.invitations.map((row: { invitationId: string }) => row.invitationId);
    };
    expect(await list('')).toEqual(ids);
    expect(await list('?status=revoked')).toEqual([ids[0]]);
    expect(await list('?status=pending&toType=car&toId=1')).toEqual([ids[1], ids[3]]);
    expect(await list('?status=expired')).toEqual([]);
    const seen: string[] = [];
    for (let next = own.path('?limit=2&toType=car'); next !== ''; ) {
      const { headers, body: answer } = await own.backend('GET', next);
      seen.push(...answer.invitations.map((row: { invitationId: string }) => row.invitationId));
      const link = /<[^?]*(\?[^>]*)>; rel="next"/.exec(String(headers.link))?.[1];
      expect(link === undefined).toBe(answer.cursor === undefined);
      next = link === undefined ? '' : own.path(link);
    }
    expect(seen).toEqual(ids);
    expect((await own.backend('GET', own.path('?cursor=x'))).status).toBe(400);
    expect((await own.backend('GET', own.path(`/${randomUUID()}`))).status).toBe(404);
    expect((await backend('GET', path(`/${ids[1]}`))).body.code).toBe('invitation_not_found'); // another tenant's
  });

  test('received=true lists those to the verified address of the token, and nobody else sees them so', async () => {
    const own = await invitingTenant(server);
    const { invitationId } = await own.invite({ invitee: { contact: { type: 'email', value: 'Me@Example.com' } } });
    await own.invite();
    const { privateKey, kid } = await server.services.database.tenant(own.tenant, (tx) =>
      accessKey(server.services.keys, tx, own.tenant),
    );
    const received = async (claims: object) => {
      const token = await new SignJWT({ sub: 'me', client_id: 'app', ...claims })
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid })
        .setIssuer(`http://accord.test/${own.tenant}/oidc`)
        .setAudience('https://api.test')
        .setExpirationTime(clock.seconds() + 600)
        .sign(privateKey);
      const url = `/${own.tenant}${path('?received=true')}`;
      const response = await server.app.inject({ url, headers: { authorization: `Bearer ${token}` } });
      return response.json();
    };
    const mine = await received({ email: 'me@example.COM', email_verified: true });
    expect(mine.invitations.map((row: { invitationId: string }) => row.invitationId)).toEqual([invitationId]);
    expect((await received({ email: 'other@example.com', email_verified: true })).invitations).toEqual([]);
    for (const claims of [{ email: 'me@example.com' }, { email: 'me@example.com', email_verified: 'true' }, {}])
      expect(await received(claims)).toMatchObject({ status: 403, code: 'invitation_address_unverified' });
    expect((await own.backend('GET', own.path('?received=true'))).status).toBe(400);
  });

  test('an address is sealed while it is needed, then wiped, and is in no audit, log or answer', async () => {
    const address = 'secret.person@hidden.example';
    const invitee = { contact: { type: 'email', value: address } };
    const sealed = async (id: string) =>
      (
        await behind<{ s: Buffer | null }>('select contact_encrypted as s from accord.invitation where id = $1', [id])
      )[0]?.s;
    const to = { type: 'car', id: 'wipe' };
    const [taken, revoked, told, expiring] = [
      await cars.invite({ invitee, to, delivery: 'mail' }),
      await cars.invite({ invitee, to, delivery: 'mail' }),
      await cars.invite({ invitee, to, delivery: 'response' }),
      await cars.invite({ invitee, to, delivery: 'mail', expiresAt: new Date(clock.now() + 5000).toISOString() }),
    ];
    const { encrypter } = server.services.invitations;
    const opened = encrypter.decrypt((await sealed(taken.invitationId)) as Buffer, [
      'invitation',
      cars.tenant,
      'contact',
      taken.invitationId,
    ]);
    expect(opened.toString()).toBe(address);
    expect(await sealed(told.invitationId)).toBeNull();
    await cars.accept(bob, 'bob', taken.requestToken);
    await backend('DELETE', path(`/${revoked.invitationId}`));
    expect([await sealed(taken.invitationId), await sealed(revoked.invitationId)]).toEqual([null, null]);
    clock.advance(5000);
    expect(await sealed(expiring.invitationId)).not.toBeNull();
    await cars.invite({ to });
    expect(await sealed(expiring.invitationId)).toBeNull();
    const dump = await behind<{ t: string }>(
      `select a::text as t from accord.audit_entry a union all select i::text from accord.invitation i
        union all select d::text from accord.invitation_delivery d`,
    );
    const everything = [
      ...dump.map((row) => row.t),
      JSON.stringify(server.observations, (_, v) => (v instanceof Error ? String(v.stack) : v)),
    ].join('\n');
    expect(everything).not.toContain('secret.person');
    for (const { requestToken } of [taken, revoked, told, expiring])
      expect(everything).not.toContain(requestToken.split('.')[2]);
  });

  test('as many contacts of expired ones are wiped at a time as invitationsWipedMax', async () => {
    const own = await invitingTenant(server);
    const soon = new Date(clock.now() + 2000).toISOString();
    for (let i = 0; i <= limits.invitationsWipedMax; i++) await own.invite({ delivery: 'mail', expiresAt: soon });
    clock.advance(2000);
    const left = async () =>
      (
        await behind<{ n: number }>(
          'select count(*)::int as n from accord.invitation where tenant = $1 and contact_encrypted is not null',
          [own.tenant],
        )
      )[0]?.n;
    await own.invite();
    expect(await left()).toBe(1);
    await own.invite();
    expect(await left()).toBe(0);
  });
});

describe('users, by the policies of the tenant', () => {
  const policy = (verb: string) => `user:drives:car:invitation:${verb}`;
  const invite = (as: Called, more: object = {}) =>
    as('POST', path(), {
      body: body({ to: { type: 'car', id: 'owned' }, invitor: { type: 'user', id: 'alice' }, ...more }),
    });

  test('invite, read, send again and revoke as they allow, and are told the token by return-token only', async () => {
    const alice = await cars.user('alice');
    expect(codeOf(await invite(alice))).toEqual([403, 'forbidden']);
    for (const verb of ['create', 'read', 'resend', 'revoke']) await cars.policy(policy(verb), ownersMay());
    expect(codeOf(await invite(alice))).toEqual([403, 'forbidden']);
    await relate('user/alice', 'is_owner_of', 'car/owned');
    const made = await invite(alice, { invitor: undefined });
    expect([made.status, made.body.requestToken, made.body.invitor]).toEqual([
      200,
      undefined,
      { type: 'user', id: 'alice' },
    ]);
    const id = made.body.invitationId;
    expect((await one(id)).body.deliveries).toMatchObject([{ kind: 'mail', status: 'recorded' }]);
    expect(codeOf(await invite(alice, { delivery: 'response' }))).toEqual([403, 'forbidden']);
    expect((await alice('GET', path(`/${id}`))).body.invitationId).toBe(id);
    expect((await alice('GET', path())).body.invitations[0].invitationId).toBe(id);
    expect((await bob('GET', path('?toType=car&toId=owned'))).body).toEqual({
      invitations: [],
      withheld: expect.arrayContaining([policy('read')]),
    });
    expect((await alice('GET', path('?toType=car&toId=owned'))).body.invitations).toHaveLength(1);
    clock.advance(60_000);
    const resent = await alice('POST', path(`/${id}/resend`));
    expect([resent.status, resent.body.requestToken]).toEqual([200, undefined]);
    expect((await bob('DELETE', path(`/${id}`))).status).toBe(403);
    expect((await alice('DELETE', path(`/${id}`))).status).toBe(204);
    await cars.policy(policy('create'), ownersMay('obligations := ["return-token"]'));
    const told = await invite(alice);
    expect(told.body.requestToken).toMatch(/^eyJ/);
    expect((await one(told.body.invitationId)).body.deliveries).toMatchObject([{ kind: 'response' }]);
    expect(codeOf(await alice('POST', path(`/${told.body.invitationId}/resend`)))[0]).toBe(403); // resend does not oblige
  });

  test('accepting asks again for whoever invited: a lost right is 410, and the invitation is revoked', async () => {
    const alice = await cars.user('alice');
    const { invitationId, requestToken } = (await invite(alice)).body;
    const byTenant = await cars.invite({ to: { type: 'car', id: 'owned' } });
    await backend('DELETE', '/actors/user/alice/relationships/is_owner_of/car/owned');
    const carol = await cars.user('carol');
    expect(codeOf(await cars.accept(carol, 'carol', requestToken))).toEqual([410, 'invitation_revoked']);
    expect((await one(invitationId)).body.status).toBe('revoked');
    expect(await cars.relationshipsOf('carol')).toEqual([]);
    await relate('user/alice', 'is_owner_of', 'car/owned');
    expect((await cars.accept(carol, 'carol', requestToken)).status).toBe(410); // it does not come back
    await backend('DELETE', '/actors/user/alice/relationships/is_owner_of/car/owned');
    expect((await cars.accept(carol, 'carol', byTenant.requestToken)).status).toBe(200);
    await relate('user/alice', 'is_owner_of', 'car/owned');
  });

  test('accepting is refused by a policy that says so, and only then', async () => {
    const { requestToken, invitationId } = await cars.invite({ to: { type: 'car', id: 'guarded' } });
    await cars.policy(
      policy('accept'),
      `package p
default outcome := "deny"
outcome := "allow" if {
  input.subject.id == "frank"
  input.context.relationship == {"from": {"type": "user", "id": "frank"}, "relationshipType": "drives", "to": {"type": "car", "id": "guarded"}}
  input.invitation.id == "${invitationId}"
  input.invitation.to == {"type": "car", "id": "guarded"}
  input.invitation.status == "pending"
}`,
    );
    const refused = await cars.accept(bob, 'bob', requestToken);
    expect([codeOf(refused), refused.body.detail]).toEqual([
      [403, 'forbidden'],
      'The policy user:drives:car:invitation:accept does not allow this.',
    ]);
    expect((await cars.accept(await cars.user('frank'), 'frank', requestToken)).status).toBe(200);
    await cars.config('DELETE', `/policies/${encodeURIComponent(policy('accept'))}`);
  });
});

test('a user invites invitationsPerUserMax times in an hour, whoever is invited; a back end is not counted', async () => {
  await cars.policy('user:drives:car:invitation:create', 'package p\noutcome := "allow"');
  const flooding = await cars.user('flooding');
  const invitedBy = (as: Called, more: object) => as('POST', path(), { body: body(more) });
  const asked = (n: number) => ({
    invitor: { type: 'user', id: 'flooding' },
    invitee: { contact: { type: 'email', value: `somebody-${n}@example.com` } },
  });
  for (let n = 0; n < limits.invitationsPerUserMax; n++) expect((await invitedBy(flooding, asked(n))).status).toBe(200);
  const refused = await invitedBy(flooding, asked(-1));
  expect([...codeOf(refused), refused.headers['retry-after']]).toEqual([429, 'rate_limited', expect.any(String)]);
  expect((await backend('POST', path(), { body: body(asked(-1)) })).status).toBe(200);
  clock.advance(3_600_000);
  expect((await invitedBy(await cars.user('flooding'), asked(-2))).status).toBe(200);
});
