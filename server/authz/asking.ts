/** Asking a tenant's own policies what its users may do with relationships and invitations. */
import type { Caller } from '../core/auth/schema.ts';
import { problem } from '../core/problems.ts';
import type { Span } from '../core/span.ts';
import type { InvitationFact } from '../facts/index.ts';
import type { RequestTenant } from '../http/fastify.ts';
import type { Answer } from '../policies/index.ts';
import type { Entity } from '../relationships/index.ts';
import { type AuthzServices, authorize } from './actions.ts';

type Asking = { served: RequestTenant; caller: Caller; requestId: string; span?: Span | null | undefined };
type Question = {
  action: string;
  resource: Entity;
  relationship?: { from?: Entity; relationshipType: string; to?: Entity };
  invitation?: InvitationFact;
};
/** What the policy answers; `failure` when no rule of it said so. */
export type Ask = (asking: Asking, question: Question) => Promise<{ answer: Answer; failure?: { reason: string } }>;
/** @throws Problem forbidden unless the policy answers allow */
export type Govern = (asking: Asking, question: Question) => Promise<Answer>;

/** Asks the policies of the tenant's newest snapshot. */
export function askingPolicies(services: AuthzServices): Ask {
  return async ({ served, caller, requestId, span = null }, { action, resource, relationship, invitation }) => {
    const asked = { snapshot: served.snapshot, caller, requestId, span };
    const context = relationship === undefined ? {} : { context: { relationship } };
    return authorize(services, asked, { action, resource: { ...resource }, ...context }, invitation);
  };
}

/** As askingPolicies; whatever is not allowed is refused. */
export function governedByPolicies(services: AuthzServices): Govern {
  const ask = askingPolicies(services);
  return async (asking, question) => {
    const { answer } = await ask(asking, question);
    if (answer.outcome === 'allow') return answer;
    const because = answer.reason === undefined ? '' : ` Its reason: ${answer.reason}`;
    throw problem('forbidden', { detail: `The policy ${question.action} does not allow this.${because}` });
  };
}
