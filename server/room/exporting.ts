/** How a room gives its objects of a tenant as manifests say them: all to `accord export`, or one. */
import { type Static, Type } from 'typebox';
import type { TenantSpec } from '../../crds/index.ts';
import type { Transaction } from '../core/db/database.ts';
import { Json } from '../core/db/rows.ts';
import { none, type Sql, sql } from '../core/db/sql.ts';
import type { Owner } from '../core/ownership.ts';

/** One object by its name in the API, or by the manifest that owns it: `fleet/car-wash`, or `acme` where there is no namespace. */
export type Only = { name: string } | { manifest: string };

export type ExportContext = {
  tenant: string;
  tenantSpec: TenantSpec;
  /** The Tenant is to take dates of the past. */
  allowPastDates: boolean;
  /** ms */
  now: number;
  /** Only this object is needed, and others may be left out: all of a kind can be hundreds of mebibytes. */
  only?: Only;
};

export type ExportedObject = {
  /** Its name in the API. */
  name: string;
  /** Its name in the API is that of a Kubernetes object. */
  isObjectName?: true;
  owner: Owner;
  spec: Record<string, unknown>;
  /** Lines that a reader has to know. */
  comments?: readonly string[];
  /** Why it is left out, in words. */
  skipped?: string;
};

const NameRow = Type.Object({ name: Type.String(), owner: Json<Owner>() });
export type ExportedName = Static<typeof NameRow>;

/** The objects of a kind without their content. @param rows with `name`, the name in the API, and `owner` */
export const listNames = (tx: Transaction, rows: Sql): Promise<ExportedName[]> => tx.many(NameRow, rows);

/** A condition on rows that have `owner`. @param name the name in the API, in the terms of the rows */
export function onlyIs(only: Only | undefined, name: Sql): Sql {
  if (only === undefined) return none;
  if ('name' in only) return sql`and ${name} = ${only.name}`;
  return sql`and owner ->> 'source' <> 'api'
    and concat_ws('/', nullif(owner ->> 'namespace', ''), owner ->> 'name') = ${only.manifest}`;
}
