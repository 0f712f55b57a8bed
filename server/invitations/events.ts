/** The events of the invitations room. */
import type { Entity } from '../relationships/index.ts';
import { eventType } from '../room/events.ts';
import type { InvitationBody } from './schema.ts';

type Invitation = { invitationId: string; target: Entity };
type Created = Pick<InvitationBody, 'relationshipType' | 'invitee'> & { invitor: Entity };

export const invitationCreated = eventType<Invitation & Created>('INVITATION_CREATED');
export const invitationResent = eventType<Invitation>('INVITATION_RESENT');
export const invitationAccepted = eventType<Invitation & { acceptor: Entity }>('INVITATION_ACCEPTED');
export const invitationDeclined = eventType<Invitation>('INVITATION_DECLINED');
export const invitationRevoked = eventType<Invitation>('INVITATION_REVOKED');
export const invitationEvents = [
  invitationCreated,
  invitationResent,
  invitationAccepted,
  invitationDeclined,
  invitationRevoked,
];
