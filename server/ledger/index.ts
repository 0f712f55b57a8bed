/**
 * The ledger room: what was requested and done with consents, one RegisterEvent each, durable before the answer. Entries
 * are appended by whoever acts, and sealed into one hash chain a tenant. Owns accord.ledger_inbox, accord.ledger_entry and
 * accord.ledger_checkpoint.
 */
export { actedBy } from './acting.ts';
export { issueReceipt } from './actions.ts';
export { appendEntries, Ledger } from './append.ts';
export { erasingLedger } from './erasing.ts';
export { denied, RefusalRecorder } from './refusal-recorder.ts';
export { type LedgerRouteServices, registerLedgerRoutes } from './routes.ts';
export type { RegisterEntry } from './schema.ts';
export { keepSealing, type SealServices, sealWaiting } from './seal.ts';
export { eraseIn } from './store.ts';
export { type Verification, verifyLedger } from './verify.ts';
