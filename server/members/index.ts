/**
 * The members room: the people who run a tenant, the invitations by which they become that, and the portal tokens with
 * which they call the Config API.
 */
export type { Entrance } from './member-invitation-store.ts';
export {
  createMemberInvitationLink,
  findEntrance,
  type InvitedMember,
  inviteMember,
  inviteMembersOfManifest,
  type MemberInvitationLink,
  type MemberInvitationServices,
  recordMemberInvitationDelivered,
} from './member-invitations.ts';
export {
  authenticateMember,
  ensureLocalMember,
  mintPortalToken,
  recordSupportUse,
} from './portal-token.ts';
export { membersRoom } from './room.ts';
export { registerMemberRoutes } from './routes.ts';
