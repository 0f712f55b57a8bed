/** Many relationships at once: deleting by query, importing and exporting NDJSON. For back ends of the tenant. */
import { hash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { patterns } from '../../crds/index.ts';
import { callerName } from '../core/auth/name.ts';
import type { Caller } from '../core/auth/schema.ts';
import { troubleOf } from '../core/db/errors.ts';
import { IdempotencyKey } from '../core/idempotency-key.ts';
import { limits } from '../core/limits.ts';
import { bodyTooLarge, problem } from '../core/problems.ts';
import { type App, TenantParams } from '../http/fastify.ts';
import { recordWriters } from '../http/member-access.ts';
import { deleteMatching, recordExport } from './actions.ts';
import { backendReaders, backendWriters, type RelationshipRouteServices, recordAuthorOf } from './authorization.ts';
import { importRelationships } from './import.ts';
import { allowLongBodies } from './long-body.ts';
import { relationshipProblem } from './problems.ts';
import { type ImportRow, ImportView, type Relationship, type RelationshipRow } from './schema.ts';
import { exportPage, type Filter, readImport } from './store.ts';

const ndjson = 'application/x-ndjson';
const LINES = `One relationship per line, at most ${limits.importLineBytesMax} bytes each: {"from": {"type", "id"}, "relationshipType", "to": {"type", "id"}, "expiresAt"?}.`;
const text = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 1024, description }));
const importId = Type.String({
  pattern: patterns.identifier.source,
  description: 'Any name. Default: the server generates one.',
});

export function registerBulkRoutes(app: App, services: RelationshipRouteServices): void {
  app.route({
    method: 'DELETE',
    url: '/:tenant/relationships',
    config: backendWriters,
    schema: {
      summary: 'Delete all relationships that match the query',
      params: TenantParams,
      querystring: Type.Object(
        {
          fromType: text('Type of the entity that the relationships lead from.'),
          fromId: text('Id of that entity. Requires fromType.'),
          relationshipType: text('Name of the relationship.'),
          toType: text('Type of the entity that the relationships lead to.'),
          toId: text('Id of that entity. Requires toType.'),
        },
        { additionalProperties: false },
      ),
      response: { 200: Type.Object({ deleted: Type.Integer() }) },
    },
    handler: async (request, reply) => {
      const filter = filterOf(request.query);
      const { result, revision } = await deleteMatching(services, recordAuthorOf(request), filter);
      reply.header('accord-revision', revision);
      return { deleted: result };
    },
  });
  const allow = allowImports(app);
  for (const place of places) {
    registerImport(app, services, allow, place);
    registerProgress(app, services, place);
    registerExport(app, services, place);
  }
}

/** For back ends, and for security admins in the Config API. */
const places = [
  { prefix: '/:tenant', reading: backendReaders, writing: backendWriters, at: (tenant: string) => `/${tenant}` },
  {
    prefix: '/tenants/:tenant',
    reading: recordWriters,
    writing: recordWriters,
    at: (tenant: string) => `/tenants/${tenant}`,
  },
] as const;
type Place = (typeof places)[number];

/** @throws Problem invalid_request for a query that would delete everything, or an id without its type */
function filterOf(query: Filter): Filter {
  const wrong = (pointer: string, detail: string) =>
    problem('invalid_request', { detail, errors: [{ pointer, detail }] });
  if (Object.keys(query).length === 0)
    throw wrong('/query', 'At least one of fromType, toType and relationshipType is required.');
  if (query.fromId !== undefined && query.fromType === undefined)
    throw wrong('/query/fromType', 'An id requires its type.');
  if (query.toId !== undefined && query.toType === undefined) throw wrong('/query/toType', 'An id requires its type.');
  return query;
}

const wrongType = () => problem('unsupported_media_type', { detail: `Send ${ndjson}.` });

/** @returns exempts a request from the timeout of bodies */
function allowImports(app: App): ReturnType<typeof allowLongBodies> {
  const exemptFromTimeout = allowLongBodies(app);
  app.addContentTypeParser(ndjson, (request, payload, done) => {
    const announced = Number(request.headers['content-length'] ?? 0);
    done(announced > limits.importBytesMax ? bodyTooLarge(limits.importBytesMax) : null, payload);
  });
  return exemptFromTimeout;
}

function registerImport(
  app: App,
  services: RelationshipRouteServices,
  exemptFromTimeout: ReturnType<typeof allowLongBodies>,
  { prefix, writing, at }: Place,
): void {
  app.route({
    method: 'POST',
    url: `${prefix}/relationships/import`,
    config: writing,
    bodyLimit: limits.strayBodyBytesMax, // of JSON, which is refused; lines have importBytesMax
    schema: {
      summary: 'Import relationships, one JSON object per line, in the format of the export',
      description:
        'Invalid lines are refused and reported; all others are imported. After an interruption, send the same lines with the same importId again, or only the missing lines with firstLine. Different lines with an importId that is in use are refused (409).',
      params: TenantParams,
      consumes: [ndjson],
      querystring: Type.Object(
        {
          importId: Type.Optional(importId),
          firstLine: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: Number.MAX_SAFE_INTEGER,
              description: 'Number of the first line that is sent.',
            }),
          ),
        },
        { additionalProperties: false },
      ),
      headers: Type.Object({ 'idempotency-key': IdempotencyKey }),
      body: { content: { [ndjson]: { schema: Type.Unsafe<Readable>({ description: LINES }) } } },
      response: { 200: ImportView },
    },
    preParsing: async (request) => {
      const type = request.headers['content-type'] ?? '';
      if (type.split(';', 1)[0]?.trim().toLowerCase() !== ndjson) throw wrongType();
      const { 'content-encoding': encoding = 'identity' } = request.headers;
      if (encoding.toLowerCase() !== 'identity') {
        throw problem('unsupported_media_type', { detail: 'Send the lines without Content-Encoding.' });
      }
    },
    handler: async (request, reply) => {
      if (!(request.body instanceof Readable)) throw wrongType();
      exemptFromTimeout(request.raw);
      const key = request.headers['idempotency-key'];
      const { importId: id = idOf(request.caller as Caller, key), firstLine = 1 } = request.query;
      const lines = request.body;
      const { result, revision } = await importRelationships(
        services,
        recordAuthorOf(request),
        { id, firstLine },
        lines,
      ).catch((error) => {
        // What ends it here leaves lines unread, too.
        if (error !== request.raw.errored) throw troubleOf(error) === undefined ? error : interrupted(error);
        throw problem('invalid_request', {
          detail: 'The connection closed before the last line arrived.',
          cause: error,
        });
      });
      reply
        .header('location', `${at(request.params.tenant)}/relationships/imports/${id}`)
        .header('accord-revision', revision);
      return view(result);
    },
  });
}

function interrupted(cause: unknown) {
  const detail =
    'The database takes no more lines now. What is in stays: send the same lines again with the same importId.';
  return problem('not_ready', { detail, cause });
}

function registerProgress(app: App, services: RelationshipRouteServices, { prefix, reading }: Place): void {
  app.route({
    method: 'GET',
    url: `${prefix}/relationships/imports/:importId`,
    config: reading,
    schema: {
      summary: 'Read the progress of an import',
      params: Type.Object({ tenant: Type.String(), importId }),
      response: { 200: ImportView },
    },
    handler: async (request) => {
      const { tenant, importId: id } = request.params;
      const row = await services.database.read(tenant, (tx) => readImport(tx, tenant, id));
      if (row === undefined) throw relationshipProblem('import_not_found');
      return view(row);
    },
  });
}

/** An Idempotency-Key is used as the importId: the same lines continue the import, others are refused. */
function idOf(caller: Caller, key: string | undefined): string {
  return key === undefined ? randomUUID() : `key-${hash('sha256', `${callerName(caller)} ${key}`, 'base64url')}`;
}

function view(row: ImportRow) {
  const { id, lines, created, updated, unchanged, refused, errors, started_at, finished_at } = row;
  const finished = finished_at === null ? {} : { finishedAt: finished_at };
  return { importId: id, lines, created, updated, unchanged, refused, errors, startedAt: started_at, ...finished };
}

function registerExport(app: App, services: RelationshipRouteServices, { prefix, reading }: Place): void {
  app.route({
    method: 'GET',
    url: `${prefix}/relationships/export`,
    config: reading,
    schema: {
      summary: 'Export all relationships, one JSON object per line',
      description:
        'Relationships that exist during the whole export appear exactly once. An export is complete only if the connection ends normally. The export of a member is audited.',
      params: TenantParams,
      produces: [ndjson],
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      if (request.caller?.kind === 'member') await recordExport(services, recordAuthorOf(request));
      reply.type(ndjson);
      return reply.send(Readable.from(exported(services, tenant)));
    },
  });
}

async function* exported(services: RelationshipRouteServices, tenant: string): AsyncGenerator<string> {
  const limit = limits.exportPageItemsMax;
  let after: RelationshipRow | undefined;
  for (;;) {
    const page = { ...(after ? { after } : {}), limit, now: new Date(services.clock.now()).toISOString() };
    const rows = await services.database.read(tenant, (tx) => exportPage(tx, tenant, page));
    if (rows.length > 0) yield rows.map((row) => `${JSON.stringify(lineOf(row))}\n`).join('');
    if (rows.length < limit) return;
    after = rows.at(-1);
  }
}

function lineOf(row: RelationshipRow): Relationship {
  return {
    from: { type: row.from_type, id: row.from_id },
    relationshipType: row.name,
    to: { type: row.to_type, id: row.to_id },
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
  };
}
