/**
 * The ledger room: what was requested and done with consents, one RegisterEvent each, durable before the answer. Entries
 * are appended by the rooms that act, and sealed into one hash chain per tenant.
 */
export { actedBy, entryOf } from './acting.ts';
export { issueReceipt } from './actions.ts';
export { appendEntries, Ledger } from './append.ts';
export { DeniedRequestRecorder, denied } from './denied-request-recorder.ts';
export { ledgerRoom } from './room.ts';
export type { RegisterEntry } from './schema.ts';
export { sealing, sealWaiting } from './seal.ts';
export { eraseIn } from './store.ts';
export { isLedgerEmpty } from './tenant-store.ts';
export { type Verification, verifyLedger } from './verify.ts';
