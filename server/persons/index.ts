/**
 * The persons room: pages of a tenant's end users, who log in at its own issuer: their own account, and where the
 * link of a relationship invitation leads.
 */
export { authenticateAccount } from './caller.ts';
export { personsRoom } from './room.ts';
