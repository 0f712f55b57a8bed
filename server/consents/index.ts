/**
 * The consents room: what users have agreed to. Registering, revoking and reading, each in the ledger before its answer.
 * Records: read for each question, never cached.
 */
export { revokeConsent } from './actions.ts';
export { consentRefused, consentRegistered, consentRevoked } from './events.ts';
export { showMine } from './reading.ts';
export type { ConsentServices } from './request-context.ts';
export { consentsRoom } from './room.ts';
export type { GivenRow, ListedConsent } from './schema.ts';
export { seedConsents } from './seeding.ts';
export { readGiven, type Standing, standingsOf } from './standings.ts';
