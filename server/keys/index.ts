/**
 * The keys room: signing keys of tenants and of the installation, encrypted under the master key, and the tokens that are
 * signed with them.
 */
export { ensureKeys, type InstallationKey, invitationKey, nonRotatingKey, openInstallationKey } from './actions.ts';
export { type Minted, type MintServices, mintClientToken, mintUserToken } from './mint.ts';
export { PublishedKeys } from './published.ts';
export { keysRoom } from './room.ts';
export { registerKeyRoutes } from './routes.ts';
export { ownIssuer, portalIssuer } from './rules.ts';
export type { PublicKey, SigningKey } from './schema.ts';
export { loadPublicKeys, readInvitationKeys, readLastingPublicKey } from './store.ts';
