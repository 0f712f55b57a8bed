/**
 * The accounts room: end users of a tenant who log in at its own issuer, by password, passkey or a linked log-in of another
 * issuer. An account's id is the id of the actor, whose type is the tenant's default.
 */
export {
  accountAuthor,
  hasPassword,
  readAccount,
  type SignedUp,
  type SigningUp,
  sendSignUpAgain,
  signUp,
} from './actions.ts';
export { verifiedAddresses } from './addresses.ts';
export { deleteAccount, setAccountEnabled } from './administration.ts';
export {
  identityProof,
  type LinkedIdentity,
  type LoggedInUpstream,
  linkIdentity,
  listIdentities,
  logInWithIdentity,
  type Upstream,
  unlinkIdentity,
} from './identities.ts';
export { decideUpstream, type UpstreamClaims, type UpstreamDecision } from './linking.ts';
export { type LoggedIn, type LoggingIn, logIn, type ProofOf, type Refused } from './logging-in.ts';
export { changeDisplayName, renamePasskey } from './naming.ts';
export {
  listPasskeys,
  logInWithPasskey,
  type Passkey,
  type PasskeyResponse,
  passkeyLogInOptions,
  passkeyRegistrationOptions,
  registerPasskey,
  removePasskey,
} from './passkeys.ts';
export {
  addressOfLink,
  changePassword,
  requestPasswordReset,
  resetPassword,
  type Verified,
  verifyEmail,
} from './recovery.ts';
export { accountsRoom } from './room.ts';
export { accountPaths } from './rules.ts';
export type { Account } from './schema.ts';
export type { AccountChange, AccountListener, AccountServices } from './services.ts';
export { isOfEpoch } from './store.ts';
