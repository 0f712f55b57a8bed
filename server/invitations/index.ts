/**
 * The invitations room: sharing a relationship with the bearer of a signed requestToken. Records, from pending to accepted,
 * declined, revoked or expired, each step once.
 */
export { endInvitations } from './actions.ts';
export { erasingInvitations } from './erasing.ts';
export { pendingInvitationOf } from './facts.ts';
export { invitationsRoom } from './room.ts';
export { registerInvitationRoutes } from './routes.ts';
export { contactOf } from './rules.ts';
