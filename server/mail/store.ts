/** All SQL of the mail room. */
import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Bytes } from '../core/db/rows.ts';
import { column, sql } from '../core/db/sql.ts';
import { limits } from '../core/limits.ts';

type NewMessage = {
  id: string;
  template: string;
  language: string;
  recipient_digest: string;
  content_encrypted: Buffer;
  created_at: string;
  expires_at: string;
};

export async function insertMessage(tx: Transaction, tenant: string, one: NewMessage): Promise<void> {
  await tx.run(sql`
    insert into accord.mail_message (tenant, id, template, language, recipient_digest, content_encrypted, created_at, expires_at)
    values (${tenant}, ${one.id}, ${one.template}, ${one.language}, ${one.recipient_digest}, ${one.content_encrypted},
      ${one.created_at}, ${one.expires_at})`);
}

const WaitingRow = Type.Object({
  tenant: Type.String(),
  id: Type.String(),
  template: Type.String(),
  language: Type.String(),
  content_encrypted: Bytes,
  created_at: Type.String(),
});
export type WaitingRow = Static<typeof WaitingRow>;

/** Some messages of all tenants that wait, oldest first and locked; in a system transaction. */
export function lockWaiting(tx: Transaction, now: string, limit: number): Promise<WaitingRow[]> {
  return tx.many(
    WaitingRow,
    sql`select tenant, id, template, language, content_encrypted, created_at from accord.mail_message
      where content_encrypted is not null and expires_at > ${now}
      order by created_at limit ${limit} for update skip locked`,
  );
}

/** They were handed over: what they say is not needed any more. */
export async function markHandedOver(
  tx: Transaction,
  rows: readonly Pick<WaitingRow, 'tenant' | 'id'>[],
  now: string,
): Promise<void> {
  await tx.run(sql`update accord.mail_message m set content_encrypted = null, handed_over_at = ${now}
    from unnest(${column.texts(rows, (row) => row.tenant)}, ${column.uuids(rows, (row) => row.id)}) as u (tenant, id)
    where m.tenant = u.tenant and m.id = u.id`);
}

/** Removes some expired messages of all tenants; in a system transaction. @returns how many */
export function removeExpired(tx: Transaction, now: string, limit: number): Promise<number> {
  return tx.run(sql`delete from accord.mail_message m using (
      select tenant, id from accord.mail_message where expires_at <= ${now} limit ${limit} for update skip locked) as gone
    where m.tenant = gone.tenant and m.id = gone.id`);
}

/** Removes some messages to addresses. @returns how many */
export function removeToRecipients(tx: Transaction, tenant: string, digests: readonly string[]): Promise<number> {
  return tx.run(sql`delete from accord.mail_message where tenant = ${tenant} and id = any (array(
    select id from accord.mail_message where tenant = ${tenant} and recipient_digest = any (${digests}::text[])
    limit ${limits.erasePageItemsMax}))`);
}
