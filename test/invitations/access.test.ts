/** Who may call the routes of invitations, as one table, and what the callers of each kind are answered. */
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import type { App } from '../../server/http/fastify.ts';
import { registerInvitationRoutes } from '../../server/invitations/index.ts';
import { createTestServer } from '../helpers/server.ts';
import { body, invitingTenant } from './inviting.ts';

const table = [
  ['POST /:tenant/sharing/invitations', 'relationships:write user'],
  ['GET /:tenant/sharing/invitations', 'relationships:read user'],
  ['GET /:tenant/sharing/invitations/:id', 'relationships:read user'],
  ['POST /:tenant/sharing/invitations/:id/resend', 'relationships:write user'],
  ['DELETE /:tenant/sharing/invitations/:id', 'relationships:write user'],
  ['POST /:tenant/sharing/invitations/accept', 'relationships:write user'],
  ['POST /:tenant/sharing/invitations/decline', 'relationships:write user'],
  ['POST /:tenant/sharing/invitations/preview', 'anybody'],
];

test('every route states who may call it', async () => {
  const stated: string[][] = [];
  const app = Fastify() as unknown as App;
  app.addHook('onRoute', ({ method, url, config }) => {
    const access = config?.access;
    const who = access?.api === 'management' ? `${access.scope}${access.users ? ' user' : ''}` : 'anybody';
    if (method !== 'HEAD') stated.push([`${String(method)} ${url}`, who]);
  });
  registerInvitationRoutes(app, {} as never);
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
  expect((await eve('GET', path('?toType=car&toId=1'))).body).toEqual({ invitations: [], withheld: [policy] });
  expect((await eve('GET', path('?toType=car&toId=none'))).body).toEqual({ invitations: [] });
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
  expect([idsOf(ofCar), ofCar.body.withheld]).toEqual([[mine.invitationId], ['user:drives:car:invitation:read']]);
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
