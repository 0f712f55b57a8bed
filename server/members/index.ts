/**
 * The members room: the people who run a tenant, and the portal tokens with which they call the Config API. Owns
 * accord.member and accord.portal_token.
 */
export {
  authenticateMember,
  ensureLocalMember,
  mintPortalToken,
  type PortalServices,
  recordSupportUse,
} from './portal-token.ts';
export { memberProblem } from './problems.ts';
export { type MemberRouteServices, registerMemberRoutes } from './routes.ts';
