/** The SQL that rooms share for what is due at an instant in some tenants. */
import { Type } from 'typebox';
import { limits } from '../limits.ts';
import { ofTenants } from './lanes.ts';
import { identifier, literal, none, type Sql, sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

/**
 * Rows with an instant at which they are due, each until it is told. The table has two indexes of the rows that match `untold`:
 * (instant, tenant), by which one look finds the tenants, and (tenant, instant).
 */
export type Due = {
  /** A table of the schema accord; fragments name its row `d`. */
  table: string;
  instant: string;
  /** The predicate of both indexes. */
  untold: Sql;
  /** The condition on the instant. Of tenant `t`, whose row it may read, when `isDue` is all that says so. */
  isDue: Sql;
  /** Without `t`, where isDue needs it: at least what is due of all tenants but `exceptions`. @default isDue */
  mayBeDue?: Sql;
  /** A select of the tenants that mayBeDue may miss: few. */
  exceptions?: Sql;
  /** What keeps a row from being told for now. */
  unless?: Sql;
};

const Look = Type.Object({ tenants: Type.Array(Type.String()), rows: Type.Integer() });
const TenantOf = Type.Object({ tenant: Type.String() });

/**
 * The active tenants that have a row which is due. The first rows by their instants name them. Where that is all there is, only
 * these tenants are looked at; where there may be more rows, each tenant is, so that one with many rows, or a disabled one whose
 * rows stay, hides no other. Every statement has its rows in the order of an index: without one, the plan that Postgres keeps
 * for all instants supposes that a third of the table is due, and goes through it.
 */
export async function tenantsWith(tx: Transaction, due: Due): Promise<string[]> {
  const { tenants, rows } = await tx.one(Look, firstRows(due));
  if (tenants.length === 0) return [];
  const isComplete = rows < limits.dueRowsLookedAtMax;
  const found = await tx.many(TenantOf, tenantsDue(due, isComplete ? tenants : undefined));
  return found.map(({ tenant }) => tenant);
}

function firstRows({ table, instant, untold, isDue, mayBeDue = isDue, exceptions }: Due): Sql {
  const first = sql`select d.tenant from accord.${identifier(table)} d where ${untold} and ${mayBeDue}
    order by d.${identifier(instant)} limit ${literal(limits.dueRowsLookedAtMax)}`;
  const more = exceptions === undefined ? none : sql`union all (${exceptions})`;
  return sql`with first as materialized (${first})
    select (select count(*)::int from first) as rows,
      array(select distinct tenant from (select tenant from first ${more}) as named) as tenants`;
}

/** @param among absent: all */
function tenantsDue({ table, instant, untold, isDue, unless }: Due, among: readonly string[] | undefined): Sql {
  return sql`select t.tenant from accord.tenant t cross join lateral (
      select from accord.${identifier(table)} d where d.tenant = t.tenant and ${untold} and ${isDue}
        ${unless === undefined ? none : sql`and not (${unless})`} order by d.${identifier(instant)} limit 1) as due
    where t.state = 'active' ${ofTenants(among, sql`t.tenant`)} order by t.tenant`;
}

/**
 * Removes rows of all tenants whose instant is reached, the first ones first, in a system transaction; one that is locked is left.
 * @param table of the schema accord, with an index of the instants; not partitioned
 * @param limit a constant
 * @returns how many
 */
export function removeDue(
  tx: Transaction,
  [table, instant]: readonly [table: string, instant: string],
  now: string,
  limit: number,
): Promise<number> {
  const [name, at] = [sql`accord.${identifier(table)}`, identifier(instant)];
  // By ctid: joined by their keys, Postgres may read the whole table again. Nobody moves a row that is locked.
  return tx.run(sql`delete from ${name} where ctid = any(array(
    select ctid from ${name} where ${at} <= ${now} order by ${at} limit ${literal(limit)} for update skip locked))`);
}

const Turn = Type.Object({ mine: Type.Boolean() });

/** Whether nobody else does this for the tenant; nobody else will until the end of the transaction. */
export async function takeTurn(tx: Transaction, tenant: string, what: string): Promise<boolean> {
  const { mine } = await tx.one(
    Turn,
    sql`select pg_try_advisory_xact_lock(hashtextextended(${`accord.${what}.${tenant}`}, 0)) as mine`,
  );
  return mine;
}
