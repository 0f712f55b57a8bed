/** The events of the invitations room. */
import { Type } from 'typebox';
import { Entity } from '../relationships/schema.ts';
import { eventData, eventType } from '../room/events.ts';
import { InvitationBody } from './schema.ts';

const invitation = { invitationId: Type.String(), target: Entity };
const requestor = 'user:user:alice';
const invitationId = '0199f2f0-7f5e-7c3a-9a53-5f4b1e0c2d11';
const example = { requestor, invitationId, target: { type: 'car', id: 'car-1' } };
const keyOf = (data: { invitationId: string }) => `invitation/${data.invitationId}`;
const [{ relationshipType, invitee }, base] = [InvitationBody.properties, '/{tenant}/sharing/invitations'];

export const invitationCreated = eventType('INVITATION_CREATED', {
  when: 'An invitation to share was created.',
  operations: [`POST ${base}`],
  data: eventData({ ...invitation, relationshipType, invitor: Entity, invitee }),
  example: {
    ...{ ...example, relationshipType: 'drives', invitor: { type: 'user', id: 'alice' } },
    invitee: { contact: { type: 'email', value: 'bob@example.com' } },
  },
  keyOf,
  legacy: ({ requestor, target, invitor, invitationId: id, invitee: { contact } }) => ({
    ...{ requestor, target, invitor, invitationId: id, invitee: { contact } },
  }),
});
export const invitationResent = eventType('INVITATION_RESENT', {
  ...{
    when: 'An invitation was sent again, with another requestToken.',
    operations: [`POST ${base}/{id}/resend`, `POST /tenants${base}/{id}/resend`],
  },
  ...{ data: eventData(invitation), example, keyOf },
});
export const invitationAccepted = eventType('INVITATION_ACCEPTED', {
  when: 'An invitation was accepted. RELATIONSHIP_CREATED tells of the relationship.',
  operations: [`POST ${base}/accept`, `POST ${base}/{id}/accept`],
  data: eventData({ ...invitation, acceptor: Entity }),
  example: { ...example, acceptor: { type: 'user', id: 'bob' } },
  keyOf,
});
export const invitationDeclined = eventType('INVITATION_DECLINED', {
  ...{ when: 'An invitation was declined.', operations: [`POST ${base}/decline`, `POST ${base}/{id}/decline`] },
  ...{ data: eventData(invitation), example, keyOf },
});
export const invitationRevoked = eventType('INVITATION_REVOKED', {
  when: 'An invitation was revoked, or ended because its target was deleted or its invitor may no longer invite.',
  operations: [
    `DELETE ${base}/{id}`,
    `DELETE /tenants${base}/{id}`,
    `POST ${base}/accept`,
    `POST ${base}/{id}/accept`,
    'DELETE /{tenant}/actors/{type}/{id}',
    'DELETE /{tenant}/resources/{type}/{id}',
  ],
  ...{ data: eventData(invitation), example, keyOf },
});
export const invitationExpired = eventType('INVITATION_EXPIRED', {
  when: 'An invitation expired: its expiresAt came before it was accepted as often as it may be, declined or revoked.',
  operations: [],
  data: eventData({ ...invitation, expiresAt: Type.String({ format: 'date-time' }) }),
  example: { ...example, requestor: 'accord', expiresAt: '2026-11-23T09:30:00.000Z' },
  keyOf,
});
export const invitationEvents = [
  invitationCreated,
  invitationResent,
  invitationAccepted,
  invitationDeclined,
  invitationRevoked,
  invitationExpired,
];
