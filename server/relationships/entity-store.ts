import type { Transaction } from '../core/db/database.ts';
import { sql } from '../core/db/sql.ts';
import type { Attributes, Entity } from './schema.ts';
import { EntityRow, ScannedEntity } from './schema.ts';

export async function readEntity(
  tx: Transaction,
  tenant: string,
  { type, id }: Entity,
): Promise<Attributes | undefined> {
  const row = await tx.maybe(
    EntityRow,
    sql`select type, id, attributes from accord.entity where tenant = ${tenant} and type = ${type} and id = ${id}`,
  );
  return row?.attributes;
}

export async function upsertEntity(
  tx: Transaction,
  tenant: string,
  entity: Entity,
  attributes: Attributes,
): Promise<void> {
  await tx.run(sql`
    insert into accord.entity (tenant, type, id, attributes)
    values (${tenant}, ${entity.type}, ${entity.id}, ${JSON.stringify(attributes)})
    on conflict (tenant, type, id) do update set attributes = excluded.attributes, updated_at = now()`);
}

export function removeEntity(tx: Transaction, tenant: string, { type, id }: Entity): Promise<number> {
  return tx.run(sql`delete from accord.entity where tenant = ${tenant} and type = ${type} and id = ${id}`);
}

type EntityList = {
  type: string;
  after: string;
  /** Ids from `from` and, where it is there, before `until`. */
  range: { from: string; until: string | undefined };
  attributes: Attributes;
  count: number;
};

/**
 * Registered entities of a type with the attributes, by id in byte order. Reads at most `scanned` rows of the primary key, in whose
 * order they come: an index on attributes would not be used under row-level security (`@>` is not leakproof). When so many were
 * read the last of them is among the rows, whether it matches or not.
 */
export function scanEntities(
  tx: Transaction,
  tenant: string,
  { type, after, range, attributes, count }: EntityList,
  scanned: number,
): Promise<ScannedEntity[]> {
  const until = range.until === undefined ? sql`` : sql`and id < ${range.until}`;
  return tx.many(
    ScannedEntity,
    sql`select id, attributes, matches, n = ${scanned} as is_last from (
        select id, attributes, attributes @> ${JSON.stringify(attributes)}::jsonb as matches, row_number() over (order by id) as n
        from (select id, attributes from accord.entity where tenant = ${tenant} and type = ${type}
          and id > ${after} and id >= ${range.from} ${until} order by id limit ${scanned}) as rows) as numbered
      where matches or n = ${scanned} order by id limit ${count}`,
  );
}
