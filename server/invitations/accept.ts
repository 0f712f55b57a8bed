/**
 * The actions of the bearer of a requestToken: accept, decline, preview. Policies are asked before the transaction, because
 * they read facts by connections of their own; what they were asked about is looked at again under the invitation's lock.
 */
import type { Caller } from '../core/auth/schema.ts';
import type { Transaction } from '../core/db/database.ts';
import { problem } from '../core/problems.ts';
import { checkEntity, type Entity, makeRelationship, type Relationship } from '../relationships/index.ts';
import { lockRelationshipTypes, readRelationshipType } from '../types/index.ts';
import { type RecordWritten, write } from '../writes/index.ts';
import { eventOf } from './actions.ts';
import {
  doing,
  type InvitationServices,
  mayStillInvite,
  type RequestContext,
  recordAuthorOf,
} from './authorization.ts';
import { requireContact } from './contact.ts';
import { withDisplayNames } from './display-names.ts';
import { invitationAccepted, invitationDeclined, invitationRevoked } from './events.ts';
import { checkActive, findInvitation, findReceived, lockActiveTenant, lockInvitation } from './found.ts';
import { nameOfInvitor } from './mailed.ts';
import { invitationProblem } from './problems.ts';
import { bindingOf, ended, invitorOf, isOffered, relationshipFor, statusOf, targetOf, typeKeyIn } from './rules.ts';
import type { Accepted, Binding, InvitationRow, Preview } from './schema.ts';
import { endInvitation, isAcceptedBy, recordUse } from './store.ts';

type Token = { tenant: string; requestToken: string };
/** How an invitation is named: by its token, which its bearer has, or by its id, for the user who has the invited address. */
export type Ticket = { requestToken: string } | { invitationId: string };

function find(services: InvitationServices, tx: Transaction, { tenant, caller }: RequestContext, ticket: Ticket) {
  return 'requestToken' in ticket
    ? findInvitation(services, tx, tenant, ticket.requestToken, services.clock.now())
    : findReceived(services, tx, caller, ticket.invitationId);
}

/**
 * Accepts an invitation: makes its relationship, once for each acceptor and as often as it may be used.
 * @throws Problem 400 for a bad token or acceptor, 403, 409 when others took it, 410 when it is over
 */
export async function acceptInvitation(
  services: InvitationServices,
  context: RequestContext,
  { acceptor, ...ticket }: { acceptor: Entity } & Ticket,
): Promise<RecordWritten<Accepted>> {
  checkAcceptor(context.caller, acceptor);
  const { tenant } = context;
  const { row, tokenId, isBefore } = await services.database.tenantSnapshot(tenant, async (tx) => {
    await checkActive(tx, tenant);
    const found = await find(services, tx, context, ticket);
    return { ...found, isBefore: await isAcceptedBy(tx, tenant, found.row.id, acceptor) };
  });
  const relationship = relationshipFor(row, acceptor);
  if (isBefore) return write(services, { tenant }, { locks: 'records' }, async () => accepted(row, relationship));
  checkPending(row, tokenId, services.clock.now());
  await askPolicies(services, context, row, relationship);
  return write(services, recordAuthorOf(context), { locks: 'records' }, async (unit) => {
    const { tx } = unit;
    await lockActiveTenant(tx, tenant);
    const locked = await lockInvitation(tx, tenant, row.id);
    if (await isAcceptedBy(tx, tenant, locked.id, acceptor)) return accepted(locked, relationship);
    await unit.unmarkErased([relationship.from, relationship.to]);
    // After whatever was waited for: an invitation is not used after it has expired.
    checkPending(locked, tokenId, unit.now);
    const type = await typeOf(tx, tenant, locked);
    if (bindingOf(locked, type) === 'contact' || tokenId === undefined)
      requireContact(services.encrypter, context.caller, locked);
    await makeRelationship(unit, type, relationship, 'later');
    await recordUse(tx, tenant, locked.id, { acceptor, by: unit.by.actor, now: unit.nowText });
    const detail = { acceptor: `${acceptor.type}/${acceptor.id}`, use: locked.uses + 1, of: locked.max_uses };
    unit.audit({ action: 'accept', kind: 'invitation', name: locked.id, detail });
    unit.emit(invitationAccepted, { ...eventOf(unit, locked), acceptor });
    return accepted(locked, relationship);
  });
}

/** @throws Problem forbidden, invalid_request */
function checkAcceptor(caller: Caller, acceptor: Entity): void {
  checkEntity(acceptor, '/acceptor');
  if (caller.kind === 'backend') return;
  if (caller.kind === 'user' && caller.actor.id === acceptor.id && caller.actor.type === acceptor.type) return;
  const detail = 'Users can accept only for themselves.';
  throw problem('forbidden', { detail, errors: [{ pointer: '/acceptor', detail }] });
}

function accepted(row: InvitationRow, { from, relationshipType, to }: Relationship): Accepted {
  return { invitationId: row.id, status: 'accepted', relationship: { from, relationshipType, to } };
}

/** @throws Problem 409 or 410 saying which state it is in, or that the token was replaced */
function checkPending(row: InvitationRow, tokenId: string | undefined, ms: number): void {
  const status = statusOf(row, ms);
  if (status !== 'pending') throw ended(status, 'invitation_used_up');
  if (tokenId !== undefined && tokenId !== row.token_id) throw invitationProblem('invitation_token_void');
}

/**
 * Whether the acceptor may, where a policy speaks of it, and whether the invitor still may. An invitor who lost the right
 * has revoked the invitation by that.
 * @throws Problem forbidden, invitation_revoked
 */
async function askPolicies(
  services: InvitationServices,
  context: RequestContext,
  row: InvitationRow,
  { from, relationshipType, to }: Relationship,
): Promise<void> {
  const { caller, tenant, requestTenant } = context;
  const question = { ...doing(services, context, 'accept', row), relationship: { from, relationshipType, to } };
  if (caller.kind === 'user' && requestTenant.snapshot.policies.has(question.action))
    await services.requireAccess(context, question);
  const still = await mayStillInvite(services, context, row);
  if (still === 'yes') return;
  if (still === 'unknown')
    throw problem('forbidden', { detail: 'The policy that let the invitor invite could not be evaluated now.' });
  // Not the requested action, so no Idempotency-Key is reserved.
  const { idempotency: _, ...author } = recordAuthorOf(context);
  await write(services, author, { locks: 'records' }, async (unit) => {
    const locked = await lockInvitation(unit.tx, tenant, row.id);
    if (statusOf(locked, unit.now) !== 'pending') return;
    await endInvitation(unit.tx, tenant, row.id, { status: 'revoked', by: unit.by.actor, now: unit.nowText });
    const detail = { because: 'the invitor may no longer invite' };
    unit.audit({ action: 'revoke', kind: 'invitation', name: row.id, detail });
    unit.emit(invitationRevoked, eventOf(unit, locked));
  });
  throw invitationProblem('invitation_revoked');
}

/** The type of the invitation, locked; undefined when it is removed. */
async function lockType(tx: Transaction, tenant: string, row: InvitationRow) {
  const key = { from: row.from_type, name: row.name, to: row.to_type };
  const [type] = await lockRelationshipTypes(tx, tenant, [key], 'all');
  return type;
}

/** The same. @throws Problem invitation_revoked when it is removed, or no longer shared by invitation */
async function typeOf(tx: Transaction, tenant: string, row: InvitationRow) {
  const type = await lockType(tx, tenant, row);
  if (type !== undefined && isOffered(type)) return type;
  throw invitationProblem('invitation_revoked', { detail: 'The relationship type is no longer shared by invitation.' });
}

/**
 * Declines an invitation for one. Declined again by the same caller, it stays so. One that is bound to an address is not
 * ended by another user who got its token; a back end could revoke it as well.
 * @throws Problem as accept, and invitation_shared
 */
export function declineInvitation(
  services: InvitationServices,
  context: RequestContext,
  ticket: Ticket,
): Promise<RecordWritten<{ invitationId: string; status: 'declined' }>> {
  const { tenant } = context;
  return write(services, recordAuthorOf(context), { locks: 'records' }, async (unit) => {
    const { tx } = unit;
    await lockActiveTenant(tx, tenant);
    const { row, tokenId } = await find(services, tx, context, ticket);
    const locked = await lockInvitation(tx, tenant, row.id);
    const { now: ms, nowText: now } = unit;
    const declined = { invitationId: locked.id, status: 'declined' } as const;
    if (locked.status === 'declined' && locked.ended_by === unit.by.actor) return declined;
    if (statusOf(locked, ms) === 'accepted') throw ended('accepted', 'invitation_accepted');
    checkPending(locked, tokenId, ms);
    if (locked.max_uses > 1) throw invitationProblem('invitation_shared');
    const isBound = bindingOf(locked, await lockType(tx, tenant, locked)) === 'contact';
    if ((isBound || tokenId === undefined) && context.caller.kind === 'user')
      requireContact(services.encrypter, context.caller, locked);
    await endInvitation(tx, tenant, locked.id, { status: 'declined', by: unit.by.actor, now });
    unit.audit({ action: 'decline', kind: 'invitation', name: locked.id });
    unit.emit(invitationDeclined, eventOf(unit, locked));
    return declined;
  });
}

/**
 * The invitation of a token, with the binding that holds now.
 * @param acceptor for whom one that it has accepted is open still
 * @throws Problem as accept
 */
export async function requirePending(
  services: InvitationServices,
  { tenant, requestToken }: Token,
  acceptor?: Entity,
): Promise<{ row: InvitationRow; binding: Binding; isAccepted: boolean }> {
  const { row, tokenId, binding, isAccepted } = await services.database.tenantSnapshot(tenant, async (tx) => {
    await checkActive(tx, tenant);
    const found = await findInvitation(services, tx, tenant, requestToken, services.clock.now());
    const { from_type: from, name, to_type: to } = found.row;
    const type = await readRelationshipType(tx, tenant, { from, name, to });
    const isAccepted = acceptor !== undefined && (await isAcceptedBy(tx, tenant, found.row.id, acceptor));
    return { ...found, binding: bindingOf(found.row, type), isAccepted };
  });
  if (!isAccepted) checkPending(row, tokenId, services.clock.now());
  return { row, binding, isAccepted };
}

/** What the bearer of a token sees before logging in. @throws Problem as accept */
export async function previewInvitation(
  services: InvitationServices,
  token: Token,
  { requestTenant, language }: Pick<RequestContext, 'requestTenant'> & { language: string | undefined },
): Promise<Preview> {
  const { row, binding } = await requirePending(services, token);
  const displayName = await nameOfInvitor(services, token.tenant, invitorOf(row));
  return {
    relationshipType: row.name,
    direction: row.direction,
    to: targetOf(row),
    ...withDisplayNames(requestTenant, { typeKey: typeKeyIn(row), what: targetOf(row) }, language),
    ...(displayName === undefined ? {} : { invitor: { displayName } }),
    expiresAt: row.expires_at,
    binding,
  };
}
