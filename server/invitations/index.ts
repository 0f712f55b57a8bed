/**
 * The invitations room: sharing a relationship with the bearer of a signed requestToken. Records, from pending to accepted,
 * declined, revoked or expired, each step once.
 */
export { endInvitations, revokeInvitation } from './actions.ts';
export type { InvitationServices, RequestContext } from './authorization.ts';
export { contactDigestOf } from './contact.ts';
export { displayNamesOf } from './display-names.ts';
export { erasingInvitations } from './erasing.ts';
export {
  invitationAccepted,
  invitationCreated,
  invitationDeclined,
  invitationExpired,
  invitationRevoked,
} from './events.ts';
export { pendingInvitationOf } from './facts.ts';
export { invitationPath } from './mailed.ts';
export { acceptOpened, declineOpened, type OpenedInvitation, openInvitation } from './opened.ts';
export { invitationsRoom } from './room.ts';
export { registerInvitationRoutes } from './routes.ts';
export { contactOf } from './rules.ts';
export {
  endShared,
  listInvited,
  listOwn,
  listShared,
  type OwnContext,
} from './shared.ts';
