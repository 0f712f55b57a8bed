/**
 * The clients room: applications that get tokens from the tenant's own issuer, and their secrets. Emits revisions
 * (`oauth_client`, and `denied_token` when a client's tokens are refused).
 */
export { type ClientServices, deleteClient, putClient } from './actions.ts';
export { clientsRoom } from './room.ts';
export { type Incarnation, isRegisteredRedirect, usesSecret, verifyClientSecret } from './rules.ts';
export type { Client, ClientSecret, ClientSpec, Clients } from './schema.ts';
export { addSecret, generateSecret } from './secrets.ts';
