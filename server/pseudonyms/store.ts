import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Nullable } from '../core/db/rows.ts';
import { column, type Sql, sql } from '../core/db/sql.ts';
import { Progress } from './schema.ts';

/** The prefix of a tag that replaces an id. */
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
export function erasedActor(tenant: Sql, type: Sql, tag: Sql): Sql {
  return sql`exists (select from accord.erased_actor where tenant = ${tenant} and tag = ${tag} and type = ${type})`;
}

/** Whether a user of consents was erased; both are SQL. */
export function erasedUser(tenant: Sql, tag: Sql): Sql {
  return sql`exists (select from accord.erased_actor where tenant = ${tenant} and tag = ${tag} and is_user)`;
}

const Tagged = Type.Object({ type: Type.String(), tag: Type.String(), under_way: Type.Boolean() });

/** Those that were erased, without a lock: who erases them may wait for locks of the caller. */
export function readTagged(
  tx: Transaction,
  tenant: string,
  tagged: readonly { type: string; tag: string }[],
): Promise<Static<typeof Tagged>[]> {
  return tx.many(
    Tagged,
    sql`select e.type, e.tag, e.progress is not null as under_way
      from unnest(${column.texts(tagged, (one) => one.type)}, ${column.texts(tagged, (one) => one.tag)}) as u (type, tag)
      join accord.erased_actor e on e.tenant = ${tenant} and e.tag = u.tag and e.type = u.type`,
  );
}

export async function removeErased(
  tx: Transaction,
  tenant: string,
  tagged: readonly { type: string; tag: string }[],
): Promise<void> {
  await tx.run(sql`delete from accord.erased_actor e
    using unnest(${column.texts(tagged, (one) => one.type)}, ${column.texts(tagged, (one) => one.tag)}) as u (type, tag)
    where e.tenant = ${tenant} and e.tag = u.tag and e.type = u.type and e.progress is null`);
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

const Erased = Type.Object({ tenant: Type.String(), tag: Type.String(), type: Nullable(Type.String()) });

/** The tags that belong to ids of erased actors, with the actors' types, and those that belong to their addresses, with null. */
export function readErased(
  tx: Transaction,
  tags: readonly { tenant: string; tag: string }[],
): Promise<Static<typeof Erased>[]> {
  return tx.many(
    Erased,
    sql`with asked as (
        select * from unnest(${column.texts(tags, (one) => one.tenant)}, ${column.texts(tags, (one) => one.tag)}) as u (tenant, tag))
      select e.tenant, e.tag, e.type from asked join accord.erased_actor e on e.tenant = asked.tenant and e.tag = asked.tag
      union all
      select c.tenant, c.tag, null from asked join accord.erased_contact c on c.tenant = asked.tenant and c.tag = asked.tag`,
  );
}

const ProgressRow = Type.Object({ progress: Nullable(Progress) });
type Key = { tag: string; type: string };

/** The progress of erasing an actor, locked; null: it was erased. @returns undefined when it was not begun */
export async function lockProgress(
  tx: Transaction,
  tenant: string,
  { tag, type }: Key,
): Promise<Progress | null | undefined> {
  const row = await tx.maybe(
    ProgressRow,
    sql`select progress from accord.erased_actor where tenant = ${tenant} and tag = ${tag} and type = ${type} for update`,
  );
  return row?.progress;
}

type Begun = Key & { isUser: boolean; now: string; progress: Progress; contactTags: readonly string[] };

/** Begins, or begins again. The tags of addresses are added to those that earlier erasures of the actor named. */
export async function beginErasing(
  tx: Transaction,
  tenant: string,
  { tag, type, isUser, now, progress, contactTags }: Begun,
): Promise<void> {
  await tx.run(sql`
    insert into accord.erased_actor (tenant, tag, type, is_user, erased_at, progress)
    values (${tenant}, ${tag}, ${type}, ${isUser}, ${now}, ${JSON.stringify(progress)})
    on conflict (tenant, tag, type) do update
      set is_user = excluded.is_user, erased_at = excluded.erased_at, progress = excluded.progress`);
  await tx.run(sql`
    insert into accord.erased_contact (tenant, actor_tag, actor_type, tag)
    select ${tenant}, ${tag}, ${type}, u.tag from unnest(${column.texts(contactTags, (one) => one)}) as u (tag)
    on conflict do nothing`);
}

export async function writeProgress(
  tx: Transaction,
  tenant: string,
  { tag, type }: Key,
  progress: Progress,
): Promise<void> {
  await tx.run(sql`update accord.erased_actor set progress = ${JSON.stringify(progress)}
    where tenant = ${tenant} and tag = ${tag} and type = ${type}`);
}

/** Nothing is left to erase. */
export async function endErasing(tx: Transaction, tenant: string, { tag, type }: Key, now: string): Promise<void> {
  await tx.run(sql`update accord.erased_actor set progress = null, erased_at = ${now}
    where tenant = ${tenant} and tag = ${tag} and type = ${type}`);
}
