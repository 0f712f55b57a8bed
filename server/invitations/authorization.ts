/**
 * Authorization: what the routes of the room share, and what is asked of the tenant's policies, for users' calls and again
 * for the invitor.
 */
import type { CheckAccess, RequireAccess } from '../authz/index.ts';
import { callerName } from '../core/auth/name.ts';
import type { Caller } from '../core/auth/schema.ts';
import type { AuditedAuthor } from '../core/author.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { type IdempotencyReservation, idempotencyOf } from '../core/idempotency-key.ts';
import type { Observe } from '../core/observe.ts';
import type { Span } from '../core/span.ts';
import type { InvitationFact } from '../facts/index.ts';
import { type RequestTenant, tenantOf } from '../http/fastify.ts';
import type { Entity } from '../relationships/index.ts';
import type { WriteServices } from '../writes/index.ts';
import { emailOf, isContact } from './contact.ts';
import { factOf, knownEnd, policyOf, targetOf } from './rules.ts';
import type { InvitationRow } from './schema.ts';

export type RequestContext = {
  tenant: string;
  requestTenant: RequestTenant;
  caller: Caller;
  requestId: string;
  span: Span | null | undefined;
  idempotency?: IdempotencyReservation;
};
type DecisionRequest = {
  action: string;
  resource: Entity;
  relationship?: { from?: Entity; relationshipType: string; to?: Entity };
  invitation?: InvitationFact;
};

export type InvitationServices = WriteServices & {
  encrypter: Encrypter;
  observe: Observe;
  baseUrl: string;
  checkAccess: CheckAccess;
  requireAccess: RequireAccess;
};

export const readers = {
  access: { api: 'management', scope: 'relationships:read', users: true, session: true },
} as const;
export const writers = {
  access: { api: 'management', scope: 'relationships:write', users: true, session: true },
} as const;

export function contextOf(request: {
  tenant: RequestTenant | null;
  caller: Caller | null;
  id: string;
  span?: Span | null;
  idempotency?: IdempotencyReservation | null;
}): RequestContext {
  const caller = request.caller as Caller;
  const { id: requestId, span } = request;
  return {
    tenant: caller.tenant,
    requestTenant: tenantOf(request),
    caller,
    requestId,
    span,
    ...idempotencyOf(request),
  };
}

export function recordAuthorOf({ tenant, caller, requestId, idempotency }: RequestContext): AuditedAuthor {
  const user = caller.kind === 'user' ? { user: caller.actor } : {};
  return { tenant, by: { actor: callerName(caller), requestId }, ...user, ...(idempotency ? { idempotency } : {}) };
}

type Terms = Pick<InvitationRow, 'from_type' | 'name' | 'to_type' | 'direction' | 'target_type' | 'target_id'>;

/** The question whether these terms may be offered. */
export function creating(terms: Terms): DecisionRequest {
  return { action: policyOf(terms, 'create'), resource: targetOf(terms), relationship: knownEnd(terms) };
}

/** The question whether the caller may do this with an invitation. */
export function doing(
  { encrypter, clock }: Pick<InvitationServices, 'encrypter' | 'clock'>,
  { tenant, caller }: RequestContext,
  verb: 'read' | 'resend' | 'revoke' | 'accept',
  row: InvitationRow,
): DecisionRequest {
  return {
    action: policyOf(row, verb),
    resource: targetOf(row),
    relationship: knownEnd(row),
    invitation: factOf(row, clock.now(), isContact(encrypter, tenant, row, emailOf(caller))),
  };
}

/**
 * Lets a back end pass, which has the scope, and a member, whom the route admits by its role; a user by the policy. A member is
 * not told the requestToken: it could accept for the invitee.
 * @returns whether the caller may be told the requestToken
 * @throws Problem forbidden
 */
export async function requireAllowed(
  services: InvitationServices,
  context: RequestContext,
  question: DecisionRequest,
): Promise<boolean> {
  if (context.caller.kind !== 'user') return context.caller.kind === 'backend';
  const { obligations = [] } = await services.requireAccess(context, question);
  return obligations.includes('return-token');
}

/** Whether the invitor is still allowed to invite, by the same policy and as that actor. */
export async function mayStillInvite(
  services: InvitationServices,
  context: RequestContext,
  row: InvitationRow,
): Promise<'yes' | 'no' | 'unknown'> {
  if (row.by_tenant) return 'yes';
  const actor = { type: row.invitor_type, id: row.invitor_id };
  const invitor: Caller = { kind: 'user', tenant: context.tenant, actor, issuer: '', claims: {} };
  const { answer, failure } = await services.checkAccess({ ...context, caller: invitor }, creating(row));
  if (answer.outcome === 'allow') return 'yes';
  // A policy that says nothing for a request says no; one that failed may answer the next time.
  return failure === undefined || failure.reason === 'outcome_undefined' ? 'no' : 'unknown';
}
