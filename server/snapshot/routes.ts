/** C/servers: which servers live, and which revision of the tenant's configuration each of them serves. */
import { Type } from 'typebox';
import { roles } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import { type App, TenantParams, tenantOf } from '../http/fastify.ts';
import type { readServing } from './store.ts';

const ServerView = Type.Object({
  id: Type.String(),
  startedAt: Type.String(),
  seenAt: Type.String(),
  revision: Type.Optional(Type.String({ description: 'Absent: the server serves nothing of the tenant yet.' })),
  current: Type.Boolean({ description: 'Whether it serves the newest revision that this server knows.' }),
});

type ServerRouteServices = { serversOf: (tenant: string) => ReturnType<typeof readServing> };

export function registerServerRoutes(app: App, { serversOf }: ServerRouteServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/servers',
    config: { access: { api: 'config', roles } },
    schema: {
      summary: 'List the servers that live, and the revision of the configuration that each of them serves',
      description: `Those that were seen in the last minute, at most ${limits.serversShownMax}. An object is served by a server whose revision is at least the one that its write was answered with (Accord-Revision).`,
      params: TenantParams,
      response: { 200: Type.Object({ revision: Type.String(), servers: Type.Array(ServerView) }) },
    },
    handler: async (request) => {
      const { tenant } = request.params;
      const rows = await serversOf(tenant);
      const known = rows.flatMap(({ revision }) => (revision === null ? [] : [revision]));
      const newest = Math.max(tenantOf(request).snapshot.revision, ...known);
      const servers = rows.map(({ id, started_at: startedAt, seen_at: seenAt, revision }) => ({
        ...{ id, startedAt, seenAt, current: revision === newest },
        ...(revision === null ? {} : { revision: `c${revision}` }),
      }));
      return { revision: `c${newest}`, servers };
    },
  });
}
