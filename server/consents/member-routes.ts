/** Consents for members, in the Config API: reading them, and acting for a user with a reason that stays on record. */
import { Type } from 'typebox';
import { shownId } from '../core/auth/mask.ts';
import { limits } from '../core/limits.ts';
import { UUID } from '../core/uuid.ts';
import { Empty } from '../http/config-api.ts';
import { type App, memberOf, TenantParams } from '../http/fastify.ts';
import { recordReaders, recordViewers, recordWriters, refuseMaskedSearch } from '../http/member-access.ts';
import { decodeCursor, encodeCursor, linkNext, PAGE_ITEMS, pageQuery } from '../http/paging.ts';
import { revokeConsent } from './actions.ts';
import type { ConsentBatchWriter } from './batch-writer.ts';
import { readAll } from './reading.ts';
import { type ReceiptServices, readReceipt } from './receipts.ts';
import { registerConsents } from './registering.ts';
import { type ConsentServices, contextOf } from './request-context.ts';
import { OneParams } from './route-parts.ts';
import {
  ConsentsView,
  consentFilter,
  type ListedConsent,
  MemberConsentBody,
  MemberRevocationBody,
  UserConsentView,
} from './schema.ts';

type Services = ConsentServices & ReceiptServices & { batchWriter: ConsentBatchWriter };

const url = '/tenants/:tenant/consents';
const LIST = 'members consents';

export function registerMemberRoutes(app: App, services: Services): void {
  registerReading(app, services);
  registerActing(app, services);
}

function registerReading(app: App, services: Services): void {
  const { errorHandler } = services.deniedRequests;
  app.route({
    method: 'GET',
    url,
    config: recordViewers,
    errorHandler,
    schema: {
      summary: "List the consents of the tenant's users as a member, newest first",
      description:
        'A page with `status` may hold fewer than `limit`. Support sees no ids and proofs, and may not search by userId.',
      params: TenantParams,
      querystring: Type.Object({ ...consentFilter, ...pageQuery }, { additionalProperties: false }),
      response: { 200: ConsentsView },
    },
    handler: async (request, reply) => {
      const { limit = PAGE_ITEMS, cursor, status, ...filter } = request.query;
      const { role } = memberOf(request);
      refuseMaskedSearch(role, { userId: filter.userId });
      const before = cursor === undefined ? undefined : decodeCursor(cursor, LIST, UUID);
      const { rows, more } = await readAll(services, contextOf(request), filter, { limit, before });
      const shown = ({ proof, ...one }: ListedConsent): ListedConsent => ({
        ...one,
        userId: shownId(role, one.userId),
        ...(proof === undefined || role === 'support' ? {} : { proof }),
      });
      const consents = rows.filter((one) => status === undefined || one.status === status).map(shown);
      const last = more ? rows.at(-1) : undefined;
      if (last === undefined) return { consents };
      const onward = encodeCursor(last.id, LIST);
      linkNext(reply, request.url, { limit, cursor: onward });
      return { consents, cursor: onward };
    },
  });
  app.route({
    method: 'GET',
    url: `${url}/:id/receipt`,
    config: recordReaders,
    errorHandler,
    schema: {
      summary: 'Read a signed receipt for a consent as a member',
      description: 'The keys at /{tenant}/.well-known/jwks.json verify it.',
      params: OneParams,
      response: { 200: Type.Object({ receipt: Type.String() }) },
    },
    handler: async (request) => ({ receipt: await readReceipt(services, contextOf(request), request.params.id) }),
  });
}

function registerActing(app: App, services: Services): void {
  const { errorHandler } = services.deniedRequests;
  app.route({
    method: 'POST',
    url,
    config: { ...recordWriters, idempotency: {} },
    bodyLimit: limits.bodyBytesMax,
    errorHandler,
    schema: {
      summary: 'Register a consent for a user as a member',
      description:
        'What the user said elsewhere, such as on paper. The reason stands in the ledger and in the audit. If the consent was already given, the status is 200.',
      params: TenantParams,
      body: MemberConsentBody,
      response: { 200: UserConsentView, 201: UserConsentView },
    },
    handler: async (request, reply) => {
      const { reason, ...item } = request.body;
      const context = { ...contextOf(request), reason };
      const { result, revision } = await registerConsents(services, context, [item], false);
      reply.header('accord-revision', revision);
      const [only] = result;
      if (only?.consent === undefined) throw new Error('a consent was neither registered nor refused');
      const { tenant } = request.params;
      if (only.status === 201) reply.status(201).header('location', `/tenants/${tenant}/consents/${only.consent.id}`);
      return only.consent;
    },
  });
  app.route({
    method: 'POST',
    url: `${url}/:id/revoke`,
    config: { ...recordWriters, idempotency: {} },
    bodyLimit: limits.smallBodyBytesMax,
    errorHandler,
    schema: {
      summary: "Revoke a consent for a user as a member, and the user's older consents of the same definition",
      description: 'The reason stands in the ledger and in the audit.',
      params: OneParams,
      body: MemberRevocationBody,
      response: { 200: Empty },
    },
    handler: async (request, reply) => {
      const context = { ...contextOf(request), reason: request.body.reason };
      const { revision } = await revokeConsent(services, context, request.params.id);
      reply.header('accord-revision', revision);
      return {};
    },
  });
}
