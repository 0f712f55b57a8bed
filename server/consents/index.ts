/**
 * The consents room: what users have agreed to. Registering, revoking and reading, each in the ledger before its answer.
 * Records: read for each question, never cached.
 */
export { ConsentHistory } from './consent-history.ts';
export { consentsRoom } from './room.ts';
export { seedConsents } from './seeding.ts';
