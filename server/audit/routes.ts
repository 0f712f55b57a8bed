/** The Config API's reading of the audit log: a page of it, and all of it. */
import { Type } from 'typebox';
import type { Role } from '../core/auth/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../core/db/database.ts';
import { instantMs } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import { type App, memberOf, TenantParams } from '../http/fastify.ts';
import { type ExportFormat, exportFormats, exportTypes, OpenExports } from '../http/open-exports.ts';
import { decodeCursor, encodeCursor, linkNext, notACursor, PAGE_ITEMS, pageQuery } from '../http/paging.ts';
import { type RangeQuery, rangeOf, rangeQuery } from '../http/time-range.ts';
import { AuditView, auditFilter } from './schema.ts';
import { type AuditFilter, type AuditPlace, searchEntries } from './store.ts';
import { auditCsvHeader, auditCsvLine, auditView } from './view.ts';

type AuditRouteServices = { database: Database; clock: Clock };

// Entries name members by their addresses: editors and viewers read none.
const readers = { access: { api: 'config', roles: ['security-admin', 'support'] } } as const;
const admins = { access: { api: 'config', roles: ['security-admin'] } } as const;
const LIST = 'audit';
const PLACE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

type FilterQuery = RangeQuery & Pick<AuditFilter, 'actor' | 'action' | 'kind' | 'name'>;

export function registerAuditRoutes(app: App, services: AuditRouteServices): void {
  registerSearch(app, services);
  registerExport(app, services);
}

function registerSearch(app: App, { database, clock }: AuditRouteServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/audit',
    config: readers,
    schema: {
      summary: 'Search the audit log, newest first',
      description: `A request looks at ${limits.auditEntriesLookedAtMax} entries at most: a page may have fewer items than limit, or none, and a cursor with which the search goes on. Support sees neither ids of persons nor details, and may not search by actor or name.`,
      params: TenantParams,
      querystring: Type.Object({ ...pageQuery, ...rangeQuery, ...auditFilter }, { additionalProperties: false }),
      response: { 200: Type.Object({ entries: Type.Array(AuditView), cursor: Type.Optional(Type.String()) }) },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const { limit = PAGE_ITEMS, cursor, ...query } = request.query;
      const { role } = memberOf(request);
      refuseMaskedSearch(role, query);
      const before = cursor === undefined ? undefined : placeOf(cursor);
      const page = { newestFirst: true, after: before, limit, looked: limits.auditEntriesLookedAtMax };
      const { rows, next } = await database.tenantSnapshot(tenant, (tx) =>
        searchEntries(tx, tenant, filterOf(query, clock), page),
      );
      const entries = rows.map((row) => auditView(row, role));
      if (next === undefined) return { entries };
      const onward = encodeCursor(`${next.at} ${next.id}`, LIST);
      linkNext(reply, request.url, { limit, cursor: onward });
      return { entries, cursor: onward };
    },
  });
}

function registerExport(app: App, { database, clock }: AuditRouteServices): void {
  const open = new OpenExports(limits.auditExportsMax);
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/audit/export',
    config: admins,
    schema: {
      summary: 'Export the audit log, oldest first',
      description:
        "One entry per line as JSON, or CSV with a header. In CSV, text that a spreadsheet would take for a formula is prefixed with '. An export is complete only if the connection ends normally.",
      params: TenantParams,
      produces: Object.values(exportTypes),
      querystring: Type.Object(
        {
          format: Type.Optional(Type.Enum(exportFormats, { description: 'Default: ndjson.' })),
          ...rangeQuery,
          ...auditFilter,
        },
        { additionalProperties: false },
      ),
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const { format = 'ndjson', ...query } = request.query as FilterQuery & { format?: ExportFormat };
      const pages = exported(database, tenant, filterOf(query, clock), format);
      const text = open.begin(tenant, reply, pages);
      reply.type(exportTypes[format]);
      return reply.send(text);
    },
  });
}

/** The entries as text, each page read when the one before it was taken. */
async function* exported(
  database: Database,
  tenant: string,
  filter: AuditFilter,
  format: ExportFormat,
): AsyncGenerator<string> {
  if (format === 'csv') yield auditCsvHeader;
  let after: AuditPlace | undefined;
  do {
    const page = {
      newestFirst: false,
      after,
      limit: limits.auditExportPageItemsMax,
      looked: limits.auditEntriesLookedAtMax,
    };
    const { rows, next } = await database.tenantSnapshot(tenant, (tx) => searchEntries(tx, tenant, filter, page));
    const entries = rows.map((row) => auditView(row, 'security-admin'));
    const lines = entries.map((entry) => (format === 'csv' ? auditCsvLine(entry) : `${JSON.stringify(entry)}\n`));
    if (lines.length > 0) yield lines.join('');
    after = next;
  } while (after !== undefined);
}

/** @throws Problem forbidden: what support does not see it may not find out by searching */
function refuseMaskedSearch(role: Role, { actor, name }: FilterQuery): void {
  if (role === 'support' && (actor ?? name) !== undefined)
    throw problem('forbidden', { detail: 'support sees neither actors nor names, and may not search by them.' });
}

/** @throws Problem invalid_request */
function filterOf({ start, end, last, ...rest }: FilterQuery, clock: Clock): AuditFilter {
  const range = Object.entries({ start, end, last }).filter(([, value]) => value !== undefined);
  return { ...rest, ...rangeOf(Object.fromEntries(range), clock) };
}

/** @throws Problem invalid_request when it is no cursor of this list */
function placeOf(cursor: string): AuditPlace {
  const [at = '', id = ''] = decodeCursor(cursor, LIST, PLACE).split(' ');
  if (instantMs(at) === undefined) throw notACursor();
  return { at, id };
}
