/**
 * Owns the transaction of a configuration write: the tenant's row lock, the next revision, the rows, the change record,
 * the audit entry and the notification: all or nothing.
 */
import { recordAudit } from '../audit/index.ts';
import type { Database, Transaction } from '../core/db/database.ts';
import { describeOwner, isSameObject, type Owner, type Writer } from '../core/ownership.ts';
import { tenantProblem } from './problems.ts';
import type { TenantRow } from './schema.ts';
import { lockTenant, recordRevision } from './store.ts';

export type ConfigWrite = {
  tx: Transaction;
  tenant: TenantRow;
  /** The revision that this write makes, if it changes anything. */
  revision: number;
  /** States one change; without any, the write leaves no trace and makes no revision. @param actor if not the writer's */
  changed(kind: string, name: string, action: string, detail?: unknown, actor?: string): void;
};

export type ConfigWritten<T> = { result: T; revision: number; changed: boolean };

/**
 * Runs `work` under the tenant's row lock.
 * @param read what work wants to know, issued behind the lock without waiting for it: it sees what the lock waited for
 * @returns the revision that holds the result: the new one, or the current one when nothing changed
 * @throws Problem tenant_not_found, and whatever work throws (then nothing is written)
 */
export async function writeConfig<T, R = undefined>(
  database: Database,
  tenant: string,
  writer: Writer,
  work: (write: ConfigWrite, known: R) => Promise<T>,
  read: (tx: Transaction) => Promise<R> = async () => undefined as R,
): Promise<ConfigWritten<T>> {
  return database.tenant(tenant, async (tx) => {
    await writer.once?.claim(tx);
    const [row, known] = await Promise.all([lockTenant(tx, tenant), read(tx)]);
    if (row === undefined) throw tenantProblem('tenant_not_found');
    const revision = row.revision + 1;
    const changes: { kind: string; name: string; action: string; detail?: unknown; actor: string }[] = [];
    const write: ConfigWrite = {
      tx,
      tenant: row,
      revision,
      changed: (kind, name, action, detail, actor = writer.actor) =>
        changes.push({ kind, name, action, detail, actor }),
    };
    const result = await work(write, known);
    if (changes.length === 0) return { result, revision: row.revision, changed: false };
    const request = writer.requestId === undefined ? {} : { requestId: writer.requestId };
    await Promise.all([
      recordRevision(tx, tenant, revision, changes),
      ...changes.map((change) => recordAudit(tx, tenant, { ...change, revision, ...request })),
    ]);
    return { result, revision, changed: true };
  });
}

/** A row that has an owner, as its room reads and writes it. */
type OwnedRow = {
  /** What changed, as `ConfigWrite.changed` takes it. */
  kind: string;
  name: string;
  ownerOf(tx: Transaction): Promise<Owner | undefined>;
  setOwner(tx: Transaction, owner: Owner): Promise<void>;
};

/** Gives a row of the writer's to another owner as it is; does nothing when it is not (any more) the writer's. */
export function transferRow(
  database: Database,
  tenant: string,
  writer: Writer,
  row: OwnedRow,
  to: Owner,
): Promise<ConfigWritten<void>> {
  return writeConfig(database, tenant, writer, async (write) => {
    const owner = await row.ownerOf(write.tx);
    if (owner === undefined || !isSameObject(owner, writer.owner)) return;
    await row.setOwner(write.tx, to);
    write.changed(row.kind, row.name, 'transfer', { to: describeOwner(to) });
  });
}
