/**
 * The shape in which every room with records of people erases one of them. The erasure room calls them one after another; a
 * room touches its own tables only.
 */
import type { AuditKind } from '../core/audit-kinds.ts';
import type { Transaction } from '../core/db/database.ts';

/** Whom to erase. */
export type Erasing = {
  tenant: string;
  type: string;
  id: string;
  /** Whether the type is the tenant's default: then the id is that of a user of consents. */
  isUser: boolean;
  /** Addresses of the person: as they were written, and in small letters. */
  contacts: readonly string[];
  /** What replaces the id in records that stay. */
  replacement: string;
};

/** What was removed or rewritten, by kind. */
export type Removed = Record<string, number>;

/**
 * Erases a portion in the caller's transaction. It is called until `next` is absent; called again, it finds less.
 * @param position what the portion before returned as `next`
 */
export type EraseSome = (
  tx: Transaction,
  person: Erasing,
  position: string | undefined,
) => Promise<{ removed: Removed; next?: string }>;

export type Kept = { what: string; why: string; until: string };

/** Of a write of configuration. */
type BeginningUnit = {
  readonly tx: Transaction;
  readonly tenant: string;
  /** The one that the write makes. */
  readonly revision: number;
  /** ms; and as RFC 3339. */
  readonly now: number;
  readonly nowText: string;
  changed(kind: AuditKind, name: string, action: string): void;
};

/** How a room erases a person from its tables, and what it keeps. */
export type RoomErasing = {
  /** What the person cannot do from the beginning of the erasure on; in one write of configuration, before the first portion. */
  begin?(unit: BeginningUnit, person: Omit<Erasing, 'contacts'>): Promise<void>;
  eraseSome: EraseSome;
  keeps: readonly Kept[];
  /** A log, which is erased after all that is not one: its records are written behind the answers that they tell of. */
  isLog?: true;
};

/** Where a row stands in a log that is read by time. `at` as Postgres writes it. */
export type Place = { at: string; id: string };

/**
 * Erases from a log portion by portion, by time. A portion is what one statement looked through.
 * @param scan returns the rows of the portion after a place that concern the person, and in any case its last one
 */
export function scanning<Row extends Place>(
  scan: (tx: Transaction, person: Erasing, after: Place | undefined) => Promise<Row[]>,
  erase: (tx: Transaction, person: Erasing, rows: readonly Row[]) => Promise<Removed>,
): EraseSome {
  return async (tx, person, position) => {
    const rows = await scan(tx, person, position === undefined ? undefined : placeOf(position));
    const removed = await erase(tx, person, rows);
    const end = rows.at(-1);
    return { removed, ...(end ? { next: `${end.at} ${end.id}` } : {}) };
  };
}

/** An instant may hold a space, an id none. */
function placeOf(position: string): Place {
  const separator = position.lastIndexOf(' ');
  return { at: position.slice(0, separator), id: position.slice(separator + 1) };
}
