/** Transfers a row of configuration to another owner. */
import type { AuditKind } from '../core/audit-kinds.ts';
import { authorOf } from '../core/author.ts';
import type { Transaction } from '../core/db/database.ts';
import { describeOwner, isSameObject, type Owner, type Writer } from '../core/ownership.ts';
import type { ConfigWritten } from '../tenants/index.ts';
import type { ConfigWriteServices } from './unit.ts';
import { write } from './write.ts';

/** A row that has an owner, as its room reads and writes it. */
type OwnedRow = {
  /** What changed, as `ConfigUnit.changed` takes it. */
  kind: AuditKind;
  name: string;
  ownerOf(tx: Transaction): Promise<Owner | undefined>;
  setOwner(tx: Transaction, owner: Owner): Promise<void>;
};

/** Gives a row of the writer's to another owner as it is; does nothing when it is not (any more) the writer's. */
export function transferRow(
  services: ConfigWriteServices,
  tenant: string,
  writer: Writer,
  row: OwnedRow,
  to: Owner,
): Promise<ConfigWritten<void>> {
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const owner = await row.ownerOf(unit.tx);
    if (owner === undefined || !isSameObject(owner, writer.owner)) return;
    await row.setOwner(unit.tx, to);
    unit.changed(row.kind, row.name, 'transfer', { to: describeOwner(to) });
  });
}
