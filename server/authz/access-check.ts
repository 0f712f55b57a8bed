/** Checks by a tenant's own policies what its users may do with relationships and invitations. */
import type { Caller } from '../core/auth/schema.ts';
import { problem } from '../core/problems.ts';
import type { Span } from '../core/span.ts';
import type { InvitationFact } from '../facts/index.ts';
import type { RequestTenant } from '../http/fastify.ts';
import type { Answer } from '../policies/index.ts';
import type { Entity } from '../relationships/index.ts';
import { type AuthzServices, authorize } from './actions.ts';

type AccessContext = {
  requestTenant: RequestTenant;
  caller: Caller;
  requestId: string;
  span?: Span | null | undefined;
};
type AccessCheck = {
  action: string;
  resource: Entity;
  relationship?: { from?: Entity; relationshipType: string; to?: Entity };
  invitation?: InvitationFact;
};
/** What the policy answers; `failure` when no rule of it said so. */
export type CheckAccess = (
  context: AccessContext,
  check: AccessCheck,
) => Promise<{ answer: Answer; failure?: { reason: string } }>;
/** @throws Problem forbidden unless the policy answers allow */
export type RequireAccess = (context: AccessContext, check: AccessCheck) => Promise<Answer>;

/** Asks the policies of the tenant's newest snapshot. */
export function accessChecker(services: AuthzServices): CheckAccess {
  return async ({ requestTenant, caller, requestId, span = null }, { action, resource, relationship, invitation }) => {
    const decisionContext = { snapshot: requestTenant.snapshot, caller, requestId, span };
    const context = relationship === undefined ? {} : { context: { relationship } };
    return authorize(services, decisionContext, { action, resource: { ...resource }, ...context }, invitation);
  };
}

/** As accessChecker; whatever is not allowed is refused. */
export function accessGuard(services: AuthzServices): RequireAccess {
  const checkAccess = accessChecker(services);
  return async (context, check) => {
    const { answer } = await checkAccess(context, check);
    if (answer.outcome === 'allow') return answer;
    const because = answer.reason === undefined ? '' : ` Its reason: ${answer.reason}`;
    throw problem('forbidden', { detail: `The policy ${check.action} does not allow this.${because}` });
  };
}
