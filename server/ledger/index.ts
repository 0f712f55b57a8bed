/**
 * The ledger room: what was requested and done with consents, one RegisterEvent each, durable before the answer. Entries
 * are appended by whoever acts, and sealed into one hash chain a tenant. Owns accord.ledger_inbox, accord.ledger_entry and
 * accord.ledger_checkpoint.
 */
export { appendIn, Ledger } from './append.ts';
export type { RegisterEntry, RegisterEventType } from './schema.ts';
export { eraseIn } from './store.ts';
