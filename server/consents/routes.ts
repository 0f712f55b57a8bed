/** /{tenant}/consents: giving and revoking, and what tenants do for their users. */
import { Type } from 'typebox';
import { limits } from '../core/limits.ts';
import { type App, type CountMore, TenantParams } from '../http/fastify.ts';
import { eraseUser, inviteUser, refuseConsent, revokeConsent } from './actions.ts';
import { registerAdoptionRoutes } from './adoption-routes.ts';
import type { ConsentBatchWriter } from './batch-writer.ts';
import { registerMemberRoutes } from './member-routes.ts';
import { registerReadRoutes } from './read-routes.ts';
import type { ReceiptServices } from './receipts.ts';
import { registerConsents } from './registering.ts';
import { type ConsentServices, contextOf, type RequestContext } from './request-context.ts';
import { OneParams, tenantWriters, writers } from './route-parts.ts';
import {
  BatchView,
  InvitationBody,
  InvitedView,
  RefusalBody,
  RefusalView,
  RegisterBody,
  UserConsentView,
} from './schema.ts';

type ConsentRouteServices = ConsentServices & ReceiptServices & { batchWriter: ConsentBatchWriter };

/** @param countMore counts the further items of a batch as requests of their own */
export function registerConsentRoutes(app: App, services: ConsentRouteServices, countMore: CountMore): void {
  registerReadRoutes(app, services);
  registerGiving(app, services, countMore);
  registerTaking(app, services);
  registerMemberRoutes(app, services);
  registerAdoptionRoutes(app, services);
}

function registerGiving(app: App, services: ConsentRouteServices, countMore: CountMore): void {
  app.route({
    method: 'POST',
    url: '/:tenant/consents',
    config: { ...writers, idempotency: {} },
    bodyLimit: limits.bodyBytesMax,
    errorHandler: services.deniedRequests.errorHandler,
    schema: {
      summary: 'Register one consent, or a list of up to 50',
      description:
        'The document must be in effect and belong to the active version, or to the version that the user consented to if its end of life has not started. If the consent was already given, the status is 200. A list is answered with 200 and one result per item.',
      params: TenantParams,
      body: RegisterBody,
      response: { 200: Type.Union([UserConsentView, BatchView]), 201: UserConsentView },
    },
    handler: async (request, reply) => {
      const context = contextOf(request);
      const { body } = request;
      const batch = Array.isArray(body);
      if (batch) countMore(request as never, body.length - 1);
      const { result, revision } = await registerConsents(services, context, batch ? body : [body], batch);
      reply.header('accord-revision', revision);
      if (batch) return { results: result };
      const [only] = result;
      if (only?.consent === undefined) throw new Error('a consent was neither registered nor refused');
      if (only.status === 201) reply.status(201).header('location', `/${context.tenant}/consents/${only.consent.id}`);
      return only.consent;
    },
  });
  app.route({
    method: 'POST',
    url: '/:tenant/consents/refusals',
    config: { ...writers, idempotency: {} },
    bodyLimit: limits.smallBodyBytesMax,
    errorHandler: services.deniedRequests.errorHandler,
    schema: {
      summary: 'Record that a user declines a document',
      params: TenantParams,
      body: RefusalBody,
      response: { 201: RefusalView },
    },
    handler: async (request, reply) => {
      const context = contextOf(request);
      const { result, revision } = await refuseConsent(services, context, request.body);
      reply
        .status(201)
        .header('accord-revision', revision)
        .header('location', recordOf(context, 'refused', result));
      return result;
    },
  });
  app.route({
    method: 'POST',
    url: '/:tenant/consents/invitations',
    config: { ...tenantWriters, idempotency: {} },
    bodyLimit: limits.smallBodyBytesMax,
    errorHandler: services.deniedRequests.errorHandler,
    schema: {
      summary: 'Invite a user to the successor of the version that it consented to',
      description: 'The first invitation starts the grace period and is kept. A repeated request is answered with 200.',
      params: TenantParams,
      body: InvitationBody,
      response: { 200: InvitedView, 201: InvitedView },
    },
    handler: async (request, reply) => {
      const context = contextOf(request);
      const { result, revision } = await inviteUser(services, context, request.body);
      reply.header('accord-revision', revision);
      if (result.created) reply.status(201).header('location', recordOf(context, 'invited', result.invited));
      return result.invited;
    },
  });
}

/** Where the ledger has what was made, and nothing else has. */
function recordOf(
  { tenant, caller }: RequestContext,
  type: string,
  { name, userId }: { name: string; userId: string },
): string {
  const [path, who] = caller.kind === 'user' ? ['events/me', {}] : ['events', { userId }];
  return `/${tenant}/consents/${path}?${new URLSearchParams({ type, name, ...who })}`;
}

function registerTaking(app: App, services: ConsentRouteServices): void {
  app.route({
    method: 'DELETE',
    url: '/:tenant/consents/:id',
    config: writers,
    errorHandler: services.deniedRequests.errorHandler,
    schema: {
      summary: "Revoke a consent and the user's older consents of the same definition",
      params: OneParams,
      response: { 204: Type.Null() },
    },
    handler: async (request, reply) => {
      const { revision } = await revokeConsent(services, contextOf(request), request.params.id);
      return reply.status(204).header('accord-revision', revision).send(null);
    },
  });
  app.route({
    method: 'DELETE',
    url: '/:tenant/consents/users/:userId',
    config: tenantWriters,
    errorHandler: services.deniedRequests.errorHandler,
    schema: {
      summary: 'Erase the consents and consent invitations of a user, and its id in the ledger',
      params: Type.Object({ tenant: Type.String(), userId: Type.String() }),
      response: { 204: Type.Null() },
    },
    handler: async (request, reply) => {
      const { revision } = await eraseUser(services, contextOf(request), request.params.userId);
      return reply.status(204).header('accord-revision', revision).send(null);
    },
  });
}
