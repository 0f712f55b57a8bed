/**
 * A unit is one attempt at a write: its transaction, and what the transaction is to record. The work states changes, audit
 * entries, ledger entries and events as it goes; they are written together at its end, and a retry begins with a new unit.
 */

import type { Static, TObject } from 'typebox';
import { type AuditEntry, recordAudit } from '../audit/index.ts';
import type { AuditKind } from '../core/audit-kinds.ts';
import type { Author, By } from '../core/author.ts';
import type { Clock } from '../core/clock.ts';
import type { Database, Transaction } from '../core/db/database.ts';
import { insertEvents } from '../events/index.ts';
import { appendEntries, type RegisterEntry } from '../ledger/index.ts';
import { type Pseudonymizer, unmarkErased } from '../pseudonyms/index.ts';
import { type EventHints, type EventType, type NewEvent, newEvent } from '../room/events.ts';
import { advanceRevision, type TenantRow, type TenantUnit } from '../tenants/index.ts';
import { configurationChanged } from './events.ts';
import { readTransactionRevision } from './store.ts';

export type ConfigWriteServices = { database: Database; clock: Clock; eventHints?: EventHints | undefined };
export type WriteServices = ConfigWriteServices & { pseudonymizer: Pseudonymizer };

type Timed = {
  /** ms. The clock is read when this or `nowText` is first asked, and once: after the locks that the work waits for. */
  readonly now: number;
  /** The same, as RFC 3339. */
  readonly nowText: string;
  /** @param type one that the room of the action states */
  emit<Data extends TObject>(type: EventType<Data>, data: NoInfer<Static<Data>>): void;
};

/** Of a write of configuration. */
export type ConfigUnit = TenantUnit & Timed & { readonly by: By };

/** Of a write of records. */
export type RecordUnit = Timed & {
  readonly tx: Transaction;
  readonly tenant: string;
  /** Entries of the consent ledger. */
  appendToLedger(entries: readonly RegisterEntry[]): void;
  /** Records are written about these: those that were erased are known again. @throws Problem actor_being_erased */
  unmarkErased(entities: readonly { type: string; id: string }[]): Promise<void>;
  /** The same unit, for an author that is known only inside of it. */
  as(by: By): AuditedUnit;
};

/** Of a write of records whose author the audit names. */
export type AuditedUnit = RecordUnit & {
  readonly by: By;
  audit(entry: Pick<AuditEntry, 'action' | 'kind' | 'name' | 'detail'>): void;
};

type Change = { kind: AuditKind; name: string; action: string; detail?: unknown; actor: string };

export class Unit implements ConfigUnit, AuditedUnit {
  readonly tx: Transaction;
  readonly tenant: string;
  readonly events: NewEvent[] = [];
  readonly #services: ConfigWriteServices & { pseudonymizer?: Pseudonymizer };
  readonly #changes: Change[] = [];
  readonly #audited: AuditEntry[] = [];
  readonly #ledgerEntries: RegisterEntry[] = [];
  #by: By | undefined;
  #tenantRow: TenantRow | undefined;
  #now: number | undefined;

  constructor(services: ConfigWriteServices & { pseudonymizer?: Pseudonymizer }, author: Author, tx: Transaction) {
    this.#services = services;
    this.tx = tx;
    this.tenant = author.tenant;
    this.#by = author.by;
  }

  get now(): number {
    this.#now ??= this.#services.clock.now();
    return this.#now;
  }

  get nowText(): string {
    return new Date(this.now).toISOString();
  }

  get by(): By {
    return this.#by as By;
  }

  as(by: By): AuditedUnit {
    this.#by = by;
    return this;
  }

  get tenantRow(): TenantRow {
    return this.#tenantRow as TenantRow;
  }

  get revision(): number {
    return this.tenantRow.revision + 1;
  }

  lock(row: TenantRow): void {
    this.#tenantRow = row;
  }

  changed(kind: AuditKind, name: string, action: string, detail?: unknown, actor: string = this.by.actor): void {
    this.#changes.push({ kind, name, action, detail, actor });
  }

  audit(entry: Pick<AuditEntry, 'action' | 'kind' | 'name' | 'detail'>): void {
    const { actor, requestId } = this.by;
    this.#audited.push({ ...entry, actor, ...(requestId === undefined ? {} : { requestId }) });
  }

  appendToLedger(entries: readonly RegisterEntry[]): void {
    for (const entry of entries) this.#ledgerEntries.push(entry);
  }

  emit<Data extends TObject>(type: EventType<Data>, data: NoInfer<Static<Data>>): void {
    this.events.push(newEvent(type, this.tenant, this.now, data));
  }

  unmarkErased(entities: readonly { type: string; id: string }[]): Promise<void> {
    return unmarkErased(this.#services.pseudonymizer as Pseudonymizer, this.tx, this.tenant, entities);
  }

  /** Writes what the work stated, with the next revision of the tenant where it changed anything; in one round trip. */
  async finishConfig(): Promise<{ revision: number; changed: boolean }> {
    const { tx, tenant, revision } = this;
    if (this.#changes.length === 0) {
      await insertEvents(tx, this.events);
      return { revision: this.tenantRow.revision, changed: false };
    }
    const { requestId } = this.by;
    const request = requestId === undefined ? {} : { requestId };
    for (const { actor: requestor, kind, name, action } of this.#changes)
      this.emit(configurationChanged, { requestor, kind, name, action, revision });
    await Promise.all([
      advanceRevision(tx, tenant, revision, this.#changes),
      ...this.#changes.map((change) => recordAudit(tx, tenant, { ...change, revision, ...request })),
      insertEvents(tx, this.events),
    ]);
    return { revision, changed: true };
  }

  /** Writes what the work stated, in one round trip. @returns the revision that the transaction's records have */
  async finishRecords(): Promise<string> {
    const { tx, tenant } = this;
    const audited = this.#audited.map((entry) => recordAudit(tx, tenant, entry));
    const registered = appendEntries(this.#services.pseudonymizer as Pseudonymizer, tx, tenant, this.#ledgerEntries);
    const told = insertEvents(tx, this.events);
    const [revision] = await Promise.all([readTransactionRevision(tx), registered, ...audited, told]);
    return revision;
  }
}
