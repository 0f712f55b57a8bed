/**
 * A unit is one attempt at a write: its transaction, and what the transaction is to record. The work states changes, audit
 * entries, ledger entries and events as it goes; they are written together at its end, and a retry begins with a new unit.
 */
import { type AuditEntry, recordAudit } from '../audit/index.ts';
import type { Author, By } from '../core/author.ts';
import type { Clock } from '../core/clock.ts';
import type { Database, Transaction } from '../core/db/database.ts';
import { appendEntries, type RegisterEntry } from '../ledger/index.ts';
import { type Tagger, unmarkErased } from '../pseudonyms/index.ts';
import type { EventSink, EventType, Requested, TenantEvent } from '../room/events.ts';
import { advanceRevision, type TenantRow, type TenantUnit } from '../tenants/index.ts';
import { readTransactionRevision } from './store.ts';

export type ConfigWriteServices = { database: Database; clock: Clock; events?: EventSink | undefined };
export type WriteServices = ConfigWriteServices & { tagger: Tagger };

type Timed = {
  /** ms. The clock is read when this or `nowText` is first asked, and once: after the locks that the work waits for. */
  readonly now: number;
  /** The same, as RFC 3339. */
  readonly nowText: string;
  /** @param type one that the room of the action states */
  emit<Data>(type: EventType<Data>, data: NoInfer<Data> & Requested): void;
};

/** Of a write of configuration. */
export type ConfigUnit = TenantUnit & Timed & { readonly by: By };

/** Of a write of records. */
export type RecordUnit = Timed & {
  readonly tx: Transaction;
  readonly tenant: string;
  /** Entries of the consent ledger. */
  register(entries: readonly RegisterEntry[]): void;
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

type Change = { kind: string; name: string; action: string; detail?: unknown; actor: string };

export class Unit implements ConfigUnit, AuditedUnit {
  readonly tx: Transaction;
  readonly tenant: string;
  readonly events: TenantEvent[] = [];
  readonly #services: ConfigWriteServices & { tagger?: Tagger };
  readonly #changes: Change[] = [];
  readonly #audited: AuditEntry[] = [];
  readonly #registered: RegisterEntry[] = [];
  #by: By | undefined;
  #tenantRow: TenantRow | undefined;
  #now: number | undefined;

  constructor(services: ConfigWriteServices & { tagger?: Tagger }, author: Author, tx: Transaction) {
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

  changed(kind: string, name: string, action: string, detail?: unknown, actor: string = this.by.actor): void {
    this.#changes.push({ kind, name, action, detail, actor });
  }

  audit(entry: Pick<AuditEntry, 'action' | 'kind' | 'name' | 'detail'>): void {
    const { actor, requestId } = this.by;
    this.#audited.push({ ...entry, actor, ...(requestId === undefined ? {} : { requestId }) });
  }

  register(entries: readonly RegisterEntry[]): void {
    for (const entry of entries) this.#registered.push(entry);
  }

  emit<Data>({ name }: EventType<Data>, data: NoInfer<Data> & Requested): void {
    this.events.push({ type: name, tenant: this.tenant, time: this.now, data });
  }

  unmarkErased(entities: readonly { type: string; id: string }[]): Promise<void> {
    return unmarkErased(this.#services.tagger as Tagger, this.tx, this.tenant, entities);
  }

  /** Writes what the work stated, with the next revision of the tenant where it changed anything; in one round trip. */
  async finishConfig(): Promise<{ revision: number; changed: boolean }> {
    const { tx, tenant, revision } = this;
    if (this.#changes.length === 0) return { revision: this.tenantRow.revision, changed: false };
    const { requestId } = this.by;
    const request = requestId === undefined ? {} : { requestId };
    await Promise.all([
      advanceRevision(tx, tenant, revision, this.#changes),
      ...this.#changes.map((change) => recordAudit(tx, tenant, { ...change, revision, ...request })),
    ]);
    return { revision, changed: true };
  }

  /** Writes what the work stated, in one round trip. @returns the revision that the transaction's records have */
  async finishRecords(): Promise<string> {
    const { tx, tenant } = this;
    const audited = this.#audited.map((entry) => recordAudit(tx, tenant, entry));
    const registered = appendEntries(this.#services.tagger as Tagger, tx, tenant, this.#registered);
    const [revision] = await Promise.all([readTransactionRevision(tx), registered, ...audited]);
    return revision;
  }
}
