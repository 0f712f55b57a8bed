/**
 * What the operator has written down of manifests (accord.resource) and its image in memory: one operator writes it, so the
 * image is the truth until the lock is lost, and then it is read again. A record is written before the row that its
 * manifest asks for, so that no row is ever without a record.
 */

import { isDeepStrictEqual } from 'node:util';
import type { Database } from '../server/core/db/database.ts';
import type { Totals } from './mass-deletion.ts';
import { type Key, type KindName, keyOf, type ResourceStatus, type StatusTarget } from './source.ts';
import { deleteRecord, type RecordRow, readRecords, upsertRecord } from './store.ts';

export type ResourceRecord = StatusTarget & {
  readonly tenant: string;
  /** Name of the tenant's object that the manifest owns; empty while it owns none. */
  readonly object: string;
  readonly digest: string;
  readonly status: ResourceStatus;
};

export class Records {
  readonly #database: Database;
  readonly #source: string;
  #records = new Map<Key, ResourceRecord>();
  #ofTenant = new Map<string, Set<Key>>();
  #owning = new Map<string, number>();

  constructor(database: Database, source: string) {
    this.#database = database;
    this.#source = source;
  }

  async load(): Promise<void> {
    const rows = await this.#database.system((tx) => readRecords(tx, this.#source));
    this.#records = new Map();
    this.#ofTenant = new Map();
    this.#owning = new Map();
    for (const row of rows) this.#index(fromRow(row));
  }

  get(key: Key): ResourceRecord | undefined {
    return this.#records.get(key);
  }

  all(): Iterable<ResourceRecord> {
    return this.#records.values();
  }

  keysOf(tenant: string): Iterable<Key> {
    return this.#ofTenant.get(tenant) ?? [];
  }

  /** How many manifests own rows: of a tenant and of all. */
  totals(): Totals {
    return { ofTenant: (tenant) => this.#owning.get(tenant) ?? 0, ofAll: this.#owning.get('') ?? 0 };
  }

  /** Writes the record if it differs from what is stored. @returns whether it did */
  async put(record: ResourceRecord): Promise<boolean> {
    if (isDeepStrictEqual(this.#records.get(record.key), record)) return false;
    await this.#database.systemPipelined((tx) => upsertRecord(tx, this.#source, toRow(record)));
    this.#unindex(record.key);
    this.#index(record);
    return true;
  }

  async remove(key: Key): Promise<void> {
    const record = this.#records.get(key);
    if (record === undefined) return;
    await this.#database.systemPipelined((tx) => deleteRecord(tx, this.#source, record));
    this.#unindex(key);
  }

  #index(record: ResourceRecord): void {
    this.#records.set(record.key, record);
    this.#ofTenant.set(record.tenant, (this.#ofTenant.get(record.tenant) ?? new Set()).add(record.key));
    if (record.object !== '') this.#count(record, 1);
  }

  #unindex(key: Key): void {
    const record = this.#records.get(key);
    if (record === undefined) return;
    this.#records.delete(key);
    const keys = this.#ofTenant.get(record.tenant);
    keys?.delete(key);
    if (keys?.size === 0) this.#ofTenant.delete(record.tenant);
    if (record.object !== '') this.#count(record, -1);
  }

  #count(record: ResourceRecord, by: number): void {
    for (const scope of new Set([record.tenant, ''])) this.#owning.set(scope, (this.#owning.get(scope) ?? 0) + by);
  }
}

function fromRow(row: RecordRow): ResourceRecord {
  const { spec_digest, ...rest } = row;
  return { ...rest, kind: row.kind as KindName, key: keyOf(row), digest: spec_digest };
}

function toRow(record: ResourceRecord): RecordRow {
  const { key: _, digest, ...rest } = record;
  return { ...rest, spec_digest: digest };
}
