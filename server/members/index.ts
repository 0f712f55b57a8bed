/**
 * The members room: the people who run a tenant, the invitations by which they become that, and the portal tokens with
 * which they call the Config API.
 */

export { memberAuthor, removeMember, revokeToken } from './actions.ts';
export { admitFirstAdmin, findFirstAdmin } from './first-admin.ts';
export type { TenantAccess } from './member-invitation-store.ts';
export { listMemberInvitations } from './member-invitation-store.ts';
export {
  acceptMemberInvitation,
  createMemberInvitationLink,
  findTenantAccess,
  type InvitedMember,
  inviteMember,
  inviteMembersOfManifest,
  type MemberInvitationLink,
  type MemberInvitationServices,
  type OpenMemberInvitation,
  readMemberInvitation,
  recordMemberInvitationDelivered,
  withdrawMemberInvitation,
} from './member-invitations.ts';
export {
  authenticateMember,
  ensureLocalMember,
  mintPortalToken,
  recordSupportUse,
} from './portal-token.ts';
export { membersRoom } from './room.ts';
export { registerMemberRoutes } from './routes.ts';
export { memberInvitationStatus } from './rules.ts';
export type { MemberRow } from './schema.ts';
export { listMembers, listPortalTokens, readMemberOfPerson } from './store.ts';
