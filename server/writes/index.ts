/**
 * The writes room: the one function through which every action of every room writes for a tenant. It stands above the rooms
 * whose rows belong to each write (tenants, audit, pseudonyms, ledger) and has no table.
 */
import { authorOf } from '../core/author.ts';
import type { WriteTenant } from '../tenants/index.ts';
import type { ConfigWriteServices } from './unit.ts';
import { write } from './write.ts';

export { EventBuffer, type EventSink, type TenantEvent } from './events.ts';
export { GroupCommit } from './group.ts';
export { transferRow } from './transfer.ts';
export type { AuditedUnit, ConfigUnit, ConfigWriteServices, RecordUnit, WriteServices } from './unit.ts';
export { type RecordWritten, write } from './write.ts';

/** For the tenants room, which stands below this one. */
export function tenantWriter(services: ConfigWriteServices): WriteTenant {
  return (tenant, writer, work, create) =>
    write(services, authorOf(tenant, writer), { locks: 'configuration', create }, work);
}
