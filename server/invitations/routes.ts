/** /{tenant}/sharing/invitations for the inviting side. Users are authorized by the tenant's own policies. */
import { Type } from 'typebox';
import { limits } from '../core/limits.ts';
import { UUID } from '../core/uuid.ts';
import { type App, type CountMore, TenantParams } from '../http/fastify.ts';
import { decodeCursor, encodeCursor, linkNext, PAGE_ITEMS, pageQuery } from '../http/paging.ts';
import type { HttpServices } from '../room/room.ts';
import { createInvitation, resendInvitation, revokeInvitation } from './actions.ts';
import { contextOf, type InvitationServices, readers, writers } from './authorization.ts';
import { withDisplayNames } from './display-names.ts';
import { type ListQuery, pageOfInvitations, viewInvitation } from './list.ts';
import { readDeliveries } from './mailed.ts';
import { toldOf } from './may.ts';
import { registerMemberRoutes } from './member-routes.ts';
import { targetOf, typeKeyIn, viewOf } from './rules.ts';
import { InvitationBody, InvitationDetails, InvitationView, OneParams, type Status, statuses } from './schema.ts';
import { isOwn } from './shared.ts';
import { registerSharingRoutes } from './sharing-routes.ts';
import { LanguageQuery } from './sharing-schema.ts';
import { registerTokenRoutes } from './token-routes.ts';

export type InvitationRouteServices = InvitationServices;

const idempotency = { secrets: ['requestToken'] };

export function registerInvitationRoutes(
  app: App,
  services: InvitationRouteServices,
  { countMore }: HttpServices,
): void {
  registerCreating(app, services);
  registerReading(app, services, countMore);
  registerChanging(app, services);
  registerMemberRoutes(app, services);
  registerTokenRoutes(app, services);
  registerSharingRoutes(app, services, countMore);
}

function registerCreating(app: App, services: InvitationRouteServices): void {
  app.route({
    method: 'POST',
    url: '/:tenant/sharing/invitations',
    config: { ...writers, idempotency },
    bodyLimit: limits.smallBodyBytesMax,
    schema: {
      summary: 'Create an invitation to a relationship',
      description:
        'Users are authorized by the policy From:relationship:To:invitation:create; its resource is the target. requestToken is returned to back ends, and to users if the policy returns the obligation return-token.',
      params: TenantParams,
      body: InvitationBody,
      response: { 200: InvitationView },
    },
    handler: async (request, reply) => {
      const { result, revision } = await createInvitation(services, contextOf(request), request.body);
      reply.header('accord-revision', revision);
      reply.header('location', `/${request.params.tenant}/sharing/invitations/${result.invitationId}`);
      return result;
    },
  });
}

function registerReading(app: App, services: InvitationRouteServices, countMore: CountMore): void {
  app.route({
    method: 'GET',
    url: '/:tenant/sharing/invitations',
    config: readers,
    schema: {
      summary: 'List invitations, newest first',
      description:
        'Back ends list all invitations. Users list those that they created or, with toType and toId, those to one entity: their own, and those of others that the policies From:relationship:To:invitation:read allow. withheld lists the policies that do not let the user see all invitations to the entity, whether or not there are any. received=true lists the invitations to the verified mail address of the token.',
      params: TenantParams,
      querystring: Type.Object(
        {
          status: Type.Optional(Type.Unsafe<Status>(Type.Enum([...statuses]))),
          toType: Type.Optional(
            Type.String({ minLength: 1, maxLength: 256, description: 'A type that the tenant has; otherwise 400.' }),
          ),
          toId: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
          received: Type.Optional(Type.Unsafe<'true' | 'false'>(Type.Enum(['true', 'false']))),
          actions: Type.Optional(
            Type.Unsafe<'true' | 'false'>(
              Type.Enum(['true', 'false'], {
                description: 'true: each invitation of a user has actions, what the user may do with it now.',
              }),
            ),
          ),
          ...LanguageQuery,
          ...pageQuery,
        },
        { additionalProperties: false },
      ),
      response: {
        200: Type.Object({
          invitations: Type.Array(InvitationView),
          withheld: Type.Optional(
            Type.Array(Type.String(), {
              description:
                'Of a list of one entity for a user: the policies that do not let the user see all invitations to the entity, because they answered deny or because there are none of these names. They are listed whether or not there are such invitations. Absent when nothing is withheld.',
            }),
          ),
          cursor: Type.Optional(Type.String()),
        }),
      },
    },
    handler: async (request, reply) => {
      const { limit = PAGE_ITEMS, cursor, received, actions, language, ...filter } = request.query;
      const query: ListQuery = { ...filter, received: received === 'true' };
      const before = cursor === undefined ? {} : { before: decodeCursor(cursor, 'sharing invitations', UUID) };
      const context = contextOf(request);
      const { rows, withheld, next } = await pageOfInvitations(services, context, query, { ...before, limit });
      const own = actions === 'true' && isOwn(context) ? context : undefined;
      if (own !== undefined && rows.length > 1) countMore(request as never, rows.length - 1);
      const seen = await Promise.all(
        rows.map(async (row) => ({
          ...viewOf(row, services.clock.now()),
          ...withDisplayNames(context.requestTenant, { typeKey: typeKeyIn(row), what: targetOf(row) }, language),
          ...(own === undefined ? {} : await toldOf(services, own, row, query.received === true)),
        })),
      );
      const page = { invitations: seen, ...(withheld.length === 0 ? {} : { withheld }) };
      if (next === undefined) return page;
      const onward = encodeCursor(next, 'sharing invitations');
      linkNext(reply, request.url, { limit, cursor: onward });
      return { ...page, cursor: onward };
    },
  });
  app.route({
    method: 'GET',
    url: '/:tenant/sharing/invitations/:id',
    config: readers,
    schema: {
      summary: 'Read an invitation and its deliveries',
      description:
        'Users can read the invitations that they created. For others they are authorized by the policy From:relationship:To:invitation:read.',
      params: OneParams,
      response: { 200: InvitationDetails },
    },
    handler: async (request) => {
      const { tenant, id } = request.params;
      const row = await viewInvitation(services, contextOf(request), id);
      const deliveries = await services.database.tenantSnapshot(tenant, (tx) => readDeliveries(tx, tenant, id));
      return {
        ...viewOf(row, services.clock.now()),
        deliveries,
      };
    },
  });
}

function registerChanging(app: App, services: InvitationRouteServices): void {
  app.route({
    method: 'POST',
    url: '/:tenant/sharing/invitations/:id/resend',
    config: { ...writers, idempotency },
    schema: {
      summary: 'Send an invitation again with a new requestToken, which replaces the previous one',
      description:
        'Not before 1 minute after the first delivery, 2 after the second, 4 after the third, and so on (429). Users are authorized by the policy From:relationship:To:invitation:resend.',
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
    url: '/:tenant/sharing/invitations/:id',
    config: writers,
    schema: {
      summary: 'Revoke an invitation',
      description:
        '409 if it has been accepted the maximum number of times. Users are authorized by the policy From:relationship:To:invitation:revoke.',
      params: OneParams,
      response: { 204: Type.Null() },
    },
    handler: async (request, reply) => {
      const { revision } = await revokeInvitation(services, contextOf(request), request.params.id);
      return reply.status(204).header('accord-revision', revision).send(null);
    },
  });
}
