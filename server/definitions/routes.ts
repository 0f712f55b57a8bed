/** The Config API of consent definitions: paths and shapes as the specification shows them. */
import { type TSchema, Type } from 'typebox';
import { roles } from '../core/auth/schema.ts';
import type { Transaction } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import type { Writer } from '../core/ownership.ts';
import {
  answerWritten,
  type ConfigServing,
  Empty,
  etagOf,
  preconditionsOf,
  WriteHeaders,
  writerOf,
} from '../http/config-api.ts';
import type { App } from '../http/fastify.ts';
import { decodeCursor, pageOfNames, WholeQuery } from '../http/paging.ts';
import type { ConfigWritten } from '../tenants/index.ts';
import {
  type DefinitionServices,
  type PutOptions,
  putDefinition,
  putDocument,
  putEndOfLife,
  putVersion,
  requireDefinition,
  requireDocument,
  requireVersion,
} from './actions.ts';
import { readBody, registerContentRoute } from './content-route.ts';
import { definitionProblem } from './problems.ts';
import {
  DefinitionBody,
  DefinitionView,
  DocumentBody,
  DocumentView,
  DocumentWritten,
  EndOfLifeAnswer,
  EndOfLifeBody,
  ListView,
  type Sanitized,
  VersionBody,
  VersionView,
} from './schema.ts';
import { listDefinitions } from './store.ts';
import { registerTreeRoute } from './tree-route.ts';
import { shownDefinition, shownDocument, shownEndOfLife, shownVersion } from './views.ts';

export type DefinitionRouteServices = DefinitionServices & ConfigServing;

type Params = { tenant: string; name: string; version: string; language: string; documentVersion: string };
type Shown = { revision: number; shown: object };

const base = '/tenants/:tenant/consent-definitions';
const version = `${base}/:name/versions/:version`;
const document = `${version}/documents/:language/:documentVersion`;
const readers = { access: { api: 'config', roles } } as const;
const writers = { access: { api: 'config', roles: ['security-admin', 'config-editor'] } } as const;

export function registerDefinitionRoutes(app: App, services: DefinitionRouteServices): void {
  registerLists(app, services);
  registerReading(app, services);
  registerContentRoute(app, services);
  registerTreeRoute(app, services);
  put(app, services, { url: `${base}/:name`, noun: 'a consent definition', body: DefinitionBody }, (call) =>
    putDefinition(
      services,
      call.writer,
      call.params.tenant,
      call.params.name,
      call.body as DefinitionBody,
      call.options,
    ),
  );
  put(app, services, { url: version, noun: 'a version', body: VersionBody }, ({ writer, params, body, options }) => {
    const { optInConfig: _, ...custom } = body as Record<string, unknown>;
    return putVersion(services, writer, params.tenant, params, custom, options);
  });
  put(
    app,
    services,
    {
      url: `${version}/end-of-life`,
      noun: 'the end of life of a version',
      body: EndOfLifeBody,
      bodyLimit: limits.smallBodyBytesMax,
    },
    (call) =>
      putEndOfLife(services, call.writer, call.params.tenant, call.params, call.body as EndOfLifeBody, call.options),
  );
  const documents = { url: document, noun: 'a document', body: DocumentBody, answer: DocumentWritten };
  put(app, services, documents, ({ writer, params, body, options }) => {
    const key = { ...params, document: params.documentVersion };
    return putDocument(services, writer, params.tenant, key, body as DocumentBody, options);
  });
}

type Call = { writer: Writer; params: Params; body: unknown; options: PutOptions };

function put(
  app: App,
  services: DefinitionRouteServices,
  {
    url,
    noun,
    body,
    bodyLimit = limits.bodyBytesMax,
    answer = Empty,
  }: { url: string; noun: string; body: TSchema; bodyLimit?: number; answer?: TSchema },
  act: (call: Call) => Promise<ConfigWritten<{ revision: number; sanitized?: Sanitized }>>,
): void {
  app.route({
    method: 'PUT',
    url,
    config: writers,
    bodyLimit,
    schema: {
      summary: `Create or replace ${noun}`,
      params: paramsOf(url),
      headers: WriteHeaders,
      body,
      response: { 200: answer },
    },
    handler: async (request, reply) => {
      const params = request.params as Params;
      const options = preconditionsOf(request.headers);
      const written = await act({ writer: writerOf(request), params, body: request.body, options });
      const { revision, result } = written;
      const empty = await answerWritten(reply, services, params.tenant, { revision, object: result.revision });
      return result.sanitized === undefined ? empty : { content: result.sanitized };
    },
  });
}

function registerReading(app: App, services: DefinitionRouteServices): void {
  const get = (url: string, noun: string, view: TSchema, read: (tx: Transaction, params: Params) => Promise<Shown>) =>
    app.route({
      method: 'GET',
      url,
      config: readers,
      schema: { summary: `Read ${noun}`, params: paramsOf(url), response: { 200: view } },
      handler: async (request, reply) => {
        const params = request.params as Params;
        const { revision, shown } = await services.database.tenantSnapshot(params.tenant, (tx) => read(tx, params));
        reply.header('etag', etagOf(revision));
        return shown;
      },
    });
  get(`${base}/:name`, 'a consent definition', DefinitionView, async (tx, { tenant, name }) => {
    const row = await requireDefinition(tx, tenant, name);
    return { revision: row.revision, shown: shownDefinition(row) };
  });
  get(version, 'a version', VersionView, async (tx, params) => {
    const row = await versionOf(tx, params);
    return { revision: row.revision, shown: shownVersion(row) };
  });
  get(`${version}/end-of-life`, 'the end of life of a version', EndOfLifeAnswer, async (tx, params) => {
    const { endOfLife, revision } = await versionOf(tx, params);
    if (endOfLife === undefined) throw definitionProblem('end_of_life_not_found');
    return { revision, shown: { config: shownEndOfLife(endOfLife) } };
  });
  get(document, 'a document', DocumentView, async (tx, params) => {
    const row = requireDocument(await versionOf(tx, params), { ...params, document: params.documentVersion });
    const body = row.content && (await readBody(tx, params.tenant, { ...params, document: row }, row.content));
    return { revision: row.revision, shown: shownDocument(row, body) };
  });
}

function registerLists(app: App, services: DefinitionRouteServices): void {
  const list = (url: string, noun: string, read: (tx: Transaction, params: Params) => Promise<string[]>) =>
    app.route({
      method: 'GET',
      url,
      config: readers,
      schema: {
        summary: `List ${noun}`,
        params: paramsOf(url),
        querystring: WholeQuery,
        response: { 200: ListView },
      },
      handler: async (request, reply) => {
        const params = request.params as Params;
        const { limit, cursor } = request.query as { limit?: number; cursor?: string };
        const path = url.replace(/:(\w+)/g, (_, name) => encodeURIComponent(params[name as keyof Params]));
        const after = cursor === undefined ? undefined : decodeCursor(cursor, path);
        const all = await services.database.tenantSnapshot(params.tenant, (tx) => read(tx, params));
        const names =
          after === undefined ? all : all.filter((name) => Buffer.compare(Buffer.from(name), Buffer.from(after)) > 0);
        const { links: _, ...page } = pageOfNames(reply, names, { self: path, list: path, limit });
        return page;
      },
    });
  list(base, 'consent definitions', (tx, { tenant }) => listDefinitions(tx, tenant));
  list(`${base}/:name/versions`, 'versions', async (tx, { tenant, name }) =>
    (await requireDefinition(tx, tenant, name)).versions.map((one) => one.version),
  );
  list(`${version}/documents`, 'the languages that a version has documents in', async (tx, params) => [
    ...new Set((await versionOf(tx, params)).documents.map((one) => one.language)),
  ]);
  list(`${version}/documents/:language`, 'the documents of a language', async (tx, params) => {
    const { documents } = await versionOf(tx, params);
    const found = documents.filter((one) => one.language === params.language).map((one) => one.version);
    if (found.length === 0) throw definitionProblem('consent_document_not_found');
    return found;
  });
}

async function versionOf(tx: Transaction, { tenant, name, version }: Params) {
  return requireVersion(await requireDefinition(tx, tenant, name), version);
}

function paramsOf(url: string) {
  const names = [...url.matchAll(/:(\w+)/g)].map(([, name]) => [name as string, Type.String()] as const);
  return Type.Object(Object.fromEntries(names));
}
