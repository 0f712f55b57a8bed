/** The actions of the inviting side: creating an invitation, sending it again, revoking it, and reading. */
import { randomUUID } from 'node:crypto';
import type { Actor, Caller } from '../core/auth/schema.ts';
import type { Transaction } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import { quotaExceeded } from '../core/quota.ts';
import { counted } from '../core/text.ts';
import { invitationKey } from '../keys/index.ts';
import { checkEntity, type Entity } from '../relationships/index.ts';
import { loadTypesTouching, lockRelationshipTypes } from '../types/index.ts';
import { type AuditedUnit, type RecordWritten, write } from '../writes/index.ts';
import {
  creating,
  doing,
  type InvitationServices,
  type RequestContext,
  recordAuthorOf,
  requireAllowed,
} from './authorization.ts';
import { contactDigest, contactPlace } from './contact.ts';
import { invitationCreated, invitationResent, invitationRevoked } from './events.ts';
import { findById, lockActiveTenant, lockInvitation } from './found.ts';
import { type Mailing, mailInvitation, shownName } from './mailed.ts';
import {
  bindingOf,
  contactOf,
  ended,
  invitorOf,
  maskOf,
  noteOn,
  type Offer,
  offerOf,
  resendPauseMs,
  statusOf,
  termsOf,
  viewOf,
} from './rules.ts';
import type { Delivery, InvitationBody, InvitationRow, InvitationView, NewInvitation } from './schema.ts';
import {
  createdAtOfNth,
  endInvitation,
  insertInvitation,
  newInvitationId,
  recordDelivery,
  replaceToken,
  revokePending,
  wipeExpired,
} from './store.ts';
import { partiesOf, signToken } from './token.ts';

/**
 * Makes an invitation. It has requestToken where the caller may be told it.
 * @throws Problem invalid_request, type_unknown, invitation_not_offered, forbidden, rate_limited
 */
export async function createInvitation(
  services: InvitationServices,
  context: RequestContext,
  body: InvitationBody,
): Promise<RecordWritten<InvitationView>> {
  const { tenant } = context;
  checkEntity(body.to, '/to');
  const invitor = invitorFor(context.caller, body.invitor);
  checkEntity(invitor, '/invitor');
  const types = await services.database.tenantSnapshot(tenant, (tx) => offers(tx, tenant, body));
  const offer = offerOf(types, body);
  const mayTell = await requireAllowed(services, context, creating({ ...offer.type, ...placeOf(offer, body) }));
  const delivery = deliveryFor(body.delivery, mayTell);
  const name = delivery === 'mail' ? await shownName(services, tenant, invitor) : undefined;
  return write(services, recordAuthorOf(context), { locks: 'records' }, async (unit) => {
    const { tx } = unit;
    await lockActiveTenant(tx, tenant);
    if (context.caller.kind === 'user') await requireFewer(unit, invitor);
    await unit.unmarkErased([invitor, body.to]);
    const locked = offerOf(await offers(tx, tenant, body, offer), body);
    const one = await newInvitation(services, unit, { offer: locked, body, invitor, delivery });
    const row = await insertInvitation(tx, tenant, { ...one, by_tenant: context.caller.kind !== 'user' });
    await wipeExpired(tx, tenant, row.created_at, limits.invitationsWipedMax);
    const { relationshipType, invitee } = body;
    unit.emit(invitationCreated, { ...eventOf(unit, row), relationshipType, invitor, invitee });
    const { reason, requestTenant } = context;
    const { types: shown } = requestTenant.snapshot;
    return deliver(services, unit, row, { action: 'create', mayTell, invitor: name, types: shown, reason });
  });
}

/** @throws Problem rate_limited where a user has invited so often that it may be a flood of mails */
async function requireFewer({ tx, tenant, now }: AuditedUnit, invitor: Actor): Promise<void> {
  const quota = { name: 'invitations', count: limits.invitationsPerUserMax, windowMs: 3_600_000 };
  const at = await createdAtOfNth(tx, tenant, invitor, quota.count);
  const waitMs = at === undefined ? 0 : Date.parse(at) + quota.windowMs - now;
  if (waitMs > 0) throw quotaExceeded(quota, waitMs, `A user can make ${quota.count} invitations in an hour.`);
}

/** @throws Problem forbidden when a user would invite for another; invalid_request */
function invitorFor(caller: Caller, stated: Entity | undefined): Entity {
  if (caller.kind === 'user') {
    const { id, type } = caller.actor;
    if (stated === undefined || (stated.id === id && stated.type === type)) return { id, type };
    throw problem('forbidden', { detail: 'Users can invite only for themselves.' });
  }
  if (stated !== undefined) return stated;
  const detail = 'A back end must specify who invites.';
  throw problem('invalid_request', { detail, errors: [{ pointer: '/invitor', detail }] });
}

/** @param toLock locks the types of this offer, so that nobody removes them meanwhile */
async function offers(tx: Transaction, tenant: string, body: InvitationBody, toLock?: Offer) {
  const { relationshipType, to } = body;
  if (toLock === undefined) return loadTypesTouching(tx, tenant, { relationshipType, type: to.type });
  const { from_type: from, name, to_type } = toLock.type;
  return lockRelationshipTypes(tx, tenant, [{ from, name, to: to_type }], 'all');
}

function placeOf({ direction }: Offer, { to }: InvitationBody) {
  return { direction, target_type: to.type, target_id: to.id };
}

/** @throws Problem forbidden when a user asks to be told what would let it accept for another */
function deliveryFor(wanted: Delivery | undefined, mayTell: boolean): Delivery {
  if (wanted === undefined) return mayTell ? 'response' : 'mail';
  if (wanted !== 'response' || mayTell) return wanted;
  throw problem('forbidden', { detail: 'The delivery response requires the obligation return-token of the policy.' });
}

type Wanted = { offer: Offer; body: InvitationBody; invitor: Actor; delivery: Delivery };

async function newInvitation(
  { encrypter }: InvitationServices,
  unit: AuditedUnit,
  { offer, body, invitor, delivery }: Wanted,
): Promise<Omit<NewInvitation, 'by_tenant'>> {
  const { tx, tenant, now: ms, nowText: now } = unit;
  const terms = termsOf(offer.type, body, ms);
  const contact = contactOf(body.invitee.contact.value, '/invitee/contact/value');
  const address = Buffer.from(body.invitee.contact.value);
  const id = await newInvitationId(tx);
  return {
    id,
    ...placeOf(offer, body),
    from_type: offer.type.from_type,
    name: offer.type.name,
    to_type: offer.type.to_type,
    invitor_type: invitor.type,
    invitor_id: invitor.id,
    contact_type: body.invitee.contact.type,
    contact_digest: contactDigest(encrypter, tenant, contact),
    contact_mask: maskOf(body.invitee.contact.value),
    // In the response nothing is sent to anybody: then the address is not needed.
    contact_encrypted: delivery === 'response' ? null : encrypter.encrypt(address, [...contactPlace(tenant), id]),
    binding: bindingOf({ binding: 'none' }, offer.type),
    language: body.language ?? null,
    redirect_uri: body.redirectUri ?? null,
    delivery,
    token_id: randomUUID(),
    max_uses: terms.maxUses,
    expires_at: terms.expiresAt,
    relationship_expires_at: terms.relationshipExpiresAt ?? null,
    created_at: now,
  };
}

type Delivering = Mailing & {
  action: 'create' | 'resend';
  mayTell: boolean;
  reason?: string | undefined;
};

/** Signs the newest token of an invitation, records that it is to travel, and audits why. */
async function deliver(
  services: InvitationServices,
  unit: AuditedUnit,
  row: InvitationRow,
  { action, mayTell, reason, ...mailing }: Delivering,
): Promise<InvitationView> {
  const { tx, tenant, now: ms } = unit;
  const { from_type, name, to_type, target_type, target_id, delivery } = row;
  const detail = { type: `${from_type}:${name}:${to_type}`, to: `${target_type}/${target_id}`, delivery };
  // Whom the member acted for: with a user or a back end it is no question.
  const why = reason === undefined ? {} : { invitor: `${row.invitor_type}/${row.invitor_id}`, reason };
  unit.audit({ action, kind: 'invitation', name: row.id, detail: { ...detail, ...why } });
  // Also when the token is not returned now: delivering it needs a key, and an old key is rotated in time.
  const key = await invitationKey(services, tx, tenant);
  const requestToken = await signToken(key, partiesOf(services.baseUrl, tenant), row, ms);
  const message =
    delivery === 'mail' ? await mailInvitation(services, unit, row, { ...mailing, requestToken }) : undefined;
  await recordDelivery(tx, tenant, row, message);
  const view = { ...viewOf(row, ms), ...noteOn(row) };
  return mayTell ? { ...view, requestToken } : view;
}

/** @throws Problem invitation_not_found, forbidden */
async function requireInvitation(
  services: InvitationServices,
  context: RequestContext,
  id: string,
  verb: 'resend' | 'revoke',
): Promise<{ row: InvitationRow; mayTell: boolean }> {
  const row = await findById(services, context.tenant, id);
  return { row, mayTell: await requireAllowed(services, context, doing(services, context, verb, row)) };
}

const ONLY_BACK_END =
  'The requestToken of this invitation is returned to the back end that asks for it. Only a back end can send it again.';

/**
 * Gives the invitation a new token, which is delivered as the one before was, and which makes that one void.
 * @throws Problem invitation_not_found, forbidden, rate_limited; 409 and 410 unless it is pending
 */
export async function resendInvitation(
  services: InvitationServices,
  context: RequestContext,
  id: string,
): Promise<RecordWritten<InvitationView>> {
  const { mayTell, row: known } = await requireInvitation(services, context, id, 'resend');
  if (context.caller.kind === 'member' && known.delivery === 'response')
    throw problem('forbidden', { detail: ONLY_BACK_END });
  deliveryFor(known.delivery, mayTell);
  const { tenant } = context;
  const name = known.delivery === 'mail' ? await shownName(services, tenant, invitorOf(known)) : undefined;
  return write(services, recordAuthorOf(context), { locks: 'records' }, async (unit) => {
    const { tx } = unit;
    await lockActiveTenant(tx, tenant);
    const row = await lockInvitation(tx, tenant, id);
    const { now: ms, nowText: now } = unit;
    const status = statusOf(row, ms);
    if (status !== 'pending') throw ended(status, 'invitation_accepted');
    const waitMs = Date.parse(row.delivered_at) + resendPauseMs(row.deliveries) - ms;
    if (waitMs > 0) {
      const detail = `The invitation was sent ${counted(row.deliveries, 'time')}; it can be sent again in ${Math.ceil(waitMs / 1000)} s.`;
      const quota = { name: 'invitation-deliveries', count: 1, windowMs: resendPauseMs(row.deliveries) };
      throw quotaExceeded(quota, waitMs, detail);
    }
    const replaced = await replaceToken(tx, tenant, id, { tokenId: randomUUID(), now });
    unit.emit(invitationResent, eventOf(unit, replaced));
    return deliver(services, unit, replaced, {
      ...{ action: 'resend', mayTell, invitor: name },
      types: context.requestTenant.snapshot.types,
    });
  });
}

/**
 * Revokes the invitation; one that is revoked already stays so.
 * @throws Problem invitation_not_found, forbidden, invitation_accepted, invitation_declined, invitation_expired
 */
export async function revokeInvitation(
  services: InvitationServices,
  context: RequestContext,
  id: string,
): Promise<RecordWritten<void>> {
  await requireInvitation(services, context, id, 'revoke');
  const { tenant } = context;
  return write(services, recordAuthorOf(context), { locks: 'records' }, async (unit) => {
    const row = await lockInvitation(unit.tx, tenant, id);
    const status = statusOf(row, unit.now);
    if (status === 'revoked') return;
    if (status !== 'pending') throw ended(status, 'invitation_accepted');
    await endInvitation(unit.tx, tenant, id, { status: 'revoked', by: unit.by.actor, now: unit.nowText });
    unit.audit({ action: 'revoke', kind: 'invitation', name: id });
    unit.emit(invitationRevoked, eventOf(unit, row));
  });
}

/** Revokes what waits for an entity that is forgotten, in the write that forgets it. @returns how many */
export async function endInvitations(unit: AuditedUnit, entity: Entity): Promise<number> {
  const revoked = await revokePending(unit.tx, unit.tenant, entity, { by: unit.by.actor, now: unit.nowText });
  for (const row of revoked) unit.emit(invitationRevoked, eventOf(unit, row));
  return revoked.length;
}

/** What every event on an invitation says. */
export function eventOf(unit: AuditedUnit, row: Pick<InvitationRow, 'id' | 'target_type' | 'target_id'>) {
  return { requestor: unit.by.actor, invitationId: row.id, target: { type: row.target_type, id: row.target_id } };
}
