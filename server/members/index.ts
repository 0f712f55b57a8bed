/**
 * The members room: the people who run a tenant, the invitations by which they become that, and the portal tokens with
 * which they call the Config API. Owns accord.member, accord.member_invitation and accord.portal_token.
 */
export type { Entrance } from './invitation-store.ts';
export {
  findEntrance,
  type InvitationLink,
  type InvitationServices,
  type Invited,
  inviteForManifest,
  inviteMember,
  makeInvitationLink,
  recordInvitationReported,
} from './invitations.ts';
export {
  authenticateMember,
  ensureLocalMember,
  mintPortalToken,
  recordSupportUse,
} from './portal-token.ts';
export { membersRoom } from './room.ts';
export { registerMemberRoutes } from './routes.ts';
