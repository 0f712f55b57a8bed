/**
 * The portal room: the pages where members log in once for all their tenants, invite others and copy the token for the Config API.
 * Members are end users of the installation's own tenant; the portal is an application of its issuer, {base}/portal/oidc.
 */

export { openBundle } from './bundle.ts';
export { authenticatePortal, isFromOwnPage } from './caller.ts';
export { beginLogIn, completeLogIn, type LogInServices, type RelyingParty } from './log-in.ts';
export { portalRoom } from './room.ts';
export {
  beginSession,
  endOwnSessions,
  endSession,
  findSession,
  isRecent,
  listOwnSessions,
  type Origin,
  type OwnSession,
  ownSessionId,
  type Session,
} from './sessions.ts';
export { ensurePortalTenant } from './tenant.ts';
