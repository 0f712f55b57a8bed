/** What the SQL of rooms has in common that reads one object as a manifest says it. */
import { Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Json } from '../core/db/rows.ts';
import { none, type Sql, sql } from '../core/db/sql.ts';
import type { Owner } from '../core/ownership.ts';
import type { ExportedName, Only } from './exporting.ts';

const NameRow = Type.Object({ name: Type.String(), owner: Json<Owner>() });

/** The objects of a kind without their content. @param rows with `name`, the name in the API, and `owner` */
export const listNames = (tx: Transaction, rows: Sql): Promise<ExportedName[]> => tx.many(NameRow, rows);

/** A condition on rows that have `owner`. @param name the name in the API, in the terms of the rows */
export function onlyIs(only: Only | undefined, name: Sql): Sql {
  if (only === undefined) return none;
  if ('name' in only) return sql`and ${name} = ${only.name}`;
  return sql`and owner ->> 'source' <> 'api'
    and concat_ws('/', nullif(owner ->> 'namespace', ''), owner ->> 'name') = ${only.manifest}`;
}
