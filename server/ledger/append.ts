/**
 * Appending: an entry is in the caller's transaction (appendEntries) or in the next group's (append). While one group is
 * being committed, what comes meanwhile gathers and goes together: one fsync for many requests. In either a keyed digest is
 * written in the place of the id of an actor that was erased.
 */
import { randomBytes } from 'node:crypto';
import { takeFitting } from '../core/batch-loader.ts';
import type { Database, Transaction } from '../core/db/database.ts';
import { troubleOf } from '../core/db/errors.ts';
import { Drain } from '../core/drain.ts';
import { limits } from '../core/limits.ts';
import { lockLogErasingShared, type Pseudonymizer, pseudonymOf } from '../pseudonyms/index.ts';
import { personalDigest, SALT_BYTES, storable } from './digest.ts';
import type { InboxRow, RegisterEntry } from './schema.ts';
import { insertEntries } from './store.ts';

type Waiting = { rows: InboxRow[]; done: () => void; failed: (error: unknown) => void };

/**
 * Writes entries in the caller's transaction: they are there exactly when what they tell of is.
 * @param tx has taken lockErasingShared
 */
export async function appendEntries(
  pseudonymizer: Pseudonymizer,
  tx: Transaction,
  tenant: string,
  entries: readonly RegisterEntry[],
): Promise<void> {
  if (entries.length > 0) await insertEntries(tx, rowsOf(pseudonymizer, tenant, entries));
}

export class Ledger {
  readonly #database: Database;
  readonly #pseudonymizer: Pseudonymizer;
  #waiting: Waiting[] = [];
  readonly #committing = new Drain(
    () => this.#waiting.length > 0,
    () => this.#commit(),
  );

  constructor(database: Database, pseudonymizer: Pseudonymizer) {
    this.#database = database;
    this.#pseudonymizer = pseudonymizer;
  }

  /**
   * Resolves when the entries are committed; rejects when the group they were in was not.
   * @throws the database's error, which every entry of the group gets
   */
  async append(tenant: string, entries: readonly RegisterEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const rows = rowsOf(this.#pseudonymizer, tenant, entries);
    await new Promise<void>((done, failed) => {
      this.#waiting.push({ rows, done, failed });
      void this.#committing.run();
    });
  }

  /** Waits for what is under way. */
  async close(): Promise<void> {
    await this.#committing.running;
  }

  async #commit(): Promise<void> {
    // What one reading answers is appended in one turn: the first would go alone, and the others wait for two commits.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      // An append is never divided.
      const group = takeFitting(this.#waiting, ({ rows }) => rows.length, limits.ledgerGroupEntriesMax);
      try {
        const rows = group.flatMap((one) => one.rows);
        const tenants = rows.map((row) => row.tenant);
        await this.#database.systemPipelined(async (tx) => {
          await Promise.all([lockLogErasingShared(tx, tenants), insertEntries(tx, rows)]);
        });
        for (const one of group) one.done();
      } catch (error) {
        // Where the database is away or silent, those who wait would wait as long again.
        const trouble = troubleOf(error);
        const also = trouble === undefined || trouble === 'conflict' ? [] : this.#waiting.splice(0);
        for (const one of [...group, ...also]) one.failed(error);
      }
    }
  }
}

function rowsOf(pseudonymizer: Pseudonymizer, tenant: string, entries: readonly RegisterEntry[]): InboxRow[] {
  const salts = randomBytes(SALT_BYTES * entries.length).toString('hex');
  const pseudonyms = new Map<string, string>();
  const pseudonymous = (id: string): string => {
    const pseudonym = pseudonyms.get(id) ?? pseudonymOf(pseudonymizer, tenant, id);
    pseudonyms.set(id, pseudonym);
    return pseudonym;
  };
  return entries.map((entry, i) => {
    const salt = salts.slice(2 * SALT_BYTES * i, 2 * SALT_BYTES * (i + 1));
    const actor_pseudonym = pseudonymous(entry.actor.id);
    const user_pseudonym = entry.userId === undefined ? null : pseudonymous(entry.userId);
    return { ...rowOf(tenant, entry, salt), actor_pseudonym, user_pseudonym };
  });
}

/** @param salt hexadecimal digits */
function rowOf(
  tenant: string,
  entry: RegisterEntry,
  salt: string,
): Omit<InboxRow, 'actor_pseudonym' | 'user_pseudonym'> {
  const optional = (text: string | undefined) => (text === undefined ? null : storable(text));
  const actor = { type: storable(entry.actor.type), id: storable(entry.actor.id) };
  const userId = optional(entry.userId);
  const reason = optional(entry.reason);
  const about = { ...(userId === null ? {} : { userId }), ...(reason === null ? {} : { reason }) };
  return {
    tenant,
    time: new Date(entry.time).toISOString(),
    type: entry.type,
    name: optional(entry.name),
    version: optional(entry.version),
    document_version: optional(entry.document?.version),
    document_language: optional(entry.document?.language),
    content_digest: optional(entry.contentDigest),
    outcome: storable(entry.outcome),
    request_id: storable(entry.requestId),
    client_id: optional(entry.clientId),
    personal_digest: bytea(personalDigest(salt, { actor, ...about })),
    salt: bytea(salt),
    actor_type: actor.type,
    actor_id: actor.id,
    user_id: userId,
    reason,
  };
}

/** A bytea as Postgres reads it. */
function bytea(hex: string): string {
  return `\\x${hex}`;
}
