/** All SQL of the ledger room. */
import type { Transaction } from '../core/db/database.ts';
import { sql } from '../core/db/sql.ts';
import { storable } from './digest.ts';

/** A new entry as JSON; bytes are `\x` and hexadecimal digits. */
export type InboxRow = {
  tenant: string;
  time: string;
  type: string;
  name: string | null;
  version: string | null;
  document_version: string | null;
  document_language: string | null;
  outcome: string;
  request_id: string;
  client_id: string | null;
  personal_digest: string;
  salt: string;
  actor_type: string;
  actor_id: string;
  user_id: string | null;
};

const inboxColumns = sql`tenant, time, type, name, version, document_version, document_language, outcome, request_id,
  client_id, personal_digest, salt, actor_type, actor_id, user_id`;

/** Writes entries of one tenant, or of many in a system transaction. */
export async function insertEntries(tx: Transaction, rows: readonly InboxRow[]): Promise<void> {
  await tx.run(sql`
    insert into accord.ledger_inbox (${inboxColumns})
    select ${inboxColumns} from json_to_recordset(${JSON.stringify(rows)}::json) as r (tenant text, time timestamptz, type text,
      name text, version text, document_version text, document_language text, outcome text, request_id text, client_id text,
      personal_digest bytea, salt bytea, actor_type text, actor_id text, user_id text)`);
}

/** Until the end of the transaction nobody else seals or wipes entries of the tenant. */
const lockOf = (tenant: string) => sql`hashtextextended(${`accord.ledger.${tenant}`}, 0)`;

/**
 * Wipes who it was, salt and all, from every entry that a user acted in or that is about the user. The digests stay, and
 * with them the chain. Entries that other transactions append meanwhile are not among them.
 * @returns how many entries
 */
export async function eraseIn(tx: Transaction, tenant: string, userId: string): Promise<number> {
  const id = storable(userId);
  // The sealer moves entries: one that it moves while this looks for it would be seen in neither place.
  await tx.run(sql`select pg_advisory_xact_lock(${lockOf(tenant)})`);
  const wiped = sql`set salt = null, actor_type = null, actor_id = null, user_id = null where tenant = ${tenant}`;
  const counts = [
    await tx.run(sql`update accord.ledger_inbox ${wiped} and (user_id = ${id} or actor_id = ${id})`),
    await tx.run(sql`update accord.ledger_entry ${wiped} and user_id = ${id}`),
    await tx.run(sql`update accord.ledger_entry ${wiped} and actor_id = ${id} and actor_id is distinct from user_id`),
  ];
  return counts.reduce((sum, count) => sum + count, 0);
}
