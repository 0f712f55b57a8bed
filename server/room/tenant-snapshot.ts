/**
 * The shape of what a server decides from: one frozen object a tenant, replaced by assignment, fetched once a request. What
 * it holds besides the tenant itself is added by rooms, each of which declares its field here by declaration merging.
 */
import type { TenantSpec } from '../../crds/index.ts';
import type { Clock } from '../core/clock.ts';
import type { Transaction } from '../core/db/database.ts';

/** The tenant itself. */
export type TenantHead = {
  readonly tenant: string;
  readonly active: boolean;
  /** The tenant's configuration revision that this is. */
  readonly revision: number;
  /** created_at of the tenant's row: an erased tenant's successor is another one. */
  readonly tenantCreatedAt: string;
  readonly spec: TenantSpec;
};

/** What rooms add. */
// biome-ignore lint/suspicious/noEmptyInterface: rooms merge their fields into it
export interface SnapshotFields {}

export type TenantSnapshot = TenantHead & Readonly<SnapshotFields>;

/** What parts are made with besides rows. */
export type SnapshotContext = { readonly baseUrl: string; readonly clock: Pick<Clock, 'now'> };

/** One field of the snapshot: how it is read from the database. All of it is compiled and checked already. */
type SnapshotPart<Field, Key extends string = string> = {
  readonly key: Key;
  /** Kinds of accord.config_change after which it is read again; otherwise the object of the snapshot before stays. */
  readonly kinds: readonly string[];
  /** Of all tenants, in a system transaction. @returns what makes it for one */
  loadAll(tx: Transaction, context: SnapshotContext): Promise<(head: TenantHead) => Field>;
  load(tx: Transaction, head: TenantHead, context: SnapshotContext): Promise<Field>;
  /** From the one before and the names that changed. Absent: it is loaded whole. */
  reload?(
    tx: Transaction,
    head: TenantHead,
    known: Field,
    names: readonly string[],
    context: SnapshotContext,
  ): Promise<Field>;
  /** What the admin port shows of it. */
  view?(field: Field): Record<string, unknown>;
};
export type AnySnapshotPart = SnapshotPart<unknown>;

/** A part, checked against the field that the room declared. */
export function snapshotPart<const Key extends keyof SnapshotFields & string>(
  part: SnapshotPart<SnapshotFields[Key], Key>,
): AnySnapshotPart {
  return part as AnySnapshotPart;
}

type Named<Row, Entry> = {
  kinds: readonly string[];
  /** Of all tenants, of one, or of one those with these names. */
  rows(tx: Transaction, tenant?: string, names?: readonly string[]): Promise<readonly Row[]>;
  entries(rows: readonly Row[]): Iterable<readonly [string, Entry]>;
};

/** The reading of a part that is a map by name: of what changed, only that is read again. */
export function loadedByName<Row extends { tenant: string }, Entry>(
  options: Named<Row, Entry>,
): Omit<SnapshotPart<ReadonlyMap<string, Entry>>, 'key' | 'view'> {
  const { kinds, rows, entries } = options;
  return {
    kinds,
    async loadAll(tx) {
      const of = byTenant(await rows(tx));
      return ({ tenant }) => new Map(entries(of(tenant)));
    },
    load: async (tx, { tenant }) => new Map(entries(await rows(tx, tenant))),
    async reload(tx, { tenant }, known, names) {
      const next = new Map(known);
      for (const name of names) next.delete(name);
      for (const [name, entry] of entries(await rows(tx, tenant, names))) next.set(name, entry);
      return next;
    },
  };
}

/** @returns the rows of a tenant */
export function byTenant<Row extends { tenant: string }>(rows: readonly Row[]): (tenant: string) => readonly Row[] {
  const groups = Map.groupBy(rows, (row) => row.tenant);
  return (tenant) => groups.get(tenant) ?? [];
}
