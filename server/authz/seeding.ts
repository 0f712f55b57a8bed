/** Asking a tenant of examples its first questions, so that its decision log and charts are not empty. */
import type { Database } from '../core/db/database.ts';
import { createValueCheck } from '../http/validation.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import { type AuthzServices, authorize, type DecisionContext } from './actions.ts';
import { AuthorizationRequest } from './schema.ts';
import { listDecisions } from './store.ts';

const faultOf = createValueCheck(AuthorizationRequest);
type Refused = { line: number; detail: string };

/**
 * @param lines JSON, one AuthorizationRequest each; empty ones are skipped
 * @returns what was refused; the rest is decided and recorded as any other request is, unless the tenant has a decision: then
 *   nothing is
 */
export async function seedDecisions(
  services: AuthzServices & { database: Database },
  snapshot: TenantSnapshot,
  lines: readonly string[],
): Promise<Refused[]> {
  const { tenant } = snapshot;
  const known = await services.database.tenantSnapshot(tenant, (tx) => listDecisions(tx, tenant, { limit: 1 }));
  if (known.length > 0) return [];
  const issuer = 'seed';
  const caller = { kind: 'backend', tenant, clientId: 'seed', scopes: new Set<string>(), issuer } as const;
  const context: DecisionContext = { snapshot, caller, requestId: 'seed' };
  const refused: Refused[] = [];
  for (const [index, text] of lines.entries()) {
    if (text.trim() === '') continue;
    const read = readLine(text);
    if ('detail' in read) refused.push({ line: index + 1, ...read });
    else await authorize(services, context, read.request);
  }
  return refused;
}

function readLine(text: string): { request: AuthorizationRequest } | { detail: string } {
  let request: unknown;
  try {
    request = JSON.parse(text);
  } catch (error) {
    return { detail: `The line is not JSON: ${(error as Error).message}` };
  }
  const detail = faultOf(request);
  return detail === undefined ? { request: request as AuthorizationRequest } : { detail };
}
