/** Asking a tenant of examples its first questions, so that its decision log and charts are not empty. */
import type { Database } from '../core/db/database.ts';
import { type RefusedLine, readJsonLines } from '../core/json-lines.ts';
import { createValueCheck } from '../http/validation.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import { type AuthzServices, authorize, type DecisionContext } from './actions.ts';
import { AuthorizationRequest } from './schema.ts';
import { listDecisions } from './store.ts';

const faultOf = createValueCheck(AuthorizationRequest);

/**
 * @param lines JSON, one AuthorizationRequest each; empty ones are skipped
 * @returns what was refused; the rest is decided and recorded as any other request is, unless the tenant has a decision: then
 *   nothing is
 */
export async function seedDecisions(
  services: AuthzServices & { database: Database },
  snapshot: TenantSnapshot,
  lines: readonly string[],
): Promise<RefusedLine[]> {
  const { tenant } = snapshot;
  const known = await services.database.tenantSnapshot(tenant, (tx) => listDecisions(tx, tenant, { limit: 1 }));
  if (known.length > 0) return [];
  const issuer = 'seed';
  const caller = { kind: 'backend', tenant, clientId: 'seed', scopes: new Set<string>(), issuer } as const;
  const context: DecisionContext = { snapshot, caller, requestId: 'seed' };
  const refused: RefusedLine[] = [];
  for (const read of readJsonLines<AuthorizationRequest>(lines, faultOf)) {
    if ('detail' in read) refused.push(read);
    else await authorize(services, context, read.value);
  }
  return refused;
}
