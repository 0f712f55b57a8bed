/**
 * The consents room: what users have agreed to. Registering, revoking and reading, each in the ledger before its answer.
 * Records: read for each question, never held. Owns accord.user_consent and accord.consent_invitation.
 */
export { ConsentBatchWriter } from './batch-writer.ts';
export { ConsentHistory } from './consent-history.ts';
export { erasingConsents } from './erasing.ts';
export { readConsentFacts } from './facts.ts';
export { type ConsentRouteServices, registerConsentRoutes } from './routes.ts';
export { seedConsents } from './seeding.ts';
