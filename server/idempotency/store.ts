/** All SQL of the idempotency room. `since`: RFC 3339; a key that was reserved before it is free. */
import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { removeDue } from '../core/db/due.ts';
import { Instant, Nullable } from '../core/db/rows.ts';
import { literal, sql } from '../core/db/sql.ts';
import { type KeyPlace, KeyRow } from './schema.ts';

export function readKey(tx: Transaction, { tenant, caller, id }: KeyPlace, since: string): Promise<KeyRow | undefined> {
  return tx.maybe(
    KeyRow,
    sql`select request, created_at, answer from accord.idempotency_key
      where tenant = ${tenant} and caller = ${caller} and id = ${id} and created_at > ${since}`,
  );
}

const Remembered = Type.Object({ count: Type.Integer(), oldest: Nullable(Instant) });

/** How many keys of a caller are remembered, counted up to `most`, and since when the oldest of these is. */
export function countKeys(
  tx: Transaction,
  { tenant, caller }: KeyPlace,
  since: string,
  most: number,
): Promise<Static<typeof Remembered>> {
  return tx.one(
    Remembered,
    sql`select count(*)::int as count, min(created_at) as oldest from (select created_at from accord.idempotency_key
      where tenant = ${tenant} and caller = ${caller} and created_at > ${since} limit ${most}) as remembered`,
  );
}

/** Waits for a transaction that reserves the same key. @returns whether it was free */
export async function insertKey(
  tx: Transaction,
  { tenant, caller, id }: KeyPlace,
  { request, now, since }: { request: string; now: string; since: string },
): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into accord.idempotency_key as k (tenant, caller, id, request, created_at)
    values (${tenant}, ${caller}, ${id}, ${request}, ${now})
    on conflict (tenant, caller, id) do update set request = excluded.request, created_at = excluded.created_at, answer = null
      where k.created_at <= ${since}`);
  return inserted > 0;
}

/** Adds the answer to the key of this very request. */
export async function setAnswer(
  tx: Transaction,
  { tenant, caller, id }: KeyPlace,
  { request, now, answer }: { request: string; now: string; answer: Buffer },
): Promise<void> {
  await tx.run(sql`update accord.idempotency_key set answer = ${answer} where tenant = ${tenant} and caller = ${caller}
    and id = ${id} and request = ${request} and created_at = ${now} and answer is null`);
}

/** Removes at most `limit` keys of all tenants, in a system transaction; how many. */
export function removeOld(tx: Transaction, since: string, limit: number): Promise<number> {
  return removeDue(tx, ['idempotency_key', 'created_at'], since, limit);
}

/** Removes at most `limit` keys of a caller; how many. */
export function removeSome(tx: Transaction, tenant: string, caller: string, limit: number): Promise<number> {
  return tx.run(sql`delete from accord.idempotency_key where tenant = ${tenant} and caller = ${caller} and id in (
    select id from accord.idempotency_key where tenant = ${tenant} and caller = ${caller} limit ${limit})`);
}

const WipedRow = Type.Object({ caller: Type.String(), id: Type.String() });

/**
 * Wipes at most `limit` answers that anybody of the tenant got, in the order of their keys.
 * @returns the last of them, as the position that comes next; undefined when there were fewer
 */
export function wipeAnswers(
  tx: Transaction,
  tenant: string,
  { after, limit }: { after: { caller: string; id: string }; limit: number },
): Promise<{ caller: string; id: string } | undefined> {
  return tx.maybe(
    WipedRow,
    sql`with page as materialized (
        select caller, id from accord.idempotency_key
        where tenant = ${tenant} and answer is not null and (caller, id) > (${after.caller}, ${after.id})
        order by caller, id limit ${literal(limit)}),
      wiped as (update accord.idempotency_key k set answer = null from page
        where k.tenant = ${tenant} and k.caller = page.caller and k.id = page.id)
      select caller, id from page order by caller, id offset ${limit - 1}`,
  );
}
