/** The SQL that rooms share for what is due at an instant in some tenants. */
import { Type } from 'typebox';
import { type Sql, sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

const TenantOf = Type.Object({ tenant: Type.String() });

/**
 * The active tenants that have a row which is due: one look into an index for each tenant.
 * @param due a select of one row of tenant `t`
 */
export async function tenantsWith(tx: Transaction, due: Sql): Promise<string[]> {
  const rows = await tx.many(
    TenantOf,
    sql`select t.tenant from accord.tenant t cross join lateral (${due} limit 1) as due where t.state = 'active' order by t.tenant`,
  );
  return rows.map(({ tenant }) => tenant);
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
