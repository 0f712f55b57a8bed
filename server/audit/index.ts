/** The audit room: one entry for each change of a tenant's configuration, written in the transaction of the change. */
export { erasingAudit } from './erasing.ts';
export { auditRoom } from './room.ts';
export { type AuditEntry, recordAudit } from './store.ts';
