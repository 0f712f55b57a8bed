/** What a user shares and has, what it may share, and answering an invitation to its own address without a token. */
import { Type } from 'typebox';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import { type App, type CountMore, TenantParams } from '../http/fastify.ts';
import { acceptInvitation, declineInvitation } from './accept.ts';
import { contextOf, type InvitationServices, readers, writers } from './authorization.ts';
import { withDisplayNames } from './display-names.ts';
import { listOffers } from './offers.ts';
import { Accepted, Declined, OneParams } from './schema.ts';
import { endShared, isOwn, listOwn, listReceived, listShared, type OwnContext, type Shared } from './shared.ts';
import { LanguageQuery, OffersView, ShareParams, SharesView } from './sharing-schema.ts';

/** Each may be asked about by policies, as a request of its own: the access hook counted one. */
const SHARES = 3 * limits.accountItemsMax - 1;
const OFFERS = limits.sharingOffersMax - 1;

export function registerSharingRoutes(app: App, services: InvitationServices, countMore: CountMore): void {
  registerShares(app, services, countMore);
  registerAnswering(app, services);
}

/** @throws Problem forbidden */
function ownContextOf(request: Parameters<typeof contextOf>[0]): OwnContext {
  const context = contextOf(request);
  if (isOwn(context)) return context;
  throw problem('forbidden', { detail: 'Only users can call this endpoint. Back ends read relationships.' });
}

/** The other end of a relationship that somebody else accepted is not told: the invitor knows it by its address. */
function viewOf(context: OwnContext, shared: Shared, language: string | undefined) {
  const { id, what, relationship, contact, invitor, since, canEnd } = shared;
  const { relationshipType, expiresAt } = relationship;
  return {
    ...{ id, what, relationshipType, ...withDisplayNames(context.requestTenant, shared, language), canEnd },
    ...(contact === undefined ? {} : { contact }),
    ...(invitor === undefined ? {} : { invitor: { displayName: invitor } }),
    ...(since === undefined ? {} : { since }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

function registerShares(app: App, services: InvitationServices, countMore: CountMore): void {
  app.route({
    method: 'GET',
    url: '/:tenant/sharing/shares',
    config: readers,
    schema: {
      summary: 'List what a user shares and has',
      description:
        'Only for users. given: what others accepted of the user and still have. received: what the user accepted of others and still has. own: its other relationships, if the policy type:relationships:list allows it to read them. canEnd says whether the policy From:relationship:To:delete allows the user to end it.',
      params: TenantParams,
      querystring: Type.Object(LanguageQuery, { additionalProperties: false }),
      response: { 200: SharesView },
    },
    handler: async (request) => {
      const context = ownContextOf(request);
      countMore(request as never, SHARES);
      const [given, received, own] = await Promise.all([
        listShared(services, context),
        listReceived(services, context),
        listOwn(services, context),
      ]);
      const { language } = request.query;
      const view = (one: Shared) => viewOf(context, one, language);
      const known = new Set(received.rows.map(({ id }) => id));
      const others = own?.rows.filter(({ id }) => !known.has(id));
      return {
        given: given.rows.map(view),
        received: received.rows.map(view),
        ...(others === undefined ? {} : { own: others.map(view) }),
        more: given.more || received.more || own?.more === true,
      };
    },
  });
  app.route({
    method: 'DELETE',
    url: '/:tenant/sharing/shares/:id',
    config: writers,
    schema: {
      summary: 'End what a user shares or has',
      description:
        'Only for users; the id is that of the list, which names it for this user only. They are authorized by the policy From:relationship:To:delete.',
      params: ShareParams,
      response: { 204: Type.Null() },
    },
    handler: async (request, reply) => {
      const context = ownContextOf(request);
      countMore(request as never, SHARES);
      const { revision } = await endShared(services, context, request.params.id);
      return reply.status(204).header('accord-revision', revision).send(null);
    },
  });
  app.route({
    method: 'GET',
    url: '/:tenant/sharing/offers',
    config: readers,
    schema: {
      summary: 'List what a user may share by invitation',
      description:
        'Only for users: the relationships to itself and to what it has that the policies From:relationship:To:invitation:create allow it to offer to other users. What it has is looked at if the policy type:relationships:list allows it to read that.',
      params: TenantParams,
      querystring: Type.Object(LanguageQuery, { additionalProperties: false }),
      response: { 200: OffersView },
    },
    handler: async (request) => {
      const context = ownContextOf(request);
      countMore(request as never, OFFERS);
      const { rows, more } = await listOffers(services, context);
      const { language } = request.query;
      const offers = rows.map(({ typeKey, ...one }) => ({
        ...one,
        ...withDisplayNames(context.requestTenant, { typeKey, what: one.to }, language),
      }));
      return { offers, more };
    },
  });
}

const received =
  'Only for users whose access token has the invited address as a verified one, as in the list with received=true; no requestToken is needed.';

function registerAnswering(app: App, services: InvitationServices): void {
  app.route({
    method: 'POST',
    url: '/:tenant/sharing/invitations/:id/accept',
    config: { ...writers, idempotency: {} },
    schema: {
      summary: 'Accept an invitation to the address of the user',
      description: `${received} The policies are those of an acceptance by token.`,
      params: OneParams,
      response: { 200: Accepted },
    },
    handler: async (request, reply) => {
      const context = ownContextOf(request);
      const ticket = { acceptor: context.caller.actor, invitationId: request.params.id };
      const { result, revision } = await acceptInvitation(services, context, ticket);
      reply.header('accord-revision', revision);
      return result;
    },
  });
  app.route({
    method: 'POST',
    url: '/:tenant/sharing/invitations/:id/decline',
    config: { ...writers, idempotency: {} },
    schema: {
      summary: 'Decline an invitation to the address of the user',
      description: received,
      params: OneParams,
      response: { 200: Declined },
    },
    handler: async (request, reply) => {
      const ticket = { invitationId: request.params.id };
      const { result, revision } = await declineInvitation(services, ownContextOf(request), ticket);
      reply.header('accord-revision', revision);
      return result;
    },
  });
}
