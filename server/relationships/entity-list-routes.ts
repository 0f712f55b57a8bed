/** /{tenant}/actors/{type} and /{tenant}/resources/{type}: the registered actors and resources of a type, page by page. */
import { Type } from 'typebox';
import { limits } from '../core/limits.ts';
import { type App, plainJson } from '../http/fastify.ts';
import { decodeCursor, encodeCursor, linkNext, PAGE_ITEMS, pageQuery } from '../http/paging.ts';
import { backendReaders, type RelationshipRouteServices } from './authorization.ts';
import { listEntities } from './entities.ts';
import { EntityView } from './schema.ts';

const TypeParams = Type.Object({ tenant: Type.String(), type: Type.String() });
const filter = Type.String({ maxLength: limits.attributeCharsMax + limits.typeNameCharsMax + 1 });
const ListQuery = Type.Object(
  {
    ...pageQuery,
    prefix: Type.Optional(
      Type.String({ maxLength: limits.entityIdBytesMax, description: 'Only those whose id begins with this text.' }),
    ),
    attribute: Type.Optional(
      Type.Union([filter, Type.Array(filter)], {
        description: `Only those whose attribute has this value: NAME=VALUE. May be repeated, up to ${limits.attributeFiltersMax} times; all must hold. Dates are compared as they were written.`,
      }),
    ),
  },
  { additionalProperties: false },
);

export function registerEntityLists(app: App, services: RelationshipRouteServices): void {
  for (const kind of ['actor', 'resource'] as const) {
    const list = `${kind}s` as const;
    app.route({
      method: 'GET',
      url: `/:tenant/${list}/:type`,
      config: backendReaders,
      schema: {
        summary: `List the registered ${list} of a type by id`,
        description: `Those that are only named in relationships are not listed. A page may have fewer items than its limit, or none, and a cursor: at most ${limits.entitiesScannedMax} ${list} are looked at for one page.`,
        params: TypeParams,
        querystring: ListQuery,
        response: {
          200: Type.Object({ [list]: Type.Array(EntityView), cursor: Type.Optional(Type.String()) }),
        },
      },
      serializerCompiler: plainJson,
      handler: async (request, reply) => {
        const { tenant, type } = request.params;
        const { limit = PAGE_ITEMS, cursor, prefix = '', attribute = [] } = request.query;
        const name = `${list} ${type}`;
        const after = cursor === undefined ? '' : decodeCursor(cursor, name);
        const filters = typeof attribute === 'string' ? [attribute] : attribute;
        const page = await listEntities(services, tenant, kind, { type, prefix, filters, after, limit });
        const items = page.rows.map((row) => ({ ...row.attributes, id: row.id, type }));
        if (page.next === undefined) return { [list]: items } as never;
        const next = encodeCursor(page.next, name);
        linkNext(reply, request.url, { limit, cursor: next });
        return { [list]: items, cursor: next } as never;
      },
    });
  }
}
