import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Instant, Json } from '../core/db/rows.ts';
import { none, sql } from '../core/db/sql.ts';

export const ResourceRow = Type.Object({
  source: Type.String(),
  kind: Type.String(),
  namespace: Type.String(),
  name: Type.String(),
  generation: Type.Integer(),
  status: Json<Record<string, unknown>>(),
  updated_at: Instant,
});
export type ResourceRow = Static<typeof ResourceRow>;
export type Position = { kind: string; namespace: string; name: string; source: string };

/** A manifest of a namespace that may not name the tenant is not the tenant's: anybody can make thousands of those. */
const strange = JSON.stringify({ conditions: [{ type: 'Accepted', reason: 'NamespaceNotAllowed' }] });

/** In the order of kind, namespace, name and source, after a position. @param limit undefined: all */
export function listResources(
  tx: Transaction,
  tenant: string,
  page: { after?: Position; limit?: number },
): Promise<ResourceRow[]> {
  const { after, limit } = page;
  return tx.many(
    ResourceRow,
    sql`select source, kind, namespace, name, generation, status, updated_at from accord.resource where tenant = ${tenant}
      and not status @> ${strange}::jsonb
      ${after === undefined ? none : sql`and (kind, namespace, name, source) > (${after.kind}, ${after.namespace}, ${after.name}, ${after.source})`}
      order by kind, namespace, name, source ${limit === undefined ? none : sql`limit ${limit}`}`,
  );
}
