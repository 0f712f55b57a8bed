/** The Config API of types: the three lists have the same four verbs. */
import { type TSchema, Type } from 'typebox';
import { shownName } from '../core/auth/mask.ts';
import { type Role, roles } from '../core/auth/schema.ts';
import type { Transaction } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import type { Owner, Writer } from '../core/ownership.ts';
import { describeOwner } from '../core/ownership.ts';
import {
  answerWritten,
  type ConfigServing,
  Empty,
  etagOf,
  IfMatch,
  type Preconditions,
  preconditionsOf,
  WriteHeaders,
  writerOf,
} from '../http/config-api.ts';
import { type App, memberOf, TenantParams } from '../http/fastify.ts';
import { decodeCursor, NamesPage, pageOfNames, WholeQuery } from '../http/paging.ts';
import type { ConfigWritten } from '../tenants/index.ts';
import {
  deleteEntityType,
  deleteRelationshipType,
  type PutTypeOptions,
  putEntityType,
  putRelationshipType,
  requireEntityType,
  requireRelationshipType,
  type TypeServices,
} from './actions.ts';
import { entityTypeSpec, parseTypeKey, relationshipTypeSpec, typeKeyOf } from './rules.ts';
import {
  type EntityKind,
  EntityTypeBody,
  type EntityTypeRow,
  EntityTypeView,
  RelationshipTypeBody,
  type RelationshipTypeRow,
  RelationshipTypeView,
} from './schema.ts';
import { loadEntityTypes, loadRelationshipTypes } from './store.ts';

const TypeParams = Type.Object({ tenant: Type.String(), type: Type.String() });
const dryRun = Type.Optional(
  Type.Union([Type.Literal('true'), Type.Literal('false')], {
    description: 'true: validate the request without storing it.',
  }),
);

const objects = Type.Optional(
  Type.Union([Type.Literal('true'), Type.Literal('false')], {
    description:
      'true: with the objects of the names, in their order; the ETag of each is its revision in quotation marks.',
  }),
);

const readers = { access: { api: 'config', roles } } as const;
const writers = { access: { api: 'config', roles: ['security-admin', 'config-editor'] } } as const;

export type TypeRouteServices = TypeServices & ConfigServing;

type Row = { revision: number; owner: Owner; updated_at: string; updated_by: string };
type Found = { row: Row; shown: object };
/** What the verbs of one list are made of; `name` is the last part of the path. */
type Family = {
  path: string;
  noun: string;
  plural: string;
  body: TSchema;
  view: TSchema;
  list(tx: Transaction, tenant: string): Promise<(Found & { name: string })[]>;
  read(tx: Transaction, tenant: string, name: string): Promise<Found>;
  put(
    writer: Writer,
    tenant: string,
    name: string,
    body: unknown,
    options: PutTypeOptions,
  ): Promise<ConfigWritten<{ revision: number }>>;
  remove(writer: Writer, tenant: string, name: string, options: Preconditions): Promise<ConfigWritten<void>>;
};

export function registerTypeRoutes(app: App, services: TypeRouteServices): void {
  for (const kind of ['actor', 'resource'] as const) registerFamily(app, services, entityFamily(services, kind));
  registerFamily(app, services, relationshipFamily(services));
}

function entityFamily(services: TypeServices, kind: EntityKind): Family {
  const found = (row: EntityTypeRow) => ({ row, shown: { name: row.name, ...row.spec } });
  return {
    path: `${kind}-types`,
    noun: kind === 'actor' ? 'an actor type' : 'a resource type',
    plural: `${kind} types`,
    body: EntityTypeBody,
    view: EntityTypeView,
    list: async (tx, tenant) =>
      (await loadEntityTypes(tx, tenant, kind)).map((row) => ({ name: row.name, ...found(row) })),
    read: async (tx, tenant, name) => found(await requireEntityType(tx, tenant, { kind, name })),
    put: (writer, tenant, name, body, options) =>
      putEntityType(services, writer, tenant, { kind, name, spec: entityTypeSpec(body as EntityTypeBody) }, options),
    remove: (writer, tenant, name, options) => deleteEntityType(services, writer, tenant, { kind, name }, options),
  };
}

function relationshipFamily(services: TypeServices): Family {
  const keyOf = (row: RelationshipTypeRow) => ({ from: row.from_type, name: row.name, to: row.to_type });
  const found = (row: RelationshipTypeRow) => ({
    row,
    shown: { ...keyOf(row), ...row.spec, ...(row.retired ? { retired: true } : {}) },
  });
  return {
    path: 'relationship-types',
    noun: 'a relationship type',
    plural: 'relationship types',
    body: RelationshipTypeBody,
    view: RelationshipTypeView,
    list: async (tx, tenant) =>
      (await loadRelationshipTypes(tx, tenant)).map((row) => ({ name: typeKeyOf(keyOf(row)), ...found(row) })),
    read: async (tx, tenant, name) => found(await requireRelationshipType(tx, tenant, parseTypeKey(name))),
    put: (writer, tenant, name, body, options) => {
      const key = parseTypeKey(name);
      const spec = relationshipTypeSpec(tenant, key, body as RelationshipTypeBody);
      return putRelationshipType(services, writer, tenant, key, spec, options);
    },
    remove: (writer, tenant, name, options) =>
      deleteRelationshipType(services, writer, tenant, parseTypeKey(name), options),
  };
}

function registerFamily(app: App, services: TypeRouteServices, family: Family): void {
  registerList(app, services, family);
  app.route({
    method: 'GET',
    url: `/tenants/:tenant/${family.path}/:type`,
    config: readers,
    schema: { summary: `Read ${family.noun}`, params: TypeParams, response: { 200: family.view } },
    handler: async (request, reply) => {
      const { tenant, type } = request.params;
      const { row, shown } = await services.database.read(tenant, (tx) => family.read(tx, tenant, type));
      reply.header('etag', etagOf(row.revision));
      return { ...shown, ...aboutOf(row, memberOf(request).role) };
    },
  });
  app.route({
    method: 'PUT',
    url: `/tenants/:tenant/${family.path}/:type`,
    config: writers,
    bodyLimit: limits.configBodyBytesMax,
    schema: {
      summary: `Create or replace ${family.noun}`,
      params: TypeParams,
      headers: WriteHeaders,
      querystring: Type.Object({ dryRun }, { additionalProperties: false }),
      body: family.body,
      response: { 200: Empty },
    },
    handler: async (request, reply) => {
      const { tenant, type } = request.params;
      const options = { ...preconditionsOf(request.headers), dryRun: request.query.dryRun === 'true' };
      const written = await family.put(writerOf(request), tenant, type, request.body, options);
      const object = options.dryRun ? undefined : written.result.revision;
      return answerWritten(reply, services, tenant, { revision: written.revision, object });
    },
  });
  app.route({
    method: 'DELETE',
    url: `/tenants/:tenant/${family.path}/:type`,
    config: writers,
    schema: {
      summary: `Remove ${family.noun} that is not in use`,
      params: TypeParams,
      headers: IfMatch,
      response: { 200: Empty },
    },
    handler: async (request, reply) => {
      const { tenant, type } = request.params;
      const written = await family.remove(writerOf(request), tenant, type, preconditionsOf(request.headers));
      return answerWritten(reply, services, tenant, written);
    },
  });
}

function registerList(app: App, services: TypeRouteServices, family: Family): void {
  app.route({
    method: 'GET',
    url: `/tenants/:tenant/${family.path}`,
    config: readers,
    schema: {
      summary: `List ${family.plural}`,
      params: TenantParams,
      querystring: Type.Object({ ...WholeQuery.properties, objects }, { additionalProperties: false }),
      response: {
        200: Type.Object({ ...NamesPage.properties, objects: Type.Optional(Type.Array(family.view)) }),
      },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const { limit, cursor } = request.query;
      const { role } = memberOf(request);
      const withObjects = request.query.objects === 'true';
      const after = cursor === undefined ? undefined : decodeCursor(cursor, family.path);
      const all = await services.database.read(tenant, (tx) => family.list(tx, tenant));
      const names = all.map(({ name }) => name);
      const begin = after === undefined ? 0 : names.indexOf(after) + 1 || names.findIndex((name) => name > after);
      const rest = begin < 0 ? [] : all.slice(begin);
      const self = `/tenants/${tenant}/${family.path}`;
      const filter: Record<string, string> = withObjects ? { objects: 'true' } : {};
      const of = { self, list: family.path, limit, filter };
      const page = pageOfNames(
        reply,
        rest.map(({ name }) => name),
        of,
      );
      if (!withObjects) return page;
      const shown = rest.slice(0, page.resources.length);
      return { ...page, objects: shown.map((one) => ({ ...one.shown, ...aboutOf(one.row, role) })) };
    },
  });
}

function aboutOf(row: Row, role: Role) {
  return {
    revision: row.revision,
    updatedAt: row.updated_at,
    updatedBy: shownName(role, row.updated_by),
    managedBy: describeOwner(row.owner),
  };
}
