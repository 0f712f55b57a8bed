import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Nullable } from '../core/db/rows.ts';
import { column, type Sql, sql } from '../core/db/sql.ts';
import { Progress } from './schema.ts';

/** The prefix of a pseudonym that replaces an id. */
export const REPLACEMENT_PREFIX = 'erased:';

/** Until the end of the transaction no erasure starts in the tenant. Taken by writers of records, before every other lock, also before an Idempotency-Key is reserved. */
export async function lockErasingShared(tx: Transaction, tenant: string): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock_shared(accord.erasing_write_lock(${tenant}))`);
}

/** The same for writers of logs (decisions, ledger reads), of several tenants: in sorted order, and for a short time. */
export async function lockLogErasingShared(tx: Transaction, tenants: Iterable<string>): Promise<void> {
  const each = [...new Set(tenants)].sort();
  await tx.run(sql`select pg_advisory_xact_lock_shared(accord.erasing_look_lock(t))
    from unnest(${column.texts(each, (one) => one)}) as u (t)`);
}

/** Excludes both shared locks. */
export async function lockErasingExclusive(tx: Transaction, tenant: string): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(accord.erasing_write_lock(${tenant}))`);
  await tx.run(sql`select pg_advisory_xact_lock(accord.erasing_look_lock(${tenant}))`);
}

/** Whether an actor was erased; the three are SQL. */
export function erasedActor(tenant: Sql, type: Sql, pseudonym: Sql): Sql {
  return sql`exists (select from accord.erased_actor where tenant = ${tenant} and pseudonym = ${pseudonym} and type = ${type})`;
}

/** Whether a user of consents was erased; both are SQL. */
export function erasedUser(tenant: Sql, pseudonym: Sql): Sql {
  return sql`exists (select from accord.erased_actor where tenant = ${tenant} and pseudonym = ${pseudonym} and is_user)`;
}

const Pseudonymous = Type.Object({ type: Type.String(), pseudonym: Type.String(), under_way: Type.Boolean() });

/** Those that were erased, without a lock: who erases them may wait for locks of the caller. */
export function readPseudonyms(
  tx: Transaction,
  tenant: string,
  pseudonymous: readonly { type: string; pseudonym: string }[],
): Promise<Static<typeof Pseudonymous>[]> {
  return tx.many(
    Pseudonymous,
    sql`select e.type, e.pseudonym, e.progress is not null as under_way
      from unnest(${column.texts(pseudonymous, (one) => one.type)}, ${column.texts(pseudonymous, (one) => one.pseudonym)}) as u (type, pseudonym)
      join accord.erased_actor e on e.tenant = ${tenant} and e.pseudonym = u.pseudonym and e.type = u.type`,
  );
}

export async function removeErased(
  tx: Transaction,
  tenant: string,
  pseudonymous: readonly { type: string; pseudonym: string }[],
): Promise<void> {
  await tx.run(sql`delete from accord.erased_actor e
    using unnest(${column.texts(pseudonymous, (one) => one.type)}, ${column.texts(pseudonymous, (one) => one.pseudonym)}) as u (type, pseudonym)
    where e.tenant = ${tenant} and e.pseudonym = u.pseudonym and e.type = u.type and e.progress is null`);
}

const Tenants = Type.Object({ tenant: Type.String() });

/** Which of the tenants have erased actors: one look into the index for each. */
export async function tenantsWithErased(tx: Transaction, tenants: Iterable<string>): Promise<Set<string>> {
  const rows = await tx.many(
    Tenants,
    sql`select t as tenant from unnest(${column.texts([...new Set(tenants)], (one) => one)}) as u (t)
      where exists (select from accord.erased_actor where tenant = t)`,
  );
  return new Set(rows.map(({ tenant }) => tenant));
}

/** Whether the tenant has erased actors. */
export async function hasErased(tx: Transaction, tenant: string): Promise<boolean> {
  return (await tenantsWithErased(tx, [tenant])).size > 0;
}

const Found = Type.Object({ found: Type.Boolean() });

/** Whether somebody of the tenant is being erased, or was after an instant. @param since RFC 3339 */
export async function hasErasedSince(tx: Transaction, tenant: string, since: string): Promise<boolean> {
  const row = await tx.one(
    Found,
    sql`select exists (select from accord.erased_actor where tenant = ${tenant} and progress is not null)
      or exists (select from accord.erased_actor where tenant = ${tenant} and erased_at > ${since}) as found`,
  );
  return row.found;
}

const Erased = Type.Object({ tenant: Type.String(), pseudonym: Type.String(), type: Nullable(Type.String()) });

/** The pseudonyms of ids of erased actors, with the actors' types, and those that belong to their addresses, with null. */
export function readErased(
  tx: Transaction,
  pseudonyms: readonly { tenant: string; pseudonym: string }[],
): Promise<Static<typeof Erased>[]> {
  return tx.many(
    Erased,
    sql`with asked as (
        select * from unnest(${column.texts(pseudonyms, (one) => one.tenant)}, ${column.texts(pseudonyms, (one) => one.pseudonym)}) as u (tenant, pseudonym))
      select e.tenant, e.pseudonym, e.type from asked join accord.erased_actor e on e.tenant = asked.tenant and e.pseudonym = asked.pseudonym
      union all
      select c.tenant, c.pseudonym, null from asked join accord.erased_contact c on c.tenant = asked.tenant and c.pseudonym = asked.pseudonym`,
  );
}

const ProgressRow = Type.Object({ progress: Nullable(Progress) });
type Key = { pseudonym: string; type: string };

/** The progress of erasing an actor, locked; null: it was erased. @returns undefined when it was not begun */
export async function lockProgress(
  tx: Transaction,
  tenant: string,
  { pseudonym, type }: Key,
): Promise<Progress | null | undefined> {
  const row = await tx.maybe(
    ProgressRow,
    sql`select progress from accord.erased_actor where tenant = ${tenant} and pseudonym = ${pseudonym} and type = ${type} for update`,
  );
  return row?.progress;
}

type Begun = Key & { isUser: boolean; now: string; progress: Progress; contactPseudonyms: readonly string[] };

/** Begins, or begins again. The pseudonyms of addresses are added to those that earlier erasures of the actor named. */
export async function beginErasing(
  tx: Transaction,
  tenant: string,
  { pseudonym, type, isUser, now, progress, contactPseudonyms }: Begun,
): Promise<void> {
  await tx.run(sql`
    insert into accord.erased_actor (tenant, pseudonym, type, is_user, erased_at, progress)
    values (${tenant}, ${pseudonym}, ${type}, ${isUser}, ${now}, ${JSON.stringify(progress)})
    on conflict (tenant, pseudonym, type) do update
      set is_user = excluded.is_user, erased_at = excluded.erased_at, progress = excluded.progress`);
  await tx.run(sql`
    insert into accord.erased_contact (tenant, actor_pseudonym, actor_type, pseudonym)
    select ${tenant}, ${pseudonym}, ${type}, u.pseudonym from unnest(${column.texts(contactPseudonyms, (one) => one)}) as u (pseudonym)
    on conflict do nothing`);
}

export async function writeProgress(
  tx: Transaction,
  tenant: string,
  { pseudonym, type }: Key,
  progress: Progress,
): Promise<void> {
  await tx.run(sql`update accord.erased_actor set progress = ${JSON.stringify(progress)}
    where tenant = ${tenant} and pseudonym = ${pseudonym} and type = ${type}`);
}

/** Nothing is left to erase. */
export async function endErasing(
  tx: Transaction,
  tenant: string,
  { pseudonym, type }: Key,
  now: string,
): Promise<void> {
  await tx.run(sql`update accord.erased_actor set progress = null, erased_at = ${now}
    where tenant = ${tenant} and pseudonym = ${pseudonym} and type = ${type}`);
}
