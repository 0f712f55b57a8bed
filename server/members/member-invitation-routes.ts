/** Inviting members through the Config API, and the public route for the holder of a link. */
import { Type } from 'typebox';
import { idempotencyOf } from '../core/idempotency-key.ts';
import { KeyedSemaphore } from '../core/keyed-semaphore.ts';
import { limits } from '../core/limits.ts';
import { UUID } from '../core/uuid.ts';
import { Empty } from '../http/config-api.ts';
import { type App, memberOf, TenantParams } from '../http/fastify.ts';
import { decodeCursor, encodeCursor, PAGE_ITEMS, PageQuery, pageOfRows } from '../http/paging.ts';
import type { MailServices } from '../mail/index.ts';
import { registerMemberInvitationPage } from './member-invitation-page.ts';
import { listMemberInvitations } from './member-invitation-store.ts';
import {
  inviteMember,
  type MemberInvitingServices,
  redeemMemberInvitation,
  withdrawMemberInvitation,
} from './member-invitations.ts';
import type { PortalServices } from './portal-token.ts';
import { memberInvitationStatus } from './rules.ts';
import {
  MemberInvitationBody,
  MemberInvitationCreated,
  type MemberInvitationRow,
  MemberInvitationView,
  RedeemBody,
  Redeemed,
} from './schema.ts';

const admins = { access: { api: 'config', roles: ['security-admin'] } } as const;

export function registerMemberInvitationRoutes(app: App, services: PortalServices & MailServices): void {
  registerMemberInvitationPage(app);
  registerRedeeming(app, services);
  registerMemberInviting(app, services);
  registerMemberInvitationList(app, services);
}

function registerRedeeming(app: App, services: PortalServices): void {
  // Any code may stand in a token, so the tenants' own shares of the database's connections do not bound this.
  const semaphore = new KeyedSemaphore(limits.redeemingsMax);
  app.route({
    method: 'POST',
    url: '/portal/invitations/redeem',
    config: { access: { api: 'public', scarce: true } },
    bodyLimit: limits.redeemBodyBytesMax,
    schema: {
      summary: 'Accept a member invitation and get a portal token',
      description: 'Works exactly once. 410 if the invitation was used, has expired or was withdrawn.',
      security: [],
      body: RedeemBody,
      response: { 200: Redeemed },
    },
    handler: async (request, reply) => {
      const { result, revision } = await semaphore.run('', () =>
        redeemMemberInvitation(services, request.body.token, request.id),
      );
      reply.header('accord-revision', revision);
      return result;
    },
  });
}

function registerMemberInviting(app: App, services: MemberInvitingServices): void {
  app.route({
    method: 'POST',
    url: '/tenants/:tenant/members/invitations',
    config: { ...admins, idempotency: { secrets: ['url'] } },
    bodyLimit: limits.smallBodyBytesMax,
    schema: {
      summary: 'Invite a member',
      description:
        'The invited address gets a mail with the link. The link is also returned, only in this response. It works once and expires after 7 days.',
      params: TenantParams,
      body: MemberInvitationBody,
      response: { 201: MemberInvitationCreated },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const by = { actor: `member:${memberOf(request).email}`, requestId: request.id, ...idempotencyOf(request) };
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
      summary: 'Withdraw a member invitation',
      params: Type.Object({
        tenant: Type.String(),
        id: Type.String({ pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' }),
      }),
      response: { 200: Empty },
    },
    handler: async (request, reply) => {
      const { tenant, id } = request.params;
      const by = { actor: `member:${memberOf(request).email}`, requestId: request.id };
      const { revision } = await withdrawMemberInvitation(services, tenant, id, by);
      reply.header('accord-revision', revision);
      return {};
    },
  });
}

function registerMemberInvitationList(app: App, services: PortalServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/members/invitations',
    config: admins,
    schema: {
      summary: 'List member invitations, newest first',
      params: TenantParams,
      querystring: PageQuery,
      response: {
        200: Type.Object({ invitations: Type.Array(MemberInvitationView), cursor: Type.Optional(Type.String()) }),
      },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const { limit = PAGE_ITEMS, cursor } = request.query;
      const before = cursor === undefined ? {} : { before: decodeCursor(cursor, 'invitations', UUID) };
      const rows = await services.database.read(tenant, (tx) =>
        listMemberInvitations(tx, tenant, { ...before, limit: limit + 1 }),
      );
      const { page, onward } = pageOfRows({ request, reply }, rows, limit, ({ id }) => encodeCursor(id, 'invitations'));
      return { invitations: page.map((row) => view(row, services.clock.now())), ...onward };
    },
  });
}

function view(row: MemberInvitationRow, now: number) {
  const { id, email, role, expires_at: expiresAt, created_at: createdAt, created_by: createdBy } = row;
  const used = row.used_at === null ? {} : { usedAt: row.used_at };
  return { id, email, role, status: memberInvitationStatus(row, now), expiresAt, createdAt, createdBy, ...used };
}
