/** The oidc room: an authorization server for each tenant (OAuth 2.0, OpenID Connect 1.0) at /{tenant}/oidc. */
export { answerError, csrfKey } from './forms.ts';
export { fieldErrorsOf } from './interaction-steps.ts';
export {
  endIssuerSessions,
  endOtherSessions,
  type GrantedClient,
  type IssuerSession,
  isIssuerSessionLive,
  issuerSessionOfCode,
  listGrantedClients,
  listIssuerSessions,
  type OfAccountServices,
  revokeClient,
} from './of-account.ts';
export { ownPagesCallback, ownPagesClient, ownPagesCookie } from './own-pages.ts';
export { pageContext } from './page-sources.ts';
export { proofChecker } from './proofs.ts';
export { oidcRoom } from './room.ts';
export { signedUpOf, signedUpPath } from './signed-up.ts';
export { type LinkHook, linkHook } from './upstream-link.ts';
