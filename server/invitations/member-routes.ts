/** Invitations for members, in the Config API: making them for an actor, and looking after those that users and back ends made. */
import { Type } from 'typebox';
import { shownId } from '../core/auth/mask.ts';
import type { Role } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import { UUID } from '../core/uuid.ts';
import { Empty } from '../http/config-api.ts';
import { type App, memberOf, TenantParams } from '../http/fastify.ts';
import { recordViewers, recordWriters, refuseMaskedSearch } from '../http/member-access.ts';
import { decodeCursor, encodeCursor, linkNext, PAGE_ITEMS, pageQuery } from '../http/paging.ts';
import { createInvitation, resendInvitation, revokeInvitation } from './actions.ts';
import { contextOf, type InvitationServices } from './authorization.ts';
import { pageOfInvitations, viewInvitation } from './list.ts';
import { readDeliveries } from './mailed.ts';
import { viewOf } from './rules.ts';
import { InvitationDetails, InvitationView, MembersInvitationBody, type Status, statuses } from './schema.ts';

const OneParams = Type.Object({ tenant: Type.String(), id: Type.String({ pattern: UUID.source }) });
const LIST = 'members sharing invitations';
const url = '/tenants/:tenant/sharing/invitations';

const Query = Type.Object(
  {
    status: Type.Optional(Type.Unsafe<Status>(Type.Enum([...statuses]))),
    toType: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    toId: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
    ...pageQuery,
  },
  { additionalProperties: false },
);

/** Whom it is about is hidden from support. */
function shown<View extends InvitationView>(role: Role, view: View): View {
  const { to, invitor, invitee } = view;
  const { type, masked } = invitee.contact;
  return {
    ...view,
    to: { ...to, id: shownId(role, to.id) },
    invitor: { ...invitor, id: shownId(role, invitor.id) },
    invitee: { contact: { type, masked: shownId(role, masked) } },
  };
}

export function registerMemberRoutes(app: App, services: InvitationServices): void {
  registerReading(app, services);
  registerChanging(app, services);
}

function registerReading(app: App, services: InvitationServices): void {
  app.route({
    method: 'GET',
    url,
    config: recordViewers,
    schema: {
      summary: 'List invitations as a member, newest first',
      description: 'Support sees no ids and contacts, and may not search by toId.',
      params: TenantParams,
      querystring: Query,
      response: { 200: Type.Object({ invitations: Type.Array(InvitationView), cursor: Type.Optional(Type.String()) }) },
    },
    handler: async (request, reply) => {
      const { limit = PAGE_ITEMS, cursor, ...query } = request.query;
      const { role } = memberOf(request);
      refuseMaskedSearch(role, { toId: query.toId });
      const before = cursor === undefined ? {} : { before: decodeCursor(cursor, LIST, UUID) };
      const { rows, next } = await pageOfInvitations(services, contextOf(request), query, { ...before, limit });
      const invitations = rows.map((row) => shown(role, viewOf(row, services.clock.now())));
      if (next === undefined) return { invitations };
      const onward = encodeCursor(next, LIST);
      linkNext(reply, request.url, { limit, cursor: onward });
      return { invitations, cursor: onward };
    },
  });
  app.route({
    method: 'GET',
    url: `${url}/:id`,
    config: recordViewers,
    schema: {
      summary: 'Read an invitation and its deliveries as a member',
      params: OneParams,
      response: { 200: InvitationDetails },
    },
    handler: async (request) => {
      const { tenant, id } = request.params;
      const row = await viewInvitation(services, contextOf(request), id);
      const deliveries = await services.database.tenantSnapshot(tenant, (tx) => readDeliveries(tx, tenant, id));
      return {
        ...shown(memberOf(request).role, viewOf(row, services.clock.now())),
        deliveries,
      };
    },
  });
}

function registerChanging(app: App, services: InvitationServices): void {
  app.route({
    method: 'POST',
    url,
    config: { ...recordWriters, idempotency: {} },
    bodyLimit: limits.smallBodyBytesMax,
    schema: {
      summary: 'Invite somebody to a relationship for an actor as a member',
      description:
        'The invitation is mailed, and the requestToken is not in the answer. The policies of the tenant for inviting are not asked. The reason stands in the audit.',
      params: TenantParams,
      body: MembersInvitationBody,
      response: { 201: InvitationView },
    },
    handler: async (request, reply) => {
      const { reason, ...body } = request.body;
      const context = { ...contextOf(request), reason };
      const { result, revision } = await createInvitation(services, context, { ...body, delivery: 'mail' });
      reply.header('accord-revision', revision);
      reply.header('location', `/tenants/${request.params.tenant}/sharing/invitations/${result.invitationId}`);
      return reply.code(201).send(result);
    },
  });
  app.route({
    method: 'POST',
    url: `${url}/:id/resend`,
    config: { ...recordWriters, idempotency: {} },
    schema: {
      summary: 'Send an invitation again as a member, with a new requestToken, which replaces the previous one',
      description:
        'Not before 1 minute after the first delivery, 2 after the second, 4 after the third, and so on (429). Members are not told the requestToken.',
      params: OneParams,
      response: { 200: InvitationView },
    },
    handler: async (request, reply) => {
      const { result, revision } = await resendInvitation(services, contextOf(request), request.params.id);
      reply.header('accord-revision', revision);
      return result;
    },
  });
  app.route({
    method: 'DELETE',
    url: `${url}/:id`,
    config: recordWriters,
    schema: {
      summary: 'Revoke an invitation as a member',
      description: '409 if it has been accepted the maximum number of times.',
      params: OneParams,
      response: { 200: Empty },
    },
    handler: async (request, reply) => {
      const { revision } = await revokeInvitation(services, contextOf(request), request.params.id);
      reply.header('accord-revision', revision);
      return {};
    },
  });
}
