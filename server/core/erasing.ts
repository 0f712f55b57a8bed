/**
 * Owns the shape in which every room with records of people erases one of them. The erasure room calls them one after another; a
 * room touches its own tables only.
 */
import type { Transaction } from './db/database.ts';

/** Whom to erase. */
export type Erasing = {
  tenant: string;
  type: string;
  id: string;
  /** Whether the type is the tenant's default: then the id is that of a user of consents. */
  isUser: boolean;
  /** Addresses of the person: as they were written, and in small letters. */
  contacts: readonly string[];
  /** What stands for the id in records that stay. */
  standIn: string;
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

/** How a room erases a person from its tables, and what it keeps. */
export type RoomErasing = { eraseSome: EraseSome; keeps: readonly Kept[] };
