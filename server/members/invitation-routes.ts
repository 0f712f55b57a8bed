/** Inviting members through the Config API, and the one door that is open to whoever holds a link. */
import { Type } from 'typebox';
import { KeyedSemaphore } from '../core/db/keyed-semaphore.ts';
import { limits } from '../core/limits.ts';
import { onceOf } from '../core/once.ts';
import { UUID } from '../core/uuid.ts';
import { Empty } from '../http/config-api.ts';
import { type App, memberOf, TenantParams } from '../http/fastify.ts';
import { decodeCursor, encodeCursor, PAGE_ITEMS, PageQuery, pageOfRows } from '../http/paging.ts';
import { registerInvitationPage } from './invitation-page.ts';
import { listInvitations } from './invitation-store.ts';
import { inviteMember, redeemInvitation, withdraw } from './invitations.ts';
import type { PortalServices } from './portal-token.ts';
import {
  InvitationBody,
  InvitationCreated,
  type InvitationRow,
  InvitationView,
  RedeemBody,
  Redeemed,
} from './schema.ts';

const admins = { access: { door: 'config', roles: ['security-admin'] } } as const;

export function registerInvitationRoutes(app: App, services: PortalServices): void {
  registerInvitationPage(app);
  registerRedeeming(app, services);
  registerInviting(app, services);
  registerInvitationList(app, services);
}

function registerRedeeming(app: App, services: PortalServices): void {
  // Any code may stand in a token, so the tenants' own shares of the database's connections do not bound this.
  const semaphore = new KeyedSemaphore(limits.redeemingsMax);
  app.route({
    method: 'POST',
    url: '/portal/invitations/redeem',
    config: { access: { door: 'public', scarce: true } },
    bodyLimit: limits.redeemBodyBytesMax,
    schema: {
      summary: 'Use an invitation: become a member, and get a portal token',
      description: 'Exactly once. 410 when it was used, has expired or was withdrawn.',
      security: [],
      body: RedeemBody,
      response: { 200: Redeemed },
    },
    handler: async (request, reply) => {
      const { result, revision } = await semaphore.run('', () =>
        redeemInvitation(services, request.body.token, request.id),
      );
      reply.header('accord-revision', revision);
      return result;
    },
  });
}

function registerInviting(app: App, services: PortalServices): void {
  app.route({
    method: 'POST',
    url: '/tenants/:tenant/members/invitations',
    config: { ...admins, once: { secrets: ['url'] } },
    bodyLimit: limits.smallBodyBytesMax,
    schema: {
      summary: 'Invite a member',
      description: 'The link is shown once, in this answer, and works once, for 7 days.',
      params: TenantParams,
      body: InvitationBody,
      response: { 201: InvitationCreated },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const by = { actor: `member:${memberOf(request).email}`, requestId: request.id, ...onceOf(request) };
      const { result, revision } = await inviteMember(services, tenant, request.body, by);
      reply.header('accord-revision', revision);
      reply.header('location', `/tenants/${tenant}/members/invitations/${result.id}`);
      return reply.code(201).send(result);
    },
  });
  app.route({
    method: 'DELETE',
    url: '/tenants/:tenant/members/invitations/:id',
    config: admins,
    schema: {
      summary: 'Withdraw an invitation',
      params: Type.Object({
        tenant: Type.String(),
        id: Type.String({ pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' }),
      }),
      response: { 200: Empty },
    },
    handler: async (request, reply) => {
      const { tenant, id } = request.params;
      const by = { actor: `member:${memberOf(request).email}`, requestId: request.id };
      const { revision } = await withdraw(services, tenant, id, by);
      reply.header('accord-revision', revision);
      return {};
    },
  });
}

function registerInvitationList(app: App, services: PortalServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/members/invitations',
    config: admins,
    schema: {
      summary: 'List invitations, newest first',
      params: TenantParams,
      querystring: PageQuery,
      response: {
        200: Type.Object({ invitations: Type.Array(InvitationView), cursor: Type.Optional(Type.String()) }),
      },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const { limit = PAGE_ITEMS, cursor } = request.query;
      const before = cursor === undefined ? {} : { before: decodeCursor(cursor, 'invitations', UUID) };
      const rows = await services.database.read(tenant, (tx) =>
        listInvitations(tx, tenant, { ...before, limit: limit + 1 }),
      );
      const { page, onward } = pageOfRows({ request, reply }, rows, limit, ({ id }) => encodeCursor(id, 'invitations'));
      return { invitations: page.map((row) => view(row, services.clock.now())), ...onward };
    },
  });
}

function view(row: InvitationRow, now: number) {
  const { id, email, role, expires_at: expiresAt, created_at: createdAt, created_by: createdBy } = row;
  const used = row.used_at === null ? {} : { usedAt: row.used_at };
  return { id, email, role, status: statusOf(row, now), expiresAt, createdAt, createdBy, ...used };
}

function statusOf(row: InvitationRow, now: number) {
  if (row.used_at !== null) return 'used' as const;
  // One that had expired when the next was made was closed at the instant of its expiry.
  if (Date.parse(row.expires_at) <= now || row.withdrawn_at === row.expires_at) return 'expired' as const;
  return row.withdrawn_at === null ? ('pending' as const) : ('withdrawn' as const);
}
