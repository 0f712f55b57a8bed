/** SQL of registered actors and resources. */
import type { Transaction } from '../core/db/database.ts';
import { sql } from '../core/db/sql.ts';
import type { Attributes, Entity } from './schema.ts';
import { EntityRow } from './schema.ts';

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
