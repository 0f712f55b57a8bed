/** SQL that reads the direct relationships of several actors at once, so many of each at most. */
import type { Transaction } from '../core/db/database.ts';
import { column, sql } from '../core/db/sql.ts';
import { DirectRow, type Entity, type FromEntry, HoldingRow, type Relationship } from './schema.ts';

/**
 * What begins at each of the actors and holds at an instant (RFC 3339), as lists show it; undefined for one that has more than
 * `most`. Inherited relationships are not among it.
 */
export async function readDirect(
  tx: Transaction,
  tenant: string,
  actors: readonly Entity[],
  { now, most }: { now: string; most: number },
): Promise<(FromEntry[] | undefined)[]> {
  const asked = [...actors.entries()];
  const rows = await tx.many(
    DirectRow,
    sql`select q.n, r.* from unnest(${column.integers(asked, ([n]) => n)}, ${column.texts(asked, ([, { type }]) => type)},
        ${column.texts(asked, ([, { id }]) => id)}) as q (n, type, id)
      cross join lateral (select name, to_type, to_id from accord.relationship
        where tenant = ${tenant} and from_type = q.type and from_id = q.id and (expires_at is null or expires_at > ${now})
        order by name, to_type, to_id limit ${most + 1}) as r
      order by q.n, r.name, r.to_type, r.to_id`,
  );
  const found = Map.groupBy(rows, (row) => row.n);
  return actors.map((_, n) => {
    const own = found.get(n) ?? [];
    if (own.length > most) return undefined;
    return own.map((row) => ({ relationshipType: row.name, to: { id: row.to_id, type: row.to_type } }));
  });
}

/** Which of the relationships hold at an instant (RFC 3339), with the expiry that they have now; undefined for one that does not. */
export async function readHolding(
  tx: Transaction,
  tenant: string,
  asked: readonly Relationship[],
  now: string,
): Promise<(Relationship | undefined)[]> {
  const numbered = [...asked.entries()];
  const texts = (of: (one: Relationship) => string) => column.texts(numbered, ([, one]) => of(one));
  const rows = await tx.many(
    HoldingRow,
    sql`select q.n, r.expires_at from unnest(${column.integers(numbered, ([n]) => n)}, ${texts((one) => one.from.type)},
        ${texts((one) => one.from.id)}, ${texts((one) => one.relationshipType)}, ${texts((one) => one.to.type)},
        ${texts((one) => one.to.id)}) as q (n, from_type, from_id, name, to_type, to_id)
      join accord.relationship r using (from_type, from_id, name, to_type, to_id)
      where r.tenant = ${tenant} and (r.expires_at is null or r.expires_at > ${now})`,
  );
  const expiry = new Map(rows.map(({ n, expires_at: at }) => [n, at]));
  return asked.map(({ from, relationshipType, to }, n) => {
    const expiresAt = expiry.get(n);
    if (expiresAt === undefined) return undefined;
    return { from, relationshipType, to, ...(expiresAt === null ? {} : { expiresAt }) };
  });
}
