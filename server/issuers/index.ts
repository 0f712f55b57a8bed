/**
 * The issuers room: identity providers whose access tokens a tenant accepts, and which claims name the actor. Emits revisions (`trusted_issuer`, and `tenant` for the token mapping).
 */
export { deleteIssuer, type IssuerServices, loginSecretName, putIssuer, transferIssuer } from './actions.ts';
export { KeyFindings } from './key-findings.ts';
export { issuersRoom } from './room.ts';
export { registerIssuerRoutes } from './routes.ts';
export { authOf, checkIssuer } from './rules.ts';
export { loadIssuers } from './store.ts';
