/** GET /tenants/{tenant}/resources: the manifests of a tenant and their status, as `kubectl get` shows them. */
import { Type } from 'typebox';
import { roles } from '../core/auth/schema.ts';
import type { Database } from '../core/db/database.ts';
import { type App, TenantParams } from '../http/fastify.ts';
import { encodeCursor, pageAsked, pageOfRows, WholeQuery } from '../http/paging.ts';
import { listResources, type Position, type ResourceRow } from './store.ts';

type ResourceRouteServices = { database: Database };

const ResourceView = Type.Object({
  kind: Type.String(),
  namespace: Type.Optional(Type.String()),
  name: Type.String(),
  source: Type.String(),
  generation: Type.Integer(),
  status: Type.Unknown(),
  updatedAt: Type.String(),
});

export function registerResourceRoutes(app: App, { database }: ResourceRouteServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/resources',
    config: { access: { api: 'config', roles } },
    schema: {
      summary: "The tenant's manifests and their status",
      params: TenantParams,
      querystring: WholeQuery,
      response: {
        200: Type.Object({ resources: Type.Array(ResourceView), cursor: Type.Optional(Type.String()) }),
      },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const { limit } = request.query;
      const page = pageAsked(request.query, 'resources', positionOf);
      const rows = await database.read(tenant, (tx) => listResources(tx, tenant, page));
      if (limit === undefined) return { resources: rows.map(view) };
      const { page: shown, onward } = pageOfRows({ request, reply }, rows, limit, ({ kind, namespace, name }) =>
        encodeCursor(`${kind}/${namespace}/${name}`, 'resources'),
      );
      return { resources: shown.map(view), ...onward };
    },
  });
}

function positionOf(text: string): Position {
  const [kind = '', namespace = '', name = ''] = text.split('/');
  return { kind, namespace, name };
}

function view(row: ResourceRow) {
  return {
    kind: row.kind,
    ...(row.namespace === '' ? {} : { namespace: row.namespace }),
    name: row.name,
    source: row.source,
    generation: row.generation,
    status: row.status,
    updatedAt: row.updated_at,
  };
}
