/** C/branding: the name, the logo, the colours and the languages of the tenant's pages. */
import { roles } from '../core/auth/schema.ts';
import type { Database } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { describeOwner } from '../core/ownership.ts';
import { problem } from '../core/problems.ts';
import {
  answerWritten,
  type ConfigServing,
  Empty,
  etagOf,
  preconditionsOf,
  WriteHeaders,
  writerOf,
} from '../http/config-api.ts';
import { type App, TenantParams } from '../http/fastify.ts';
import { readTenant } from '../tenants/index.ts';
import type { ConfigWriteServices } from '../writes/index.ts';
import { BrandingBody, BrandingView, brandingOf, putBranding } from './branding.ts';

type BrandingServices = ConfigServing & { database: Database; writes: ConfigWriteServices };

export function registerBranding(app: App, services: BrandingServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/branding',
    config: { access: { api: 'config', roles } },
    schema: {
      summary: "Read how the tenant's pages look",
      params: TenantParams,
      response: { 200: BrandingView },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const row = await services.database.read(tenant, (tx) => readTenant(tx, tenant));
      if (row === undefined) throw problem('tenant_not_found');
      reply.header('etag', etagOf(row.revision));
      return { ...brandingOf(row.spec), revision: row.revision, managedBy: describeOwner(row.owner) };
    },
  });
  app.route({
    method: 'PUT',
    url: '/tenants/:tenant/branding',
    config: { access: { api: 'config', roles: ['security-admin'] } },
    bodyLimit: limits.smallBodyBytesMax,
    schema: {
      summary: "Set how the tenant's pages look",
      params: TenantParams,
      headers: WriteHeaders,
      body: BrandingBody,
      response: { 200: Empty },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const options = preconditionsOf(request.headers);
      const written = await putBranding(services.writes, writerOf(request), tenant, request.body, options);
      return answerWritten(reply, services, tenant, { revision: written.revision, object: written.revision });
    },
  });
}
