/**
 * Owns asking a tenant's own policies what its users may do with relationships and invitations. It stands above the rooms,
 * because the relationships room is below the one that decides.
 */
import { type AuthzServices, authorize } from './authz/index.ts';
import { problem } from './core/problems.ts';
import type { Ask, Govern } from './invitations/index.ts';

/** Asks the policies of the tenant's newest snapshot. */
export function askingPolicies(services: AuthzServices): Ask {
  return async ({ served, caller, requestId }, { action, resource, relationship, invitation }) => {
    const asked = { snapshot: served.snapshot, caller, requestId };
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
