/** SQL that lists the candidates of a search. Entities come by id in byte order, `now` is RFC 3339: what has expired at it is not there. */
import { Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { column, type Sql, sql } from '../core/db/sql.ts';
import { limits } from '../core/limits.ts';

const Id = Type.Object({ id: Type.String() });
export type EntitiesPage = { tenant: string; type: string; after: string; count: number; now: string };

/** Entities of a type: those that are registered, and those that any relationship begins at or leads to. */
export async function entitiesPage(
  tx: Transaction,
  { tenant, type, after, count, now }: EntitiesPage,
): Promise<string[]> {
  const unexpired = sql`(r.expires_at is null or r.expires_at > ${now})`;
  // An entity may have very many relationships: one look-up finds the next entity, whatever stands between.
  const ends = (typeColumn: Sql, id: Sql) => {
    const next = (beyond: Sql) => sql`select ${id} as id from accord.relationship r where r.tenant = ${tenant}
      and ${typeColumn} = ${type} and ${id} > ${beyond} and ${unexpired} order by ${id} limit 1`;
    return sql`(with recursive e (id) as ((${next(sql`${after}`)})
        union all select n.id from e cross join lateral (${next(sql`e.id`)}) as n)
      select id from e limit ${count})`;
  };
  const rows = await tx.many(
    Id,
    sql`select id from (
        (select id from accord.entity where tenant = ${tenant} and type = ${type} and id > ${after} order by id limit ${count})
        union ${ends(sql`r.from_type`, sql`r.from_id`)} union ${ends(sql`r.to_type`, sql`r.to_id`)}) as entities
      order by id limit ${count}`,
  );
  return rows.map((row) => row.id);
}

/** Of a relationship `r`: that it begins at (`from`), or leads to (`to`), the entity `w`, and what is at its other end. */
function endsOf(start: 'from' | 'to'): { near: Sql; farType: Sql; far: Sql } {
  return start === 'from'
    ? { near: sql`r.from_type = w.type and r.from_id = w.id`, farType: sql`r.to_type`, far: sql`r.to_id` }
    : { near: sql`r.to_type = w.type and r.to_id = w.id`, farType: sql`r.from_type`, far: sql`r.from_id` };
}

/** An entity, and the name of relationships of it that are the last to what is searched for. */
export type Head = { type: string; id: string; name: string };

/** Entities at the other end of the heads' relationships, from (`from`) or to (`to`) them. */
export async function reachedPage(
  tx: Transaction,
  { tenant, type, after, count, now }: EntitiesPage,
  start: 'from' | 'to',
  heads: readonly Head[],
): Promise<string[]> {
  const { near, farType, far } = endsOf(start);
  const rows = await tx.many(
    Id,
    sql`select distinct e.id from unnest(${column.texts(heads, (one) => one.type)}, ${column.texts(heads, (one) => one.id)},
          ${column.texts(heads, (one) => one.name)}) as w (type, id, name)
      cross join lateral (select ${far} as id from accord.relationship r where r.tenant = ${tenant} and ${near}
        and r.name = w.name and ${farType} = ${type} and ${far} > ${after} and (r.expires_at is null or r.expires_at > ${now})
        order by ${far} limit ${count}) as e
      order by e.id limit ${count}`,
  );
  return rows.map((row) => row.id);
}

const Inner = Type.Object({ root: Type.Integer(), key: Type.String(), type: Type.String(), id: Type.String() });
type Inner = { root: number; key: string; type: string; id: string };
/** A step of the paths of a root (by its place), that another may follow. */
export type InnerStep = { root: number; after: string; name: string; type: string };

/** What the roots reach over relationships that others may follow, and by which type, each once. More than limits.searchHeadsMax: too many. */
export function readInner(
  tx: Transaction,
  { tenant, now }: Pick<EntitiesPage, 'tenant' | 'now'>,
  start: 'from' | 'to',
  roots: readonly { type: string; id: string }[],
  steps: readonly InnerStep[],
): Promise<Inner[]> {
  const { near, farType, far } = endsOf(start);
  return tx.many(
    Inner,
    sql`with recursive w (root, key, type, id) as (
        select root, '' collate "C", type collate "C", id collate "C"
          from unnest(${column.integers(roots, (_, i) => i)}, ${column.texts(roots, (one) => one.type)},
            ${column.texts(roots, (one) => one.id)}) as roots (root, type, id)
        union
        select w.root, (r.from_type || ':' || r.name || ':' || r.to_type), ${farType}, ${far}
          from w join (select * from unnest(${column.integers(steps, (one) => one.root)}, ${column.texts(steps, (one) => one.after)},
            ${column.texts(steps, (one) => one.name)}, ${column.texts(steps, (one) => one.type)}) as steps (root, after, name, type)) as s
            on s.root = w.root and s.after = w.key
          cross join lateral (select r.* from accord.relationship r where r.tenant = ${tenant} and ${near} and r.name = s.name
            and ${farType} = s.type and (r.expires_at is null or r.expires_at > ${now}) limit ${limits.searchHeadsMax + 1}) as r)
      select root, key, type, id from w where key <> '' limit ${limits.searchHeadsMax + 1}`,
  );
}
