/** All SQL of the pseudonyms room. */
import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Nullable } from '../core/db/rows.ts';
import { column, type Sql, sql } from '../core/db/sql.ts';
import { Progress } from './schema.ts';

/** Before a tag that stands for an id. */
export const STAND_IN = 'erased:';

/** Until the end of the transaction no erasing begins in the tenant: for whoever writes records. To be held before any other lock, also before an Idempotency-Key is claimed. */
export async function holdWrites(tx: Transaction, tenant: string): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock_shared(accord.erasing_write_lock(${tenant}))`);
}

/** The same for whoever records what was asked, of several tenants: in an order of its own, and not for long. */
export async function holdLooks(tx: Transaction, tenants: Iterable<string>): Promise<void> {
  const each = [...new Set(tenants)].sort();
  await tx.run(sql`select pg_advisory_xact_lock_shared(accord.erasing_look_lock(t))
    from unnest(${column.texts(each, (one) => one)}) as u (t)`);
}

/** Waits for all who hold either, and keeps others from it. */
export async function holdErasing(tx: Transaction, tenant: string): Promise<void> {
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

/** Those that were erased. Not held: whoever erases them may wait for what the caller holds. */
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

const Erased = Type.Object({ tenant: Type.String(), tag: Type.String(), type: Type.String() });

/** Those of the tags that stand for erased actors, with their types. */
export function readErased(
  tx: Transaction,
  tags: readonly { tenant: string; tag: string }[],
): Promise<Static<typeof Erased>[]> {
  return tx.many(
    Erased,
    sql`select e.tenant, e.tag, e.type
      from unnest(${column.texts(tags, (one) => one.tenant)}, ${column.texts(tags, (one) => one.tag)}) as u (tenant, tag)
      join accord.erased_actor e on e.tenant = u.tenant and e.tag = u.tag`,
  );
}

const ProgressRow = Type.Object({ progress: Nullable(Progress) });
type Key = { tag: string; type: string };

/** How far the erasing of an actor has come, held; null: it was erased. @returns undefined when it was not begun */
export async function holdProgress(
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

/** Begins, or begins again. */
export async function beginErasing(
  tx: Transaction,
  tenant: string,
  { tag, type, isUser, now, progress }: Key & { isUser: boolean; now: string; progress: Progress },
): Promise<void> {
  await tx.run(sql`
    insert into accord.erased_actor (tenant, tag, type, is_user, erased_at, progress)
    values (${tenant}, ${tag}, ${type}, ${isUser}, ${now}, ${JSON.stringify(progress)})
    on conflict (tenant, tag, type) do update
      set is_user = excluded.is_user, erased_at = excluded.erased_at, progress = excluded.progress`);
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
