/** C/limits: what bounds the tenant, and how much of it is used. Who runs the installation sets the limits, in the Tenant's manifest. */
import { roles } from '../core/auth/schema.ts';
import type { Database } from '../core/db/database.ts';
import { describeOwner } from '../core/ownership.ts';
import { problem } from '../core/problems.ts';
import { type App, TenantParams } from '../http/fastify.ts';
import { countPolicies } from '../policies/index.ts';
import { countRelationships } from '../relationships/index.ts';
import { readTenant } from '../tenants/index.ts';
import { LimitsView } from './schema.ts';

/** @param callerRequestsPerSecond ACCORD_RATE_LIMIT; 0: none */
export type LimitsServices = { database: Database; callerRequestsPerSecond: number };

const limitOf = (limit: number | undefined) => (limit === undefined || limit === 0 ? {} : { limit });

export function registerLimitsRoute(app: App, { database, callerRequestsPerSecond }: LimitsServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/limits',
    config: { access: { api: 'config', roles } },
    schema: {
      summary: 'The limits of the tenant, and how much is used',
      params: TenantParams,
      response: { 200: LimitsView },
    },
    handler: ({ params: { tenant } }) =>
      database.tenantSnapshot(tenant, async (tx) => {
        const row = await readTenant(tx, tenant);
        if (row === undefined) throw problem('tenant_not_found');
        const { maxPolicies, maxRelationships, maxRequestsPerSecond } = row.spec.limits ?? {};
        return {
          maxPolicies: { ...limitOf(maxPolicies), used: await countPolicies(tx, tenant) },
          maxRelationships: { ...limitOf(maxRelationships), used: await countRelationships(tx, tenant) },
          maxRequestsPerSecond: limitOf(maxRequestsPerSecond),
          callerRequestsPerSecond: limitOf(callerRequestsPerSecond),
          managedBy: describeOwner(row.owner),
        };
      }),
  });
}
