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
    const who = access?.door === 'management' ? `${access.scope}${access.users ? ' user' : ''}` : 'anybody';
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

test('a user without policies may only accept and decline what it holds, and lists nothing', async () => {
  const eve = await cars.user('eve');
  const own = body({ invitor: { type: 'user', id: 'eve' } });
  expect((await eve('POST', path(), { body: own })).body).toMatchObject({ status: 403, code: 'forbidden' });
  expect((await eve('POST', path(), { body: body() })).body).toMatchObject({
    status: 403,
    detail: 'A user invites for itself only.',
  });
  expect((await eve('GET', path())).body).toEqual({ invitations: [] });
  expect((await eve('GET', path('?toType=car&toId=1'))).body).toEqual({ invitations: [] });
  expect((await eve('GET', path(`/${invitationId}`))).status).toBe(403);
  expect((await eve('POST', path(`/${invitationId}/resend`))).status).toBe(403);
  expect((await eve('DELETE', path(`/${invitationId}`))).status).toBe(403);
  expect((await cars.accept(eve, 'bob', requestToken)).body).toMatchObject({
    status: 403,
    errors: [{ pointer: '/acceptor', detail: 'A user accepts for itself only.' }],
  });
  expect((await cars.backend('GET', path(`/${invitationId}`))).body.status).toBe('pending');
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
