/** The Config API of libraries and data documents. */
import { Type } from 'typebox';
import { shownName } from '../core/auth/mask.ts';
import type { Role } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import { describeOwner } from '../core/ownership.ts';
import { answerWritten, Empty, etagOf, IfMatch, preconditionsOf, WriteHeaders, writerOf } from '../http/config-api.ts';
import { type App, memberOf, TenantParams, whileConnected } from '../http/fastify.ts';
import { NamesPage, pageAsked, pageOfNames, WholeQuery } from '../http/paging.ts';
import { deletePart, putPart, requirePart } from './part-actions.ts';
import { registerPartHistory } from './part-history.ts';
import { kinds, nameOf, readersOf, writersOf } from './part-kinds.ts';
import {
  DocumentBody,
  DocumentView,
  LibraryBody,
  LibraryView,
  type OwnedPartRow,
  type UserRow,
} from './part-schema.ts';
import { listParts, readUsers } from './part-store.ts';
import type { PartKind } from './parts.ts';
import type { PolicyRouteServices } from './routes.ts';

const DryRun = Type.Object(
  {
    dryRun: Type.Optional(
      Type.Union([Type.Literal('true'), Type.Literal('false')], {
        description: 'true: check it, and compile and test every policy that uses it, without storing anything.',
      }),
    ),
  },
  { additionalProperties: false },
);

export function registerPartRoutes(app: App, services: PolicyRouteServices): void {
  for (const kind of ['library', 'data'] as const) {
    registerList(app, services, kind);
    registerDeletion(app, services, kind);
    registerPartHistory(app, services, kind);
  }
  registerLibraries(app, services);
  registerDocuments(app, services);
}

function registerList(app: App, services: PolicyRouteServices, kind: PartKind): void {
  const { list, plural } = kinds[kind];
  app.route({
    method: 'GET',
    url: `/tenants/:tenant/${list}`,
    config: readersOf('library'),
    schema: {
      summary: `List ${plural}`,
      params: TenantParams,
      querystring: WholeQuery,
      response: { 200: NamesPage },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const { limit } = request.query;
      const page = pageAsked(request.query, list);
      const names = await services.database.read(tenant, (tx) => listParts(tx, tenant, kind, page));
      return pageOfNames(reply, names, { self: `/tenants/${tenant}/${list}`, list, limit });
    },
  });
}

function registerDeletion(app: App, services: PolicyRouteServices, kind: PartKind): void {
  const { list, noun, param, params } = kinds[kind];
  app.route({
    method: 'DELETE',
    url: `/tenants/:tenant/${list}/:${param}`,
    config: writersOf('library'),
    schema: { summary: `Remove a ${noun} that nothing uses`, params, headers: IfMatch, response: { 200: Empty } },
    handler: async (request, reply) => {
      const { tenant, name } = nameOf(kind, request.params);
      const written = await deletePart(services, writerOf(request), tenant, name, preconditionsOf(request.headers));
      return answerWritten(reply, services, tenant, written);
    },
  });
}

function registerLibraries(app: App, services: PolicyRouteServices): void {
  const { params } = kinds.library;
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/policy-libraries/:package',
    config: readersOf('library'),
    schema: { summary: 'Read a library', params, querystring: Empty, response: { 200: LibraryView } },
    handler: async (request, reply) => {
      const { tenant, package: name } = request.params;
      const { row, content, users } = await read(services, tenant, 'library', name);
      reply.header('etag', etagOf(row.number));
      return { package: name, modules: JSON.parse(content), ...shown(row, users, memberOf(request).role) };
    },
  });
  app.route({
    method: 'PUT',
    url: '/tenants/:tenant/policy-libraries/:package',
    config: writersOf('library'),
    bodyLimit: 2 * limits.libraryBytesMax,
    schema: {
      summary: 'Create or replace a library, and compile the policies that use it with it',
      ...{ params, headers: WriteHeaders, querystring: DryRun, body: LibraryBody, response: { 200: Empty } },
    },
    handler: async (request, reply) => {
      const { tenant, package: name } = request.params;
      const dryRun = request.query.dryRun === 'true';
      const options = { ...preconditionsOf(request.headers), dryRun, signal: whileConnected(reply) };
      const body = { kind: 'library', modules: request.body.modules } as const;
      const { result, revision } = await putPart(services, writerOf(request), tenant, name, body, options);
      return answerWritten(reply, services, tenant, { revision, object: dryRun ? undefined : result.number });
    },
  });
}

function registerDocuments(app: App, services: PolicyRouteServices): void {
  const { params } = kinds.data;
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/policy-data/:path',
    config: readersOf('data'),
    schema: { summary: 'Read a data document', params, querystring: Empty, response: { 200: DocumentView } },
    handler: async (request, reply) => {
      const { tenant, path } = request.params;
      const { row, content, users } = await read(services, tenant, 'data', path);
      reply.header('etag', etagOf(row.number));
      return { path, value: JSON.parse(content), ...shown(row, users, memberOf(request).role) };
    },
  });
  app.route({
    method: 'PUT',
    url: '/tenants/:tenant/policy-data/:path',
    config: writersOf('data'),
    bodyLimit: limits.policyDataBodyBytesMax,
    schema: {
      summary: 'Create or replace a data document, and test the policies that read it with it',
      ...{ params, headers: WriteHeaders, querystring: DryRun, body: DocumentBody, response: { 200: Empty } },
    },
    handler: async (request, reply) => {
      const { tenant, path } = request.params;
      const dryRun = request.query.dryRun === 'true';
      const options = { ...preconditionsOf(request.headers), dryRun, signal: whileConnected(reply) };
      const body = { kind: 'data', value: request.body.value } as const;
      const { result, revision } = await putPart(services, writerOf(request), tenant, path, body, options);
      return answerWritten(reply, services, tenant, { revision, object: dryRun ? undefined : result.number });
    },
  });
}

const USERS_SHOWN = 200;

function read({ database }: PolicyRouteServices, tenant: string, kind: PartKind, name: string) {
  return database.tenantSnapshot(tenant, async (tx) => ({
    ...(await requirePart(tx, tenant, { kind, name })),
    users: await readUsers(tx, tenant, { kind, name }, USERS_SHOWN),
  }));
}

function shown(row: OwnedPartRow, users: readonly UserRow[], role: Role) {
  const named = (kind: UserRow['user_kind']) =>
    users.flatMap((one) => (one.user_kind === kind ? [one.user_name] : [])).slice(0, USERS_SHOWN / 2);
  return {
    revision: row.number,
    updatedAt: row.updated_at,
    updatedBy: shownName(role, row.updated_by),
    managedBy: describeOwner(row.owner),
    usedBy: { policies: named('policy'), libraries: named('library') },
  };
}
