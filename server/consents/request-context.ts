/** What the room's verbs share: what they need, who asks, whose consents it is about, and what is recorded of it. */
import { callerName } from '../core/auth/name.ts';
import type { Caller } from '../core/auth/schema.ts';
import type { Author } from '../core/author.ts';
import { type IdempotencyReservation, idempotencyOf } from '../core/idempotency-key.ts';
import { wrongId } from '../core/ids.ts';
import { problem } from '../core/problems.ts';
import type { Definitions } from '../definitions/index.ts';
import { type RequestTenant, tenantOf } from '../http/fastify.ts';
import type { DeniedRequestRecorder, Ledger } from '../ledger/index.ts';
import type { MailServices } from '../mail/index.ts';
import type { TenantSpec } from '../tenants/index.ts';
import type { RecordUnit, WriteServices } from '../writes/index.ts';
import type { AdoptionCounts } from './adoption-counts.ts';
import type { ConsentHistory } from './consent-history.ts';

export { entryOf } from '../ledger/index.ts';

export type ConsentServices = WriteServices &
  MailServices & {
    baseUrl: string;
    ledger: Ledger;
    history: ConsentHistory;
    adoptions: AdoptionCounts;
    deniedRequests: DeniedRequestRecorder;
    /** What this server serves of a tenant, for what is no request's alone. @throws Problem 404, 503 */
    snapshotOf: (tenant: string) => { readonly spec: TenantSpec; readonly definitions: Definitions };
  };

export type RequestContext = {
  tenant: string;
  requestTenant: RequestTenant;
  caller: Caller;
  requestId: string;
  idempotency?: IdempotencyReservation;
  /** Why a member acts for a user: it stands in the ledger and in the audit. */
  reason?: string;
};

/** The caller of a request. access.ts has let it in. */
export function contextOf(request: {
  params: { tenant: string };
  tenant: RequestTenant | null;
  caller: Caller | null;
  id: string;
  idempotency?: IdempotencyReservation | null;
}): RequestContext {
  const { params, caller, id: requestId } = request;
  const requestTenant = tenantOf(request);
  return { tenant: params.tenant, requestTenant, caller: caller as Caller, requestId, ...idempotencyOf(request) };
}

/** What is done with consents is in the ledger. What members do is in the audit too (auditMember). */
export function authorOf({ tenant, idempotency }: RequestContext): Author {
  return { tenant, idempotency };
}

/** Records in the audit what a member did for a user; of other callers there is nothing to record. */
export function auditMember(
  unit: RecordUnit,
  { caller, requestId, reason }: RequestContext,
  entry: { action: 'register' | 'revoke'; name: string; about: Record<string, unknown> },
): void {
  if (caller.kind !== 'member') return;
  const { action, name, about } = entry;
  unit
    .as({ actor: callerName(caller), requestId })
    .audit({ action, kind: 'consent', name, detail: { ...about, reason } });
}

/** The user that a caller is, or undefined for a back end or a member. @throws Problem forbidden for an actor that is no user of consents */
export function userOf({ requestTenant, caller }: RequestContext): string | undefined {
  if (caller.kind !== 'user') return undefined;
  const { defaultActorType } = requestTenant.snapshot.spec.tokenMapping;
  if (caller.actor.type === defaultActorType) return caller.actor.id;
  throw problem('forbidden', { detail: `Only actors of the type ${defaultActorType} have consents.` });
}

/**
 * Whose consents a request is about: a user's own, whatever a back end says (undefined when it says nothing).
 * @param pointer where the request says it
 * @throws Problem forbidden when a user names another, invalid_request
 */
export function concerned(context: RequestContext, said: string | undefined, pointer: string): string | undefined {
  const own = userOf(context);
  if (own !== undefined) {
    if (said === undefined || said === own) return own;
    const detail = 'Users can act only for themselves.';
    throw problem('forbidden', { detail, errors: [{ pointer, detail }] });
  }
  const wrong = said === undefined ? undefined : wrongId(said);
  if (wrong !== undefined) throw problem('invalid_request', { detail: wrong, errors: [{ pointer, detail: wrong }] });
  return said;
}

/** As concerned, of a request that is about somebody. */
export function concernedUser(context: RequestContext, said: string | undefined, pointer: string): string {
  const user = concerned(context, said, pointer);
  if (user !== undefined) return user;
  const detail = 'A back end must specify the user.';
  throw problem('invalid_request', { detail, errors: [{ pointer, detail }] });
}
