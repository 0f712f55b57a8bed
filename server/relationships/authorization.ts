/** What the routes of this room share: who may come in, and the asking of the tenant's policies for users. */
import { Type } from 'typebox';
import { callerName } from '../core/auth/name.ts';
import type { Caller } from '../core/auth/schema.ts';
import type { AuditedAuthor } from '../core/author.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { type IdempotencyReservation, idempotencyOf } from '../core/idempotency-key.ts';
import type { Span } from '../core/span.ts';
import { type RequestTenant, tenantOf } from '../http/fastify.ts';
import type { EndInvitations } from './actions.ts';
import type { ImportServices } from './import.ts';
import type { Entity } from './schema.ts';

type Request = {
  tenant: RequestTenant | null;
  caller: Caller | null;
  id: string;
  span?: Span | null;
  params: unknown;
  idempotency?: IdempotencyReservation | null;
};

export type RelationshipRouteServices = ImportServices & {
  encrypter: Pick<Encrypter, 'encrypt' | 'decrypt'>;
  endInvitations: EndInvitations;
  /**
   * Asks the policy of this name whether the user may.
   * @throws Problem forbidden unless it answers allow; also when there is no such policy
   */
  requireAccess(
    asked: {
      tenant: string;
      requestTenant: RequestTenant;
      caller: Caller;
      requestId: string;
      span: Span | null | undefined;
    },
    question: {
      action: string;
      resource: Entity;
      relationship?: { from: Entity; relationshipType: string; to: Entity };
    },
  ): Promise<unknown>;
};

export const EntityParams = Type.Object({ tenant: Type.String(), type: Type.String(), id: Type.String() });
export const readers = {
  access: { api: 'management', scope: 'relationships:read', users: true, session: true },
} as const;
export const writers = {
  access: { api: 'management', scope: 'relationships:write', users: true, session: true },
} as const;
export const backendReaders = { access: { api: 'management', scope: 'relationships:read', users: false } } as const;
export const backendWriters = { access: { api: 'management', scope: 'relationships:write', users: false } } as const;

/** Who writes, for the audit. */
export function recordAuthorOf(request: Request): AuditedAuthor {
  const caller = request.caller as Caller;
  const user = caller.kind === 'user' ? { user: caller.actor } : {};
  const by = { actor: callerName(caller), requestId: request.id };
  return { tenant: caller.tenant, by, ...user, ...idempotencyOf(request) };
}

/** Lets back ends and members pass, which the route admits by scope and role; a user by the tenant's policy of that name. */
export async function requireAllowed(
  services: RelationshipRouteServices,
  request: Request,
  question: Parameters<RelationshipRouteServices['requireAccess']>[1],
): Promise<void> {
  const caller = request.caller as Caller;
  if (caller.kind !== 'user') return;
  const { id: requestId, span } = request;
  const asked = { tenant: caller.tenant, requestTenant: tenantOf(request), caller, requestId, span };
  await services.requireAccess(asked, question);
}
