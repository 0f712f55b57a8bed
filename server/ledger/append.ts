/**
 * Owns appending: an entry is in the caller's transaction (appendIn) or in the next group's (Ledger). While one group is
 * being committed, what comes meanwhile gathers and goes together: one fsync for many requests.
 */
import { randomBytes } from 'node:crypto';
import type { Database, Transaction } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { takeFitting } from '../core/together.ts';
import { personalDigest, SALT_BYTES, storable } from './digest.ts';
import type { RegisterEntry } from './schema.ts';
import { type InboxRow, insertEntries } from './store.ts';

/** Writes entries in the caller's transaction: they are there exactly when what they tell of is. */
export async function appendIn(tx: Transaction, tenant: string, entries: readonly RegisterEntry[]): Promise<void> {
  if (entries.length > 0) await insertEntries(tx, rowsOf(tenant, entries));
}

type Waiting = { rows: InboxRow[]; done: () => void; failed: (error: unknown) => void };

export class Ledger {
  readonly #database: Database;
  #waiting: Waiting[] = [];
  #committing: Promise<void> | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Resolves when the entries are committed; rejects when the group they were in was not.
   * @throws the database's error, which every entry of the group gets
   */
  async append(tenant: string, entries: readonly RegisterEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const rows = rowsOf(tenant, entries);
    await new Promise<void>((done, failed) => {
      this.#waiting.push({ rows, done, failed });
      this.#committing ??= this.#commit().finally(() => {
        this.#committing = undefined;
      });
    });
  }

  /** Waits for what is under way. */
  async close(): Promise<void> {
    while (this.#committing) await this.#committing;
  }

  async #commit(): Promise<void> {
    // What one reading answers is appended in one turn: the first would go alone, and the others wait for two commits.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      // An append is never divided.
      const group = takeFitting(this.#waiting, ({ rows }) => rows.length, limits.ledgerGroupEntriesMax);
      try {
        const rows = group.flatMap((one) => one.rows);
        await this.#database.systemAtOnce((tx) => insertEntries(tx, rows));
        for (const one of group) one.done();
      } catch (error) {
        for (const one of group) one.failed(error);
      }
    }
  }
}

function rowsOf(tenant: string, entries: readonly RegisterEntry[]): InboxRow[] {
  const salts = randomBytes(SALT_BYTES * entries.length).toString('hex');
  return entries.map((entry, i) => rowOf(tenant, entry, salts.slice(2 * SALT_BYTES * i, 2 * SALT_BYTES * (i + 1))));
}

/** @param salt hexadecimal digits */
function rowOf(tenant: string, entry: RegisterEntry, salt: string): InboxRow {
  const optional = (text: string | undefined) => (text === undefined ? null : storable(text));
  const actor = { type: storable(entry.actor.type), id: storable(entry.actor.id) };
  const userId = optional(entry.userId);
  return {
    tenant,
    time: new Date(entry.time).toISOString(),
    type: entry.type,
    name: optional(entry.name),
    version: optional(entry.version),
    document_version: optional(entry.document?.version),
    document_language: optional(entry.document?.language),
    outcome: storable(entry.outcome),
    request_id: storable(entry.requestId),
    client_id: optional(entry.clientId),
    personal_digest: bytea(personalDigest(salt, userId === null ? { actor } : { actor, userId })),
    salt: bytea(salt),
    actor_type: actor.type,
    actor_id: actor.id,
    user_id: userId,
  };
}

/** A bytea as Postgres reads it. */
function bytea(hex: string): string {
  return `\\x${hex}`;
}
