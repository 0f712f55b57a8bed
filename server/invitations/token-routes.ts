/** Routes for the bearer of a requestToken: accept, decline, and preview before logging in. */
import { Type } from 'typebox';
import { limits } from '../core/limits.ts';
import { type App, TenantParams, tenantOf } from '../http/fastify.ts';
import { acceptInvitation, declineInvitation, previewInvitation } from './accept.ts';
import { contextOf, type InvitationServices, writers } from './authorization.ts';
import { AcceptBody, Accepted, Declined, Preview, TokenBody } from './schema.ts';
import { LanguageQuery } from './sharing-schema.ts';

export function registerTokenRoutes(app: App, services: InvitationServices): void {
  app.route({
    method: 'POST',
    url: '/:tenant/sharing/invitations/accept',
    config: { ...writers, idempotency: {} },
    bodyLimit: limits.acceptBodyBytesMax,
    schema: {
      summary: 'Accept an invitation and create the relationship, exactly once',
      description:
        'If the same acceptor repeats the request, it gets the same answer. Users accept for themselves. If the policy From:relationship:To:invitation:accept exists, it must allow the acceptance; otherwise the requestToken is sufficient. If the invitation is bound to its contact (binding), the access token must also have the invited address as a verified one; back ends cannot accept such an invitation. An invitation by a user is revoked if its invitor is no longer allowed to invite.',
      params: TenantParams,
      body: AcceptBody,
      response: { 200: Accepted },
    },
    handler: async (request, reply) => {
      const { result, revision } = await acceptInvitation(services, contextOf(request), request.body);
      reply.header('accord-revision', revision);
      return result;
    },
  });
  app.route({
    method: 'POST',
    url: '/:tenant/sharing/invitations/decline',
    config: { ...writers, idempotency: {} },
    bodyLimit: limits.tokenBodyBytesMax,
    schema: {
      summary: 'Decline an invitation for one acceptor',
      description: 'Of users, only the one with the invited address can decline an invitation that is bound to it.',
      params: TenantParams,
      body: TokenBody,
      response: { 200: Declined },
    },
    handler: async (request, reply) => {
      const { result, revision } = await declineInvitation(services, contextOf(request), request.body);
      reply.header('accord-revision', revision);
      return result;
    },
  });
  app.route({
    method: 'POST',
    url: '/:tenant/sharing/invitations/preview',
    config: { access: { api: 'public', scarce: true } },
    bodyLimit: limits.tokenBodyBytesMax,
    schema: {
      summary: 'Read an invitation before logging in',
      description:
        'The rate limit applies to the IP address. The response names the invitor only by a display name, if the tenant has stored one.',
      security: [],
      params: TenantParams,
      querystring: Type.Object(LanguageQuery, { additionalProperties: false }),
      body: TokenBody,
      response: { 200: Preview },
    },
    handler: async (request) => {
      const asked = { requestTenant: tenantOf(request), language: request.query.language };
      return previewInvitation(services, { ...request.params, ...request.body }, asked);
    },
  });
}
