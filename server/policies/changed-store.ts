import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { sql } from '../core/db/sql.ts';

const ChangedPolicy = Type.Object({ tenant: Type.String(), name: Type.String() });

/** Of all tenants, the policies that others than the operator changed within this time. */
export function readChangedByOthers(tx: Transaction, withinMs: number): Promise<Static<typeof ChangedPolicy>[]> {
  return tx.many(
    ChangedPolicy,
    sql`select tenant, name from accord.policy
      where updated_at > now() - make_interval(secs => ${withinMs / 1000}) and not starts_with(updated_by, 'operator:')`,
  );
}
