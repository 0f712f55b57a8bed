/** /{tenant}/consents, reading: what a user is asked, what was given, and receipts. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { limits } from '../core/limits.ts';
import { UUID } from '../core/uuid.ts';
import { type App, TenantParams } from '../http/fastify.ts';
import { decodeCursor, encodeCursor, linkNext, PAGE_ITEMS, pageQuery, WholeQuery } from '../http/paging.ts';
import { sendList } from '../http/streamed-list.ts';
import { type ConsentPage, readActive, readAll, readMine, readMoreOfMine, readOutstanding } from './reading.ts';
import { type ReceiptServices, readReceipt } from './receipts.ts';
import { type ConsentServices, contextOf } from './request-context.ts';
import { OneParams, readers, tenantReaders } from './route-parts.ts';
import { mineView } from './rules.ts';
import {
  ActiveQuery,
  ConsentsView,
  consentFilter,
  EvaluationView,
  type ListedConsent,
  MineView,
  OutstandingQuery,
  OutstandingView,
} from './schema.ts';

type Services = ConsentServices & ReceiptServices;

export function registerReadRoutes(app: App, services: Services): void {
  registerAsking(app, services);
  registerLists(app, services);
  app.route({
    method: 'GET',
    url: '/:tenant/consents/:id/receipt',
    config: readers,
    errorHandler: services.deniedRequests.errorHandler,
    schema: {
      summary: 'Read a signed receipt for a consent',
      description:
        'A compact JWS with the fields of ISO/IEC TS 27560 in the terms of the Data Privacy Vocabulary; the keys at /{tenant}/.well-known/jwks.json verify it.',
      params: OneParams,
      response: { 200: Type.Object({ receipt: Type.String() }) },
    },
    handler: async (request) => ({ receipt: await readReceipt(services, contextOf(request), request.params.id) }),
  });
}

function registerAsking(app: App, services: Services): void {
  app.route({
    method: 'GET',
    url: '/:tenant/consents/active',
    config: readers,
    errorHandler: services.deniedRequests.errorHandler,
    schema: {
      summary: 'Read the document that currently applies to a user',
      description:
        "Users ask for themselves. A back end names a user; if it names none, the answer is for a new user. A user's GET counts as the first invitation if one is due; HEAD does not.",
      params: TenantParams,
      querystring: ActiveQuery,
      response: { 200: EvaluationView },
    },
    handler: (request) => readActive(services, contextOf(request), request.query, request.method === 'GET'),
  });
  app.route({
    method: 'GET',
    url: '/:tenant/consents/outstanding',
    config: readers,
    errorHandler: services.deniedRequests.errorHandler,
    schema: {
      summary: "List the documents that still need a user's answer",
      params: TenantParams,
      querystring: OutstandingQuery,
      response: { 200: OutstandingView },
    },
    handler: (request) => readOutstanding(services, contextOf(request), request.query, request.method === 'GET'),
  });
}

function registerLists(app: App, services: Services): void {
  app.route({
    method: 'GET',
    url: '/:tenant/consents/me',
    config: readers,
    errorHandler: services.deniedRequests.errorHandler,
    schema: {
      summary: "List the caller's own consents, newest first",
      params: TenantParams,
      querystring: WholeQuery,
      response: { 200: MineView },
    },
    handler: async (request, reply) => {
      const context = contextOf(request);
      const { limit, cursor } = request.query;
      const most = limit ?? limits.pageItemsMax;
      const first = await readMine(services, context, { limit: most, before: positionOf(cursor) });
      const { definitions } = context.requestTenant.snapshot;
      const at = { baseUrl: services.baseUrl, tenant: context.tenant };
      const view = (one: ListedConsent) => mineView(definitions.get(one.name), one, at);
      if (limit !== undefined || !first.more) {
        const { consents, ...more } = answered({ request, reply }, first, most);
        return { consents: consents.map(view), ...more };
      }
      const next = (last: ListedConsent) => readMoreOfMine(services, context, { limit: most, before: last.id });
      return sendList(reply, ['{"consents":[', ']}'], { rows: first.rows, next, view }) as never;
    },
  });
  app.route({
    method: 'GET',
    url: '/:tenant/consents',
    config: tenantReaders,
    errorHandler: services.deniedRequests.errorHandler,
    schema: {
      summary: "List the consents of the tenant's users, newest first",
      description: 'A page with `status` may hold fewer than `limit`.',
      params: TenantParams,
      querystring: Type.Object({ ...consentFilter, ...pageQuery }, { additionalProperties: false }),
      response: { 200: ConsentsView },
    },
    handler: async (request, reply) => {
      const { limit = PAGE_ITEMS, cursor, status, ...filter } = request.query;
      const page = await readAll(services, contextOf(request), filter, { limit, before: positionOf(cursor) });
      const answer = answered({ request, reply }, page, limit);
      if (status !== undefined) answer.consents = answer.consents.filter((one) => one.status === status);
      return answer;
    },
  });
}

const LIST = 'consents';

/** @throws Problem invalid_request */
function positionOf(cursor: string | undefined): string | undefined {
  return cursor === undefined ? undefined : decodeCursor(cursor, LIST, UUID);
}

function answered(
  { request, reply }: { request: Pick<FastifyRequest, 'url'>; reply: FastifyReply },
  { rows, more }: ConsentPage,
  limit: number,
): { consents: ListedConsent[]; cursor?: string } {
  const last = more ? rows.at(-1) : undefined;
  if (last === undefined) return { consents: rows };
  const cursor = encodeCursor(last.id, LIST);
  linkNext(reply, request.url, { limit, cursor });
  return { consents: rows, cursor };
}
