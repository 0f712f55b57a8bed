/**
 * The consents room: what users have agreed to. Registering, revoking and reading, each in the ledger before its answer.
 * Records: read for each question, never held. Owns accord.user_consent and accord.consent_invitation.
 */
export { ConsentBatchWriter } from './batch-writer.ts';
export { erasingConsents } from './erasing.ts';
export { FactsWithConsents } from './facts.ts';
export { PastConsents } from './past.ts';
export { recorded } from './route-parts.ts';
export { type ConsentRouteServices, registerConsentRoutes } from './routes.ts';
export { seedConsents } from './seeding.ts';
export { Throttled } from './throttled.ts';
