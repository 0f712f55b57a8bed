/** The rules of invitations, pure: which type fits, how long and for whom, what a state allows, and what is shown. */
import { durationSeconds } from '../../crds/index.ts';
import { instantMs } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import { comparableAddress } from '../core/mail-address.ts';
import { type Problem, problem } from '../core/problems.ts';
import type { InvitationFact } from '../facts/index.ts';
import type { Entity, Relationship } from '../relationships/index.ts';
import { type RelationshipTypeRow, typeProblem } from '../types/index.ts';
import { invitationProblem } from './problems.ts';
import type { Binding, InvitationBody, InvitationRow, InvitationView, Status } from './schema.ts';
import type { Direction } from './sharing-schema.ts';

type TypeRow = Pick<RelationshipTypeRow, 'from_type' | 'name' | 'to_type' | 'spec' | 'retired'>;
export type Offer = { type: TypeRow; direction: Direction };

const refused = (pointer: string, detail: string) =>
  problem('invalid_request', { detail: `${pointer.slice(1)}: ${detail}`, errors: [{ pointer, detail }] });

/**
 * The one type of relationship that the invitation is for. One that leads to the target goes before one that begins there.
 * @param types those of the relationship that touch the target's type
 * @throws Problem type_unknown, invitation_not_offered; invalid_request when several fit
 */
export function offerOf(
  types: readonly TypeRow[],
  body: Pick<InvitationBody, 'relationshipType' | 'to' | 'invitee'>,
): Offer {
  const offers: Offer[] = types.flatMap((type) => [
    ...(type.to_type === body.to.type ? [{ type, direction: 'acceptor_to_target' as const }] : []),
    ...(type.from_type === body.to.type ? [{ type, direction: 'target_to_acceptor' as const }] : []),
  ]);
  const wanted = body.invitee.type;
  const fitting = offers.filter((offer) => wanted === undefined || acceptorTypeOf(offer) === wanted);
  if (fitting.length === 0) {
    const of = wanted === undefined ? '' : ` of a ${wanted}`;
    const detail = `There is no relationship ${body.relationshipType}${of} to a ${body.to.type}.`;
    throw typeProblem('type_unknown', { detail, errors: [{ pointer: '/relationshipType', detail }] });
  }
  const offered = fitting.filter(({ type }) => isOffered(type));
  if (offered.length === 0) throw invitationProblem('invitation_not_offered');
  const leading = offered.filter(({ direction }) => direction === 'acceptor_to_target');
  const [offer, another] = leading.length > 0 ? leading : offered;
  if (offer === undefined || another !== undefined) {
    const acceptors = (leading.length > 0 ? leading : offered).map(acceptorTypeOf).join(', ');
    throw refused('/invitee/type', `Must specify the type of the acceptor, one of: ${acceptors}.`);
  }
  return offer;
}

export function isOffered({ spec, retired }: Pick<TypeRow, 'spec' | 'retired'>): boolean {
  return !retired && spec.invitation?.enabled === true;
}

function acceptorTypeOf({ type, direction }: Offer): string {
  return direction === 'acceptor_to_target' ? type.from_type : type.to_type;
}

/** What an invitation of this type may be; absent members have the type's. @throws Problem invalid_request */
export function termsOf({ spec }: TypeRow, body: InvitationBody, nowMs: number) {
  const { ttl = 'P7D', maxUses: most = 1, redirectUris = [] } = spec.invitation ?? {};
  const { maxUses = most, redirectUri } = body;
  if (maxUses > most) throw refused('/maxUses', `Must be at most ${most}, the maxUses of the relationship type.`);
  if (redirectUri !== undefined && !redirectUris.includes(redirectUri))
    throw refused('/redirectUri', "Must exactly equal one of the relationship type's redirectUris.");
  const latestMs = nowMs + ttlMs(ttl);
  const expiresMs = body.expiresAt === undefined ? latestMs : futureOf(body.expiresAt, '/expiresAt', nowMs);
  if (expiresMs > latestMs)
    throw refused(
      '/expiresAt',
      `Must be at most ${new Date(latestMs).toISOString()}: the ttl of the relationship type is ${ttl}.`,
    );
  const { relationshipExpiresAt } = body;
  if (relationshipExpiresAt === undefined) return { maxUses, expiresAt: wholeSecond(expiresMs, '/expiresAt', nowMs) };
  // Nobody accepts what would end before it began.
  const untilMs = futureOf(relationshipExpiresAt, '/relationshipExpiresAt', nowMs);
  const expiresAt = wholeSecond(Math.min(expiresMs, untilMs), '/relationshipExpiresAt', nowMs);
  return { maxUses, expiresAt, relationshipExpiresAt: new Date(untilMs).toISOString() };
}

function futureOf(text: string, pointer: string, nowMs: number): number {
  const ms = instantMs(text);
  if (ms === undefined) throw refused(pointer, 'Must be an RFC 3339 instant, such as 2030-01-31T12:00:00Z.');
  if (ms <= nowMs)
    throw refused(pointer, `Must be in the future; the current time is ${new Date(nowMs).toISOString()}.`);
  return ms;
}

/** exp of a token counts seconds (RFC 7519 section 2 lets it have fractions, and verifiers round them differently). */
function wholeSecond(ms: number, pointer: string, nowMs: number): string {
  const whole = Math.floor(ms / 1000) * 1000;
  if (whole <= nowMs) throw refused(pointer, 'Must be at least one second in the future.');
  return new Date(whole).toISOString();
}

/** @param ttl of one unit, as the type's pattern has it */
export function ttlMs(ttl: string): number {
  const ms = ttl.startsWith('PT') ? durationSeconds(ttl) * 1000 : Number(ttl.slice(1, -1)) * 86_400_000;
  return Math.min(ms, limits.invitationAgeMsMax);
}

/** The address as it is compared. @param pointer to it, for a refusal @throws Problem invalid_request */
export function contactOf(address: string, pointer: string): string {
  const read = comparableAddress(address);
  if (read.ok) return read.address;
  throw refused(pointer, read.detail);
}

/** Of the type, as it is now and as it was when the invitation was made: the stricter one. */
export function bindingOf(row: Pick<InvitationRow, 'binding'>, type: Pick<TypeRow, 'spec'> | undefined): Binding {
  return row.binding === 'contact' || type?.spec.invitation?.binding === 'contact' ? 'contact' : 'none';
}

/** `a***@example.com`: enough for who knows the address. */
export function maskOf(address: string): string {
  const at = address.lastIndexOf('@');
  return `${at > 1 ? String.fromCodePoint(address.codePointAt(0) as number) : ''}***${address.slice(at)}`;
}

export function statusOf({ status, expires_at }: Pick<InvitationRow, 'status' | 'expires_at'>, nowMs: number): Status {
  return status === 'pending' && Date.parse(expires_at) <= nowMs ? 'expired' : status;
}

/** Why an invitation that is not pending cannot go on. @param accepted what accepted ones are answered */
export function ended(
  status: Exclude<Status, 'pending'>,
  accepted: 'invitation_used_up' | 'invitation_accepted',
): Problem {
  return invitationProblem(status === 'accepted' ? accepted : (`invitation_${status}` as const));
}

/** How long after its last delivery an invitation may be sent again: 1, 2, 4 … minutes. */
export function resendPauseMs(deliveries: number): number {
  return limits.invitationResendPauseMs * 2 ** (deliveries - 1);
}

export function targetOf(row: Pick<InvitationRow, 'target_type' | 'target_id'>): Entity {
  return { id: row.target_id, type: row.target_type };
}

export function invitorOf(row: Pick<InvitationRow, 'invitor_type' | 'invitor_id'>): Entity {
  return { id: row.invitor_id, type: row.invitor_type };
}

/** From:rel:To */
export function typeKeyIn(row: Pick<InvitationRow, 'from_type' | 'name' | 'to_type'>): string {
  return `${row.from_type}:${row.name}:${row.to_type}`;
}

/** From:rel:To:invitation:verb */
export function policyOf(row: Pick<InvitationRow, 'from_type' | 'name' | 'to_type'>, verb: string): string {
  return `${typeKeyIn(row)}:invitation:${verb}`;
}

/** The end of the relationship that is known before anybody accepts. */
export function knownEnd({
  name,
  direction,
  ...target
}: Pick<InvitationRow, 'name' | 'direction' | 'target_type' | 'target_id'>) {
  const known = targetOf(target);
  return direction === 'acceptor_to_target'
    ? { relationshipType: name, to: known }
    : { from: known, relationshipType: name };
}

/** The relationship that an acceptance makes. @throws Problem invalid_request for an acceptor of another type */
export function relationshipFor(row: InvitationRow, acceptor: Entity): Relationship {
  const toTarget = row.direction === 'acceptor_to_target';
  const wanted = toTarget ? row.from_type : row.to_type;
  if (acceptor.type !== wanted)
    throw refused('/acceptor/type', `Must be ${wanted}, the type that the invitation is for.`);
  const target = targetOf(row);
  const [from, to] = toTarget ? [acceptor, target] : [target, acceptor];
  const until = row.relationship_expires_at;
  return { from, relationshipType: row.name, to, ...(until === null ? {} : { expiresAt: until }) };
}

/** What policies are told of an invitation. @param contactMatches whether the caller has the invited address */
export function factOf(row: InvitationRow, nowMs: number, contactMatches: boolean): InvitationFact {
  const { id, name: relationshipType, expires_at: expiresAt } = row;
  const status = statusOf(row, nowMs);
  return { id, relationshipType, to: targetOf(row), status, invitor: invitorOf(row), expiresAt, contactMatches };
}

/** The note of a delivery that has no effect yet. */
export function noteOn({ delivery }: Pick<InvitationRow, 'delivery'>): { note?: string } {
  if (delivery !== 'event') return {};
  return {
    note: 'delivery: event has no effect: no event is sent yet. It is recorded, but the requestToken is not sent.',
  };
}

export function viewOf(row: InvitationRow, nowMs: number): InvitationView {
  const until = row.relationship_expires_at;
  return {
    invitationId: row.id,
    status: statusOf(row, nowMs),
    relationshipType: row.name,
    direction: row.direction,
    to: targetOf(row),
    invitor: invitorOf(row),
    invitee: { contact: { type: row.contact_type, masked: row.contact_mask } },
    binding: row.binding,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    ...(until === null ? {} : { relationshipExpiresAt: until }),
    maxUses: row.max_uses,
    uses: row.uses,
  };
}
