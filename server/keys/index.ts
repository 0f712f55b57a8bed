/**
 * The keys room: signing keys of tenants and of the installation, encrypted under the master key, and the tokens that are
 * signed with them and which of those are refused.
 */
export {
  accessKeys,
  ensureKeys,
  type InstallationKey,
  identityKeys,
  invitationKey,
  nonRotatingKey,
  openInstallationKey,
  rotateKeys,
  type TokenKeyServices,
} from './actions.ts';
export {
  allowClientTokens,
  allowSubjectTokens,
  type DenyingUnit,
  denyClientTokens,
  denyErasedSubject,
  denyGrantTokens,
  denySubjectTokens,
  denyToken,
  isDenialName,
  isErasureName,
} from './denied.ts';
export { loadDeniedTokens } from './denied-store.ts';
export { type Minted, type MintServices, mintClientToken, mintUserToken } from './mint.ts';
export { PublishedKeys } from './published.ts';
export { keysRoom } from './room.ts';
export { registerKeyRoutes } from './routes.ts';
export {
  accessTokenTtlMs,
  deniedAfter,
  deniedOf,
  noneDenied,
  ownIssuer,
  portalIssuer,
  refreshTokenTtlMs,
  sessionTtlMs,
} from './rules.ts';
export type { PublicKey, SigningKey, TokenKey, TokenKeys } from './schema.ts';
export { loadPublicKeys, readInvitationKeys, readLastingPublicKey } from './store.ts';
