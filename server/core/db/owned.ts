import type { Transaction } from './database.ts';
import { Count } from './rows.ts';
import { identifier, sql } from './sql.ts';

/** How many rows of a tenant manifests own: all but those of the Config API. @param table of the schema accord */
export async function countOfManifests(tx: Transaction, tenant: string, table: string): Promise<number> {
  const row = await tx.one(
    Count,
    sql`select count(*)::int as count from accord.${identifier(table)}
      where tenant = ${tenant} and owner ->> 'source' <> 'api'`,
  );
  return row.count;
}
