/** Who may call the routes of invitations, as one table, and what the callers of each kind are answered. */
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import type { App } from '../../server/http/fastify.ts';
import { registerInvitationRoutes } from '../../server/invitations/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { body, type Called, invitingTenant } from './inviting.ts';

const table = [
  ['POST /:tenant/sharing/invitations', 'relationships:write user'],
  ['GET /:tenant/sharing/invitations', 'relationships:read user'],
  ['GET /:tenant/sharing/invitations/:id', 'relationships:read user'],
  ['POST /:tenant/sharing/invitations/:id/resend', 'relationships:write user'],
  ['DELETE /:tenant/sharing/invitations/:id', 'relationships:write user'],
  ['POST /:tenant/sharing/invitations/:id/accept', 'relationships:write user'],
  ['POST /:tenant/sharing/invitations/:id/decline', 'relationships:write user'],
  ['GET /:tenant/sharing/offers', 'relationships:read user'],
  ['GET /:tenant/sharing/shares', 'relationships:read user'],
  ['DELETE /:tenant/sharing/shares/:id', 'relationships:write user'],
  ['POST /:tenant/sharing/invitations/accept', 'relationships:write user'],
  ['POST /:tenant/sharing/invitations/decline', 'relationships:write user'],
  ['POST /:tenant/sharing/invitations/preview', 'anybody'],
  ['GET /tenants/:tenant/sharing/invitations', 'security-admin config-editor support'],
  ['POST /tenants/:tenant/sharing/invitations', 'security-admin'],
  ['GET /tenants/:tenant/sharing/invitations/:id', 'security-admin config-editor support'],
  ['POST /tenants/:tenant/sharing/invitations/:id/resend', 'security-admin'],
  ['DELETE /tenants/:tenant/sharing/invitations/:id', 'security-admin'],
];

test('every route states who may call it', async () => {
  const stated: string[][] = [];
  const app = Fastify() as unknown as App;
  app.addHook('onRoute', ({ method, url, config }) => {
    const access = config?.access;
    const who =
      access?.api === 'config'
        ? access.roles.join(' ')
        : access?.api === 'management'
          ? `${access.scope}${access.users ? ' user' : ''}`
          : 'anybody';
    if (method !== 'HEAD') stated.push([`${String(method)} ${url}`, who]);
  });
  registerInvitationRoutes(app, {} as never, { countMore: () => {} });
  expect(stated.sort()).toEqual(table.sort());
  await app.close();
});

const server = await createTestServer();
const cars = await invitingTenant(server);
const { path } = cars;
const { invitationId, requestToken } = await cars.invite();
const calls = [
  ['POST', path(), body()],
  ['GET', path(), undefined],
  ['GET', path(`/${invitationId}`), undefined],
  ['POST', path(`/${invitationId}/resend`), undefined],
  ['DELETE', path(`/${invitationId}`), undefined],
  ['POST', path('/accept'), { acceptor: { type: 'user', id: 'bob' }, requestToken }],
  ['POST', path('/decline'), { requestToken }],
] as const;

test.each(calls)(
  '%s %s is refused to strangers, members, requestTokens and the wrong scope',
  async (method, url, payload) => {
    const send = async (token?: string) => {
      const response = await server.app.inject({
        method,
        url: `/${cars.tenant}${url}`,
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        ...(payload === undefined ? {} : { payload }),
      });
      return [response.statusCode, response.json().code];
    };
    expect(await send()).toEqual([401, 'unauthenticated']);
    expect(await send(requestToken)).toEqual([401, 'unauthenticated']);
    expect((await send(await server.member(cars.tenant, 'security-admin')))[0]).toBe(401);
    expect((await send(await server.client(cars.tenant, 'authz:evaluate', 'consents:write')))[0]).toBe(403);
    const other = await server.tenant();
    expect((await send(await server.client(other, 'pg:tenant:admin')))[0]).toBe(401);
  },
);

test('a requestToken is no Bearer token of a decision either', async () => {
  const response = await server.app.inject({
    method: 'POST',
    url: `/authz/${cars.tenant}`,
    headers: { authorization: `Bearer ${requestToken}` },
    payload: { action: 'car:read' },
  });
  expect(response.statusCode).toBe(401);
});

test('a user without policies may accept and decline what it holds, and is told what it may not see', async () => {
  const eve = await cars.user('eve');
  const own = body({ invitor: { type: 'user', id: 'eve' } });
  expect((await eve('POST', path(), { body: own })).body).toMatchObject({ status: 403, code: 'forbidden' });
  expect((await eve('POST', path(), { body: body() })).body).toMatchObject({
    status: 403,
    detail: 'Users can invite only for themselves.',
  });
  expect((await eve('GET', path())).body).toEqual({ invitations: [] });
  const policy = 'user:drives:car:invitation:read';
  // Whether there are any invitations to a car is nothing to tell eve.
  const ofCar = (await eve('GET', path('?toType=car&toId=1'))).body;
  expect(ofCar).toEqual({ invitations: [], withheld: expect.arrayContaining([policy]) });
  expect((await eve('GET', path('?toType=car&toId=none'))).body).toEqual(ofCar);
  expect((await eve('GET', path(`/${invitationId}`))).body).toMatchObject({
    status: 403,
    detail: expect.stringContaining(`The policy ${policy} does not allow this.`),
  });
  expect((await eve('POST', path(`/${invitationId}/resend`))).status).toBe(403);
  expect((await eve('DELETE', path(`/${invitationId}`))).status).toBe(403);
  expect((await cars.accept(eve, 'bob', requestToken)).body).toMatchObject({
    status: 403,
    errors: [{ pointer: '/acceptor', detail: 'Users can accept only for themselves.' }],
  });
  expect((await cars.backend('GET', path(`/${invitationId}`))).body.status).toBe('pending');
});

test('a user sees the invitations that it made, without any policy', async () => {
  const zoe = await cars.user('zoe');
  const to = { type: 'car', id: 'of-zoe' };
  const mine = await cars.invite({ to, invitor: { type: 'user', id: 'zoe' } });
  const other = await cars.invite({ to, invitor: { type: 'user', id: 'yan' } });
  const namesake = await cars.invite({ to, invitor: { type: 'group', id: 'zoe' } });
  expect((await zoe('GET', path(`/${mine.invitationId}`))).body).toMatchObject({
    invitationId: mine.invitationId,
    deliveries: [{ kind: 'response' }],
  });
  for (const { invitationId: id } of [other, namesake]) expect((await zoe('GET', path(`/${id}`))).status).toBe(403);
  const idsOf = ({ body: page }: { body?: { invitations: { invitationId: string }[] } }) =>
    page?.invitations.map((one) => one.invitationId);
  const [own, ofCar] = [await zoe('GET', path()), await zoe('GET', path('?toType=car&toId=of-zoe'))];
  expect([idsOf(own), own.body.withheld]).toEqual([[mine.invitationId], undefined]);
  expect(idsOf(ofCar)).toEqual([mine.invitationId]);
  expect(ofCar.body.withheld).toContain('user:drives:car:invitation:read');
  for (const verb of ['resend', 'revoke'])
    expect(
      (
        await zoe(
          verb === 'revoke' ? 'DELETE' : 'POST',
          path(`/${mine.invitationId}${verb === 'revoke' ? '' : '/resend'}`),
        )
      ).status,
    ).toBe(403);
});

test('a list of one entity tells nobody how many invitations there are that it does not show', async () => {
  const cars = await invitingTenant(server);
  const to = { type: 'car', id: 'busy' };
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    const invitor = { type: 'user', id: i % 2 === 0 ? 'zoe' : 'yan' };
    ids.unshift((await cars.invite({ to, invitor })).invitationId);
  }
  const [eve, zoe] = [await cars.user('eve'), await cars.user('zoe')];
  const list = async (as: Called, query: string) => (await as('GET', path(`?toType=car&${query}`))).body;
  for (const limit of ['', '&limit=1', '&limit=2'])
    expect(await list(eve, `toId=busy${limit}`)).toEqual(await list(eve, `toId=none${limit}`));
  const pages: string[][] = [];
  for (let cursor = ''; pages.length < 5; ) {
    const page = await list(zoe, `toId=busy&limit=2${cursor}`);
    pages.push(page.invitations.map((one: { invitationId: string }) => one.invitationId));
    if (page.cursor === undefined) break;
    cursor = `&cursor=${page.cursor}`;
  }
  expect(pages).toEqual([[ids[0], ids[2]], [ids[4]]]);
  // A policy that lets everybody see them withholds nothing, and one that does for some says that it does not for all.
  await cars.policy('user:drives:car:invitation:read', 'package p\ndefault outcome := "allow"');
  const open = await list(eve, 'toId=busy');
  expect(open.invitations).toHaveLength(5);
  expect(open.withheld).not.toContain('user:drives:car:invitation:read');
  await cars.policy(
    'user:drives:car:invitation:read',
    'package p\ndefault outcome := "allow"\noutcome := "deny" if input.invitation.invitor.id == "zoe"',
  );
  const partly = await list(eve, 'toId=busy');
  expect(partly.invitations).toHaveLength(2);
  expect(partly.withheld).toContain('user:drives:car:invitation:read');
  expect((await list(eve, 'toId=none')).withheld).not.toContain('user:drives:car:invitation:read');
});

test('one page of one entity looks at invitationsLookedAtMax invitations', async () => {
  const cars = await invitingTenant(server);
  const [newest, oldest] = [await cars.invite(), await cars.invite({ invitor: { type: 'user', id: 'zoe' } })];
  const copies = (count: number) =>
    asAdmin(
      server.db.adminUrl,
      `insert into accord.invitation select (jsonb_populate_record(invitation, jsonb_build_object('id', uuidv7(),
         'token_id', gen_random_uuid()))).* from accord.invitation, generate_series(1, $3) where tenant = $1 and id = $2`,
      [cars.tenant, newest.invitationId, count],
    );
  const zoe = await cars.user('zoe');
  const list = async () => (await zoe('GET', path('?toType=car&toId=1'))).body;
  await copies(limits.invitationsLookedAtMax - 1);
  expect((await list()).invitations.map((one: { invitationId: string }) => one.invitationId)).toEqual([
    oldest.invitationId,
  ]);
  await copies(1);
  const page = await list();
  expect([page.invitations, typeof page.cursor]).toEqual([[], 'string']);
});

test('a type that the tenant does not have is refused, with the one that was probably meant', async () => {
  const eve = await cars.user('eve');
  for (const as of [eve, cars.backend]) {
    const { status, body: refused } = await as('GET', path('?toType=cra'));
    expect([status, refused.code, refused.errors]).toEqual([
      400,
      'invalid_request',
      [{ pointer: '/query/toType', detail: 'No type has this name. Did you mean car?' }],
    ]);
    expect((await as('GET', path('?toType=spaceship&toId=1'))).body.detail).toBe(
      '/query/toType: No type has this name.',
    );
  }
});

test('a contact of another type is refused in words', async () => {
  const invite = async (more: object) =>
    (await cars.backend('POST', path(), { body: { ...body(), ...more } })).body.errors;
  expect(await invite({ invitee: { contact: { type: 'phone', value: 'a@b.example' } } })).toEqual([
    {
      pointer: '/invitee/contact/type',
      detail:
        'Must be email, e-mail, email_address or emailAddress, in any case: there is no other type of contact yet.',
    },
  ]);
  expect(await invite({ language: 'de_AT' })).toEqual([
    { pointer: '/language', detail: 'Must be a BCP 47 language tag, such as de or de-AT.' },
  ]);
});

test('preview counts by address (ACCORD_RATE_LIMIT)', async () => {
  const limited = await createTestServer({ ACCORD_RATE_LIMIT: '3' });
  const tenant = await limited.tenant();
  const look = async () => {
    const url = `/${tenant}/sharing/invitations/preview`;
    return (await limited.app.inject({ method: 'POST', url, payload: { requestToken: 'x' } })).statusCode;
  };
  const statuses = [await look(), await look(), await look(), await look(), await look()];
  expect(statuses.slice(0, 3)).toEqual([400, 400, 400]);
  expect(statuses).toContain(429);
});

test('what a user shares counts as the shares that policies may be asked about', async () => {
  const limited = await createTestServer({ ACCORD_RATE_LIMIT: '50' });
  const tenant = await limited.tenant();
  const ask = async (user: string, path: string) => {
    const headers = { authorization: `Bearer ${await limited.user(tenant, user)}` };
    return (await limited.app.inject({ url: `/${tenant}/sharing/${path}`, headers })).statusCode;
  };
  for (const path of ['offers', 'shares']) expect([await ask(path, path), await ask(path, path)]).toEqual([200, 429]);
});
