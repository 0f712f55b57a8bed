/**
 * The writes room: the one function through which every action of every room writes for a tenant. It comes after the rooms
 * whose rows belong to each write (tenants, audit, pseudonyms, ledger) and has no table.
 */
export { GroupCommit } from './group.ts';
export { writesRoom } from './room.ts';
export { tenantWriter } from './tenant-writer.ts';
export { transferRow } from './transfer.ts';
export type { AuditedUnit, ConfigUnit, ConfigWriteServices, RecordUnit, WriteServices } from './unit.ts';
export { type RecordWritten, write } from './write.ts';
