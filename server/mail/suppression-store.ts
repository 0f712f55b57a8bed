/** All SQL of addresses that get no mail. */
import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Instant, Nullable } from '../core/db/rows.ts';
import { sql } from '../core/db/sql.ts';

const SuppressionRow = Type.Object({
  ...{ recipient_digest: Type.String(), recipient_mask: Nullable(Type.String()) },
  ...{
    reason: Type.Union([Type.Literal('bounced'), Type.Literal('complained'), Type.Literal('unsubscribed')]),
    at: Instant,
  },
});
export type SuppressionRow = Static<typeof SuppressionRow>;
const suppressionColumns = sql`recipient_digest, recipient_mask, reason, at`;

/** One that is suppressed for a graver reason stays so. */
export async function insertSuppression(tx: Transaction, tenant: string, one: SuppressionRow): Promise<void> {
  await tx.run(sql`
    insert into accord.mail_suppression (tenant, recipient_digest, recipient_mask, reason, at)
    values (${tenant}, ${one.recipient_digest}, ${one.recipient_mask}, ${one.reason}, ${one.at})
    on conflict (tenant, recipient_digest) do update set reason = excluded.reason,
      recipient_mask = coalesce(excluded.recipient_mask, mail_suppression.recipient_mask), at = excluded.at
    where mail_suppression.reason = 'unsubscribed'`);
}

export function readSuppressions(
  tx: Transaction,
  tenant: string,
  digests: readonly string[],
): Promise<SuppressionRow[]> {
  return tx.many(
    SuppressionRow,
    sql`select ${suppressionColumns} from accord.mail_suppression
      where tenant = ${tenant} and recipient_digest = any (${digests}::text[])`,
  );
}

const IsSuppressed = Type.Object({ suppressed: Type.Boolean() });

/** Whether the address of a message gets no mail at all. */
export async function isSuppressed(tx: Transaction, tenant: string, messageId: string): Promise<boolean> {
  const { suppressed } = await tx.one(
    IsSuppressed,
    sql`select exists (select from accord.mail_suppression where tenant = ${tenant} and reason <> 'unsubscribed' and recipient_digest = (
      select recipient_digest from accord.mail_message where tenant = ${tenant} and id = ${messageId})) as suppressed`,
  );
  return suppressed;
}

/** By digest. */
export function listSuppressions(
  tx: Transaction,
  tenant: string,
  after: string,
  limit: number,
): Promise<SuppressionRow[]> {
  return tx.many(
    SuppressionRow,
    sql`select ${suppressionColumns} from accord.mail_suppression where tenant = ${tenant}
      and recipient_digest collate "C" > ${after} order by recipient_digest collate "C" limit ${limit}`,
  );
}

export function removeSuppression(tx: Transaction, tenant: string, digest: string): Promise<number> {
  return tx.run(sql`delete from accord.mail_suppression where tenant = ${tenant} and recipient_digest = ${digest}`);
}
