/**
 * Shapes of a write of configuration. server/writes makes the unit; that room comes after this one and provides the
 * function to this room's own actions (see lateBound).
 */
import type { Static, TObject } from 'typebox';
import type { AuditKind } from '../core/audit-kinds.ts';
import type { Transaction } from '../core/db/database.ts';
import type { Writer } from '../core/ownership.ts';
import type { EventType } from '../room/events.ts';
import type { TenantRow } from './schema.ts';

export type TenantUnit = {
  readonly tx: Transaction;
  /** The tenant's code. */
  readonly tenant: string;
  /** The tenant, locked: its configuration has no other writer until the transaction ends. */
  readonly tenantRow: TenantRow;
  /** The revision that this write makes, if it changes anything. */
  readonly revision: number;
  /** States one change; without any, the write leaves no trace and makes no revision. @param actor if not the author's */
  changed(kind: AuditKind, name: string, action: string, detail?: unknown, actor?: string): void;
  /** @param type one that the room of the action states */
  emit<Data extends TObject>(type: EventType<Data>, data: NoInfer<Static<Data>>): void;
};

/** `revision` holds the result: the new one, or the current one when nothing changed. */
export type ConfigWritten<T> = { result: T; revision: number; changed: boolean };

export type WriteTenant = <T>(
  tenant: string,
  writer: Writer,
  work: (unit: TenantUnit) => Promise<T>,
  /** Makes the row where there is none. */
  create?: (tx: Transaction) => Promise<void>,
) => Promise<ConfigWritten<T>>;
