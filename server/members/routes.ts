/** The Config API of members and their portal tokens. */
import { Type } from 'typebox';
import { roles } from '../core/auth/schema.ts';
import { idempotencyOf } from '../core/idempotency-key.ts';
import { limits } from '../core/limits.ts';
import { UUID } from '../core/uuid.ts';
import { Empty } from '../http/config-api.ts';
import { type App, memberOf, TenantParams } from '../http/fastify.ts';
import { decodeCursor, encodeCursor, PAGE_ITEMS, PageQuery, pageOfRows } from '../http/paging.ts';
import type { MailServices } from '../mail/index.ts';
import { removeMember, revokeToken, seesAllTokens } from './actions.ts';
import { registerMemberInvitationRoutes } from './member-invitation-routes.ts';
import { mintPortalToken, type PortalServices } from './portal-token.ts';
import { memberProblem } from './problems.ts';
import { MemberView, NewPortalTokenView, type PortalTokenRow, PortalTokenView } from './schema.ts';
import { listMembers, listPortalTokens } from './store.ts';

const UuidText = Type.String({ pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' });
const Cursor = Type.Optional(Type.String());

const everyMember = { access: { api: 'config', roles } } as const;
const admins = { access: { api: 'config', roles: ['security-admin'] } } as const;

export type MemberRouteServices = PortalServices & MailServices;

export function registerMemberRoutes(app: App, services: MemberRouteServices): void {
  registerMembers(app, services);
  registerRemoval(app, services);
  registerTokenList(app, services);
  registerTokenChanges(app, services);
  registerMemberInvitationRoutes(app, services);
}

function registerMembers(app: App, services: MemberRouteServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/members',
    config: admins,
    schema: {
      summary: 'List members',
      params: TenantParams,
      querystring: PageQuery,
      response: { 200: Type.Object({ members: Type.Array(MemberView), cursor: Cursor }) },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const { limit = PAGE_ITEMS, cursor } = request.query;
      const page = { ...(cursor === undefined ? {} : { after: decodeCursor(cursor, 'members') }), limit: limit + 1 };
      const rows = await services.database.read(tenant, (tx) => listMembers(tx, tenant, page));
      const { page: shown, onward } = pageOfRows({ request, reply }, rows, limit, ({ email }) =>
        encodeCursor(email, 'members'),
      );
      const members = shown.map(({ id, email, role, created_at }) => ({ id, email, role, createdAt: created_at }));
      return { members, ...onward };
    },
  });
}

function registerRemoval(app: App, services: MemberRouteServices): void {
  app.route({
    method: 'DELETE',
    url: '/tenants/:tenant/members/:id',
    config: admins,
    schema: {
      summary: 'Remove a member',
      description:
        "The member's portal tokens are revoked, and open member invitations of the address are withdrawn. The last security-admin cannot be removed (409).",
      params: Type.Object({ tenant: Type.String(), id: UuidText }),
      response: { 200: Empty },
    },
    handler: async (request, reply) => {
      const { revision } = await removeMember(services, memberOf(request), request.params.id, request.id);
      reply.header('accord-revision', revision);
      return {};
    },
  });
}

function registerTokenList(app: App, services: MemberRouteServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/portal-tokens',
    config: everyMember,
    schema: {
      summary: 'List portal tokens that have not expired',
      description: "The caller's own tokens; a security-admin sees those of all members.",
      params: TenantParams,
      querystring: PageQuery,
      response: { 200: Type.Object({ portalTokens: Type.Array(PortalTokenView), cursor: Cursor }) },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const member = memberOf(request);
      const { limit = PAGE_ITEMS, cursor } = request.query;
      const page = {
        ...(seesAllTokens(member) ? {} : { member: member.id }),
        ...(cursor === undefined ? {} : { before: decodeCursor(cursor, 'portal-tokens', UUID) }),
        limit: limit + 1,
        now: new Date(services.clock.now()).toISOString(),
      };
      const rows = await services.database.read(tenant, (tx) => listPortalTokens(tx, tenant, page));
      const { page: shown, onward } = pageOfRows({ request, reply }, rows, limit, ({ jti }) =>
        encodeCursor(jti, 'portal-tokens'),
      );
      return { portalTokens: shown.map((row) => view(row, member.jti)), ...onward };
    },
  });
}

function registerTokenChanges(app: App, services: MemberRouteServices): void {
  app.route({
    method: 'POST',
    url: '/tenants/:tenant/portal-tokens',
    config: { ...everyMember, idempotency: { secrets: ['token'] } },
    schema: {
      summary: 'Create a portal token (needs a session of the portal with a recent log-in)',
      params: TenantParams,
      response: { 201: NewPortalTokenView },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const { id, email, authenticatedAt } = memberOf(request);
      if (authenticatedAt === undefined) throw memberProblem('portal_token_cannot_mint');
      if (services.clock.now() - authenticatedAt >= limits.portalRecentLogInMs)
        throw memberProblem('recent_log_in_needed');
      const made = await mintPortalToken(services, tenant, { id, email }, `member:${email}`, {
        ...{ requestId: request.id, ...idempotencyOf(request) },
      });
      // A token has no page of its own: the list shows which there are.
      reply.header('location', `/tenants/${tenant}/portal-tokens`);
      return reply.status(201).header('cache-control', 'no-store').send(made);
    },
  });
  app.route({
    method: 'DELETE',
    url: '/tenants/:tenant/portal-tokens/:jti',
    config: everyMember,
    schema: {
      summary: 'Revoke a portal token',
      params: Type.Object({
        tenant: Type.String(),
        jti: UuidText,
      }),
      response: { 200: Empty },
    },
    handler: async (request, reply) => {
      const { revision } = await revokeToken(services, memberOf(request), request.params.jti, request.id);
      reply.header('accord-revision', revision);
      return {};
    },
  });
}

function view(row: PortalTokenRow, currentJti: string) {
  return {
    jti: row.jti,
    member: { id: row.member, email: row.email, role: row.role },
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    ...(row.revoked_at === null ? {} : { revokedAt: row.revoked_at }),
    current: row.jti === currentJti,
  };
}
