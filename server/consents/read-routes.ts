/** M/consents, reading: what a user is asked, what was given, and receipts. */
import { Type } from 'typebox';
import { type App, TenantParams } from '../core/http.ts';
import { PageQuery, pageQuery } from '../core/paging.ts';
import type { UserStatus } from '../definitions/index.ts';
import { askingOf, type ConsentServices } from './governing.ts';
import { readActive, readAll, readMine, readOutstanding } from './reading.ts';
import { type ReceiptServices, readReceipt } from './receipts.ts';
import { OneParams, readers, recorded, tags, tenantReaders } from './route-parts.ts';
import {
  ActiveQuery,
  ConsentsView,
  consentFilter,
  JudgementView,
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
    errorHandler: recorded(services),
    schema: {
      summary: 'A signed receipt for a consent',
      description:
        'A compact JWS with the fields of ISO/IEC TS 27560 in the terms of the Data Privacy Vocabulary; the keys at /{tenant}/.well-known/jwks.json verify it.',
      tags,
      params: OneParams,
      response: { 200: Type.Object({ receipt: Type.String() }) },
    },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      return { receipt: await readReceipt(services, askingOf(request), request.params.id) };
    },
  });
}

function registerAsking(app: App, services: Services): void {
  app.route({
    method: 'GET',
    url: '/:tenant/consents/active',
    config: readers,
    errorHandler: recorded(services),
    schema: {
      summary: 'The document that concerns a user now',
      description:
        "A user asks for itself, a back end for the user that it names or for a new one. A user's GET is its first invitation where one is due; HEAD is not.",
      tags,
      params: TenantParams,
      querystring: ActiveQuery,
      response: { 200: JudgementView },
    },
    handler: (request) => readActive(services, askingOf(request), request.query, request.method === 'GET'),
  });
  app.route({
    method: 'GET',
    url: '/:tenant/consents/outstanding',
    config: readers,
    errorHandler: recorded(services),
    schema: {
      summary: "All that still needs a user's answer",
      tags,
      params: TenantParams,
      querystring: OutstandingQuery,
      response: { 200: OutstandingView },
    },
    handler: async (request) => ({
      consents: await readOutstanding(services, askingOf(request), request.query, request.method === 'GET'),
    }),
  });
}

function registerLists(app: App, services: Services): void {
  app.route({
    method: 'GET',
    url: '/:tenant/consents/me',
    config: readers,
    errorHandler: recorded(services),
    schema: {
      summary: "The caller's own consents, newest first",
      tags,
      params: TenantParams,
      querystring: PageQuery,
      response: { 200: ConsentsView },
    },
    handler: (request) => readMine(services, askingOf(request), request.query),
  });
  app.route({
    method: 'GET',
    url: '/:tenant/consents',
    config: tenantReaders,
    errorHandler: recorded(services),
    schema: {
      summary: "The consents of the tenant's users, newest first",
      description: 'A page with `status` may hold fewer than `limit`.',
      tags,
      params: TenantParams,
      querystring: Type.Object({ ...consentFilter, ...pageQuery }, { additionalProperties: false }),
      response: { 200: ConsentsView },
    },
    handler: (request) => {
      const { limit, cursor, status, ...filter } = request.query;
      const wanted = status === undefined ? {} : { status: status as UserStatus };
      return readAll(services, askingOf(request), { ...filter, ...wanted }, { limit, cursor });
    },
  });
}
