/**
 * The events that actions emit. They stay in memory: a unit collects them, and hands them over when its transaction is
 * committed. Types that no action emits (RELATIONSHIP_EXPIRED and others that time brings, REGISTER_EVENT and DECISION, which
 * have tables of their own) are not here.
 */
import { limits } from '../core/limits.ts';

type Party = { type: string; id: string };
/** `requestor`: who asked for it, as the audit names callers. */
type Requested = { requestor: string };
type Filter = { fromType?: string; fromId?: string; relationshipType?: string; toType?: string; toId?: string };
type Invitation = Requested & { invitationId: string; target: Party };
type Consent = Requested & {
  userId: string;
  name: string;
  version: string;
  document?: { version: string; language: string };
};

export type EventData = {
  RELATIONSHIP_CREATED: Requested & { from: Party; relationshipType: string; to: Party; expiresAt?: string };
  /** All that matched the filter. */
  RELATIONSHIPS_DELETED: Requested & Filter & { deleted: number };
  INVITATION_CREATED: Invitation & {
    relationshipType: string;
    invitor: Party;
    invitee: { contact: { type: string; value: string } };
  };
  INVITATION_RESENT: Invitation;
  INVITATION_ACCEPTED: Invitation & { acceptor: Party };
  INVITATION_DECLINED: Invitation;
  INVITATION_REVOKED: Invitation;
  CONSENT_REGISTERED: Consent;
  CONSENT_REVOKED: Consent;
  CONSENT_REFUSED: Consent;
  CONSENT_INVITED: Consent;
  POLICY_UPDATED: Requested & { name: string; number: number };
  POLICY_DELETED: Requested & { name: string };
};
export type EventType = keyof EventData;

/** `time`: ms, of the write. */
export type TenantEvent = {
  [Type in EventType]: { type: Type; tenant: string; time: number; data: EventData[Type] };
}[EventType];

export type Emit = <Type extends EventType>(type: Type, data: EventData[Type]) => void;

/** Takes the events of a committed write. */
export type EventSink = { add(events: readonly TenantEvent[]): void };

/** Keeps the newest events until they are taken. */
export class EventBuffer implements EventSink {
  #events: TenantEvent[] = [];

  add(events: readonly TenantEvent[]): void {
    for (const event of events) this.#events.push(event);
    const excess = this.#events.length - limits.eventsBufferedMax;
    if (excess > 0) this.#events.splice(0, excess);
  }

  take(): TenantEvent[] {
    return this.#events.splice(0);
  }
}
