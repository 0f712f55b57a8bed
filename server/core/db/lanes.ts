/**
 * Rows that are owned by one server for some seconds: lanes, which core/lanes runs. Their table has the columns `owner` (uuid),
 * `owned_until` (timestamptz) and `version` (integer, one more whenever somebody changes what the lane works by), beside `tenant`
 * and one that tells the lanes of a tenant apart.
 */
import { type Static, Type } from 'typebox';
import { column, identifier, none, type Sql, sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

export type LaneId = { tenant: string; id: string };

export const LaneRow = Type.Object({ tenant: Type.String(), id: Type.String(), version: Type.Integer() });
export type LaneRow = Static<typeof LaneRow>;

export type LaneTable = {
  /** Of the schema accord. */
  table: string;
  /** The text column beside tenant. */
  id: string;
  /** A select of `tenant` and `id` of lanes that have something to do. @param tenants absent: of all */
  due(tenants: readonly string[] | undefined): Sql;
};

const isFree = sql`(l.owner is null or l.owned_until < clock_timestamp())`;
const until = (ms: number) => sql`clock_timestamp() + make_interval(secs => ${ms / 1000}::float8)`;
const names = ({ table, id }: LaneTable) => ({ lanes: sql`accord.${identifier(table)}`, lane: identifier(id) });

/**
 * Owns lanes that nobody owns and that have something to do, in a system transaction: one of each tenant, then a second one of
 * each; of a tenant's, those first whose last turn is longest ago.
 */
export function takeLanes(
  tx: Transaction,
  table: LaneTable,
  me: string,
  { limit, ownedMs, tenants }: { limit: number; ownedMs: number; tenants?: readonly string[] | undefined },
): Promise<LaneRow[]> {
  const { lanes, lane } = names(table);
  return tx.many(
    LaneRow,
    sql`with free as materialized (
        select l.tenant, l.${lane} as id, l.owned_until,
          row_number() over (partition by l.tenant order by l.owned_until nulls first, l.${lane}) as place
        from ${lanes} l join (${table.due(tenants)}) as due on due.tenant = l.tenant and due.id = l.${lane} where ${isFree}),
      first as materialized (select tenant, id from free order by place, owned_until nulls first, tenant, id limit ${limit}),
      mine as materialized (
        select l.tenant, l.${lane} as id from first join ${lanes} l on l.tenant = first.tenant and l.${lane} = first.id
        where ${isFree} for update of l skip locked)
      update ${lanes} l set owner = ${me}, owned_until = ${until(ownedMs)} from mine
      where l.tenant = mine.tenant and l.${lane} = mine.id returning l.tenant, l.${lane} as id, l.version`,
  );
}

/** How many lanes wait for an owner, at most `limit`; in a system transaction. */
export async function waitingLanes(tx: Transaction, table: LaneTable, limit: number): Promise<number> {
  const { lanes, lane } = names(table);
  const rows = await tx.many(
    LaneRow,
    sql`select l.tenant, l.${lane} as id, l.version from ${lanes} l
      join (${table.due(undefined)}) as due on due.tenant = l.tenant and due.id = l.${lane} where ${isFree} limit ${limit}`,
  );
  return rows.length;
}

const listed = (owned: readonly LaneId[]) =>
  sql`unnest(${column.texts(owned, (one) => one.tenant)}, ${column.texts(owned, (one) => one.id)}) as o (tenant, id)`;

/** Owns lanes for longer, in a system transaction. @returns those that are still one's own */
export function renewLanes(
  tx: Transaction,
  table: LaneTable,
  me: string,
  owned: readonly LaneId[],
  ownedMs: number,
): Promise<LaneRow[]> {
  const { lanes, lane } = names(table);
  return tx.many(
    LaneRow,
    sql`update ${lanes} l set owned_until = ${until(ownedMs)} from ${listed(owned)}
      where l.tenant = o.tenant and l.${lane} = o.id and l.owner = ${me} returning l.tenant, l.${lane} as id, l.version`,
  );
}

/** Gives lanes up, in a system transaction: others may own them at once. */
export async function releaseLanes(
  tx: Transaction,
  table: LaneTable,
  me: string,
  owned: readonly LaneId[],
): Promise<void> {
  const { lanes, lane } = names(table);
  await tx.run(sql`update ${lanes} l set owner = null, owned_until = clock_timestamp() from ${listed(owned)}
    where l.tenant = o.tenant and l.${lane} = o.id and l.owner = ${me}`);
}

/**
 * The fence: locks the lane's row to the end of the transaction, so that nobody becomes its owner before that. Of the tenant, or
 * of a system transaction.
 * @returns its version; undefined when somebody else owns it: nothing may be written then
 */
export async function lockLane(
  tx: Transaction,
  table: LaneTable,
  me: string,
  { tenant, id }: LaneId,
): Promise<number | undefined> {
  const { lanes, lane } = names(table);
  const row = await tx.maybe(
    LaneRow,
    sql`select tenant, ${lane} as id, version from ${lanes}
      where tenant = ${tenant} and ${lane} = ${id} and owner = ${me} for no key update`,
  );
  return row?.version;
}

/** For `due`. @param tenants absent: all */
export function ofTenants(tenants: readonly string[] | undefined, tenant: Sql): Sql {
  return tenants === undefined
    ? none
    : sql`and ${tenant} = any(array(select unnest(${column.texts(tenants, (one) => one)})))`;
}
