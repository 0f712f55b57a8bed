/** The Config API of trusted issuers and the token mapping. Only a security-admin may write them, because they decide which actor a token names. */
import { Type } from 'typebox';
import { shownName } from '../core/auth/mask.ts';
import { type Role, roles } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import { describeOwner } from '../core/ownership.ts';
import {
  answerWritten,
  type ConfigServing,
  Empty,
  etagOf,
  IfMatch,
  preconditionsOf,
  WriteHeaders,
  writerOf,
} from '../http/config-api.ts';
import { type App, memberOf, TenantParams } from '../http/fastify.ts';
import { decodeCursor, NamesPage, pageOfNames, WholeQuery } from '../http/paging.ts';
import {
  deleteIssuer,
  type IssuerServices,
  putIssuer,
  putTokenMapping,
  requireIssuer,
  requireTenant,
} from './actions.ts';
import { checkIssuerBody } from './rules.ts';
import {
  IssuerBody,
  type IssuerRow,
  IssuerView,
  TokenMappingBody,
  TokenMappingView,
  tokenMappingOf,
} from './schema.ts';
import { loadIssuers } from './store.ts';
import { registerTokenCheck, type TokenCheckServices } from './token-check.ts';

const IssuerParams = Type.Object({ tenant: Type.String(), name: Type.String() });

const readers = { access: { api: 'config', roles } } as const;
const writers = { access: { api: 'config', roles: ['security-admin'] } } as const;

type IssuerRouteServices = IssuerServices & ConfigServing & TokenCheckServices;

export function registerIssuerRoutes(app: App, services: IssuerRouteServices): void {
  registerReading(app, services);
  registerWriting(app, services);
  registerTokenMapping(app, services);
  registerTokenCheck(app, services);
}

function registerReading(app: App, services: IssuerRouteServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/trusted-issuers',
    config: readers,
    schema: {
      summary: 'List trusted issuers',
      params: TenantParams,
      querystring: WholeQuery,
      response: { 200: NamesPage },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const { limit, cursor } = request.query;
      const after = cursor === undefined ? '' : decodeCursor(cursor, 'trusted-issuers');
      const rows = await services.database.read(tenant, (tx) => loadIssuers(tx, tenant));
      const names = rows.map((row) => row.name).filter((name) => name > after);
      const self = `/tenants/${tenant}/trusted-issuers`;
      return pageOfNames(reply, names, { self, list: 'trusted-issuers', limit });
    },
  });
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/trusted-issuers/:name',
    config: readers,
    schema: { summary: 'Read a trusted issuer', params: IssuerParams, response: { 200: IssuerView } },
    handler: async (request, reply) => {
      const { tenant, name } = request.params;
      const row = await services.database.read(tenant, (tx) => requireIssuer(tx, tenant, name));
      reply.header('etag', etagOf(row.revision));
      return view(row, memberOf(request).role);
    },
  });
}

function registerWriting(app: App, services: IssuerRouteServices): void {
  app.route({
    method: 'PUT',
    url: '/tenants/:tenant/trusted-issuers/:name',
    config: writers,
    bodyLimit: limits.configBodyBytesMax,
    schema: {
      summary: 'Create or replace a trusted issuer',
      params: IssuerParams,
      headers: WriteHeaders,
      body: IssuerBody,
      response: { 200: Empty },
    },
    handler: async (request, reply) => {
      const { tenant, name } = request.params;
      const { spec, loginSecret } = checkIssuerBody(tenant, name, request.body);
      const options = { ...preconditionsOf(request.headers), loginSecret };
      const written = await putIssuer(services, writerOf(request), tenant, name, spec, options);
      return answerWritten(reply, services, tenant, { revision: written.revision, object: written.result.revision });
    },
  });
  app.route({
    method: 'DELETE',
    url: '/tenants/:tenant/trusted-issuers/:name',
    config: writers,
    schema: {
      summary: 'Remove a trusted issuer',
      params: IssuerParams,
      headers: IfMatch,
      response: { 200: Empty },
    },
    handler: async (request, reply) => {
      const { tenant, name } = request.params;
      const written = await deleteIssuer(services, writerOf(request), tenant, name, preconditionsOf(request.headers));
      return answerWritten(reply, services, tenant, written);
    },
  });
}

function registerTokenMapping(app: App, services: IssuerRouteServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/token-mapping',
    config: readers,
    schema: {
      summary: 'Read which claims name the actor',
      params: TenantParams,
      response: { 200: TokenMappingView },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const row = await services.database.read(tenant, (tx) => requireTenant(tx, tenant));
      reply.header('etag', etagOf(row.revision));
      return { ...row.spec.tokenMapping, managedBy: describeOwner(row.owner) };
    },
  });
  app.route({
    method: 'PUT',
    url: '/tenants/:tenant/token-mapping',
    config: writers,
    bodyLimit: limits.smallBodyBytesMax,
    schema: {
      summary: 'Set which claims name the actor, for issuers without their own setting',
      params: TenantParams,
      headers: WriteHeaders,
      body: TokenMappingBody,
      response: { 200: Empty },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const written = await putTokenMapping(
        services,
        writerOf(request),
        tenant,
        tokenMappingOf(request.body),
        preconditionsOf(request.headers),
      );
      return answerWritten(reply, services, tenant, { revision: written.revision, object: written.revision });
    },
  });
}

function view(row: IssuerRow, role: Role) {
  const { login, ...spec } = row.spec;
  return {
    name: row.name,
    ...spec,
    ...(login === undefined ? {} : { login: loginView(login) }),
    revision: row.revision,
    updatedAt: row.updated_at,
    updatedBy: shownName(role, row.updated_by),
    managedBy: describeOwner(row.owner),
  };
}

function loginView({ secretRef, ...shown }: NonNullable<IssuerRow['spec']['login']>) {
  return { ...shown, hasClientSecret: secretRef !== undefined };
}
