/** What whoever holds a requestToken may do: accept, decline, and look before logging in. */

import { limits } from '../core/limits.ts';
import { type App, TenantParams } from '../http/fastify.ts';
import { acceptInvitation, declineInvitation, previewInvitation } from './accept.ts';
import { askingOf, type InvitationServices, writers } from './governing.ts';
import { AcceptBody, Accepted, Declined, Preview, TokenBody } from './schema.ts';

export function registerTokenRoutes(app: App, services: InvitationServices): void {
  app.route({
    method: 'POST',
    url: '/:tenant/sharing/invitations/accept',
    config: { ...writers, once: {} },
    bodyLimit: limits.acceptBodyBytesMax,
    schema: {
      summary: 'Accept an invitation: the relationship is made, exactly once',
      description:
        'The same acceptor again gets the same answer. A user accepts for itself; the policy From:relationship:To:invitation:accept may refuse it, and without one the requestToken is enough. An invitation by a user is revoked when its invitor may no longer make it.',
      params: TenantParams,
      body: AcceptBody,
      response: { 200: Accepted },
    },
    handler: async (request, reply) => {
      const { result, revision } = await acceptInvitation(services, askingOf(request), request.body);
      reply.header('accord-revision', revision);
      return result;
    },
  });
  app.route({
    method: 'POST',
    url: '/:tenant/sharing/invitations/decline',
    config: { ...writers, once: {} },
    bodyLimit: limits.tokenBodyBytesMax,
    schema: {
      summary: 'Decline an invitation for one acceptor',
      params: TenantParams,
      body: TokenBody,
      response: { 200: Declined },
    },
    handler: async (request, reply) => {
      const { result, revision } = await declineInvitation(services, askingOf(request), request.body.requestToken);
      reply.header('accord-revision', revision);
      return result;
    },
  });
  app.route({
    method: 'POST',
    url: '/:tenant/sharing/invitations/preview',
    config: { access: { door: 'public', scarce: true } },
    bodyLimit: limits.tokenBodyBytesMax,
    schema: {
      summary: 'Look at an invitation before logging in',
      description: 'Counted by address. Of the invitor only a display name, where the tenant has stored one.',
      security: [],
      params: TenantParams,
      body: TokenBody,
      response: { 200: Preview },
    },
    handler: async (request) => previewInvitation(services, { ...request.params, ...request.body }),
  });
}
