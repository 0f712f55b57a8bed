/**
 * Owns asking a tenant's own policies whether its users may list, make or delete relationships. It stands above the rooms,
 * because the relationships room is below the one that decides.
 */
import { type AuthzServices, authorize } from './authz/index.ts';
import { problem } from './core/problems.ts';
import type { RelationshipRouteServices } from './relationships/index.ts';
import type { TenantSnapshot } from './snapshot/index.ts';

/** @param services those of the authorization room, and the tenant's snapshot that may be answered from */
export function governedByPolicies(
  services: AuthzServices & { snapshotOf: (tenant: string) => TenantSnapshot },
): RelationshipRouteServices['govern'] {
  return async ({ tenant, caller, requestId }, { action, resource, relationship }) => {
    const asked = { snapshot: services.snapshotOf(tenant), caller, requestId };
    const context = relationship === undefined ? {} : { context: { relationship } };
    const { answer } = await authorize(services, asked, { action, resource: { ...resource }, ...context });
    if (answer.outcome === 'allow') return;
    const because = answer.reason === undefined ? '' : ` Its reason: ${answer.reason}`;
    throw problem('forbidden', { detail: `The policy ${action} does not allow this.${because}` });
  };
}
