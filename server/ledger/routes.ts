/** Reading the ledger: a tenant's back end all of it, a user what is about itself; verifying and exporting it. */
import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Caller } from '../core/auth/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import { type App, TenantParams, tenantOf } from '../http/fastify.ts';
import { recordWriters, refuseMaskedSearch } from '../http/member-access.ts';
import { type ExportFormat, exportFormats, exportTypes, OpenExports } from '../http/open-exports.ts';
import { decodeRecordCursor, encodeRecordCursor, PAGE_ITEMS, pageOfRows, pageQuery } from '../http/paging.ts';
import { actedBy } from './acting.ts';
import type { Ledger } from './append.ts';
import type { DeniedRequestRecorder } from './denied-request-recorder.ts';
import { exported } from './export.ts';
import { type FilterQuery, filterOf, ownFilter, tenantFilter } from './filter.ts';
import { backends, readers } from './readers.ts';
import { RegisterEvent } from './schema.ts';
import { type EventFilter, type Position, readEventLines } from './store.ts';
import { registerVerification } from './verification-route.ts';
import { eventsIn, masked } from './view.ts';

type LedgerRouteServices = {
  database: Database;
  clock: Clock;
  ledger: Ledger;
  deniedRequests: DeniedRequestRecorder;
};

const users = { access: { api: 'management', scope: 'consents:read', users: true } } as const;
const exporters = [
  { prefix: '/:tenant', config: backends },
  { prefix: '/tenants/:tenant', config: recordWriters },
] as const;
const Events = Type.Object({ logs: Type.Array(RegisterEvent), cursor: Type.Optional(Type.String()) });

export function registerLedgerRoutes(app: App, services: LedgerRouteServices): void {
  registerLists(app, services);
  registerVerification(app, services);
  registerExport(app, services);
}

function registerLists(app: App, services: LedgerRouteServices): void {
  const { errorHandler } = services.deniedRequests;
  for (const { prefix, config } of readers) {
    app.route({
      method: 'GET',
      url: `${prefix}/consents/events`,
      config,
      errorHandler,
      schema: {
        summary: 'List ledger entries about consents, newest first',
        description: 'Reading is recorded as an entry. Support sees no ids and reasons, and may not search by userId.',
        params: TenantParams,
        querystring: Type.Object({ ...pageQuery, ...tenantFilter }, { additionalProperties: false }),
        response: { 200: Events },
      },
      handler: (request, reply) => {
        const { limit, cursor, ...query } = request.query;
        if (request.caller?.kind === 'member') refuseMaskedSearch(request.caller.role, { userId: query.userId });
        return pageOf(services, { request, reply }, filterOf(query, services.clock), { limit, cursor });
      },
    });
  }
  app.route({
    method: 'GET',
    url: '/:tenant/consents/events/me',
    config: users,
    errorHandler,
    schema: {
      summary: "List ledger entries about the caller's own consents, newest first",
      description: 'For users. Reading is recorded as an entry.',
      params: TenantParams,
      querystring: Type.Object({ ...pageQuery, ...ownFilter }, { additionalProperties: false }),
      response: { 200: Events },
    },
    handler: (request, reply) => {
      const { limit, cursor, ...query } = request.query;
      const own = ownOf(request);
      return pageOf(services, { request, reply }, { ...filterOf(query, services.clock), ...own }, { limit, cursor });
    },
  });
}

/**
 * What a user may see. The user of consents is the actor id of the default type; another type's actor may have the same id
 * and is somebody else.
 * @throws Problem forbidden for a back end
 */
function ownOf(request: Pick<FastifyRequest, 'tenant' | 'caller'>): Pick<EventFilter, 'userId' | 'actor'> {
  const { caller } = request;
  if (caller?.kind !== 'user')
    throw problem('forbidden', { detail: 'Only users can call this endpoint. Back ends read consents/events.' });
  const { actor } = caller;
  const { defaultActorType } = tenantOf(request).snapshot.spec.tokenMapping;
  return actor.type === defaultActorType ? { userId: actor.id } : { actor };
}

const LIST = 'register-events';
type Reading = {
  request: { params: { tenant: string }; caller: Caller | null; id: string; url: string };
  reply: { header(name: string, value: string): unknown };
};

/** A page, when the reading of it is in the ledger. */
async function pageOf(
  { database, ledger, clock }: LedgerRouteServices,
  reading: Reading,
  filter: EventFilter,
  { limit = PAGE_ITEMS, cursor }: { limit: number | undefined; cursor: string | undefined },
): Promise<Static<typeof Events>> {
  const { params, caller, id: requestId } = reading.request;
  const { tenant } = params;
  const behind = cursor === undefined ? undefined : positionOf(cursor);
  const page = { newestFirst: true, behind, limit: limit + 1 };
  const { lines } = await database.read(tenant, (tx) => readEventLines(tx, tenant, filter, page));
  const events = eventsIn(lines);
  const { userId, name } = filter;
  const about = { ...(userId === undefined ? {} : { userId }), ...(name === undefined ? {} : { name }) };
  const read = { ...actedBy(caller as Caller), ...about, type: 'read', outcome: 'events', requestId } as const;
  await ledger.append(tenant, [{ ...read, time: clock.now() }]);
  const { page: logs, onward } = pageOfRows(reading, events, limit, ({ time: at, id }) =>
    encodeRecordCursor({ at, id }, LIST),
  );
  return { logs: isMasked(caller) ? logs.map(masked) : logs, ...onward };
}

function isMasked(caller: Caller | null): boolean {
  return caller?.kind === 'member' && caller.role === 'support';
}

/** @throws Problem invalid_request */
function positionOf(cursor: string): Position {
  const { at: time, id } = decodeRecordCursor(cursor, LIST);
  return { time, id };
}

function registerExport(app: App, services: LedgerRouteServices): void {
  const { errorHandler } = services.deniedRequests;
  const exports = new OpenExports(limits.ledgerExportsMax);
  for (const { prefix, config } of exporters) {
    app.route({
      method: 'GET',
      url: `${prefix}/consents/export`,
      config,
      errorHandler,
      schema: {
        summary: 'Export ledger entries about consents, oldest first',
        description:
          "One RegisterEvent per line as JSON, or CSV with a header. In CSV, text that a spreadsheet would take for a formula is prefixed with '. The export is recorded as an entry. An export is complete only if the connection ends normally.",
        params: TenantParams,
        produces: Object.values(exportTypes),
        querystring: Type.Object(
          { format: Type.Optional(Type.Enum(exportFormats, { description: 'Default: ndjson.' })), ...tenantFilter },
          { additionalProperties: false },
        ),
      },
      handler: async (request, reply) => {
        const { tenant } = request.params;
        const { format = 'ndjson', ...query } = request.query as FilterQuery & { format?: ExportFormat };
        const filter = filterOf(query, services.clock);
        const about = query.userId === undefined ? {} : { userId: query.userId };
        const text = exports.begin(tenant, reply, exported(services.database, tenant, filter, format));
        await services.ledger.append(tenant, [
          {
            ...actedBy(request.caller as Caller),
            ...about,
            type: 'exported',
            time: services.clock.now(),
            outcome: format,
            requestId: request.id,
          },
        ]);
        reply.type(exportTypes[format]);
        return reply.send(text);
      },
    });
  }
}
