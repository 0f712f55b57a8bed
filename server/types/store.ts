import { Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Count } from '../core/db/rows.ts';
import { column, none, type Sql, sql } from '../core/db/sql.ts';
import { apiOwner, type Owner, type Writer } from '../core/ownership.ts';
import { listNames, onlyIs } from '../room/export-store.ts';
import type { Only } from '../room/exporting.ts';
import {
  type EntityKind,
  EntityTypeRow,
  type EntityTypeSpec,
  RelationshipTypeRow,
  type RelationshipTypeSpec,
  type TypeKey,
} from './schema.ts';

const entityColumns = sql`tenant, name, kind, spec, revision, owner, updated_at, updated_by`;
const relationshipColumns = sql`tenant, from_type, name, to_type, spec, retired, revision, owner, updated_at, updated_by`;
/** As typeKeyOf writes it. */
const typeKey = sql`concat_ws(':', from_type, name, to_type)`;
const Found = Type.Object({ found: Type.Boolean() });

/** @param lockFor `delete`: for the rest of the transaction nobody writes records of the type; `use`: nobody removes it */
export function readEntityType(
  tx: Transaction,
  tenant: string,
  name: string,
  lockFor?: 'delete' | 'use',
): Promise<EntityTypeRow | undefined> {
  const lock = lockFor === 'delete' ? sql`for update` : lockFor === 'use' ? sql`for key share` : none;
  return tx.maybe(
    EntityTypeRow,
    sql`select ${entityColumns} from accord.entity_type where tenant = ${tenant} and name = ${name} ${lock}`,
  );
}

/** By name in byte order: of one tenant (and kind), or of all in a system transaction. */
export function loadEntityTypes(
  tx: Transaction,
  tenant?: string,
  kind?: EntityKind,
  only?: Only,
): Promise<EntityTypeRow[]> {
  return tx.many(
    EntityTypeRow,
    sql`select ${entityColumns} from accord.entity_type ${tenant === undefined ? none : sql`where tenant = ${tenant}`}
      ${kind === undefined ? none : sql`and kind = ${kind}`} ${onlyIs(only, sql`name`)} order by tenant, name`,
  );
}

export const entityTypeNames = (tx: Transaction, tenant: string, kind: EntityKind) =>
  listNames(tx, sql`select name, owner from accord.entity_type where tenant = ${tenant} and kind = ${kind}`);

export async function countTypes(tx: Transaction, tenant: string, table: 'entity' | 'relationship'): Promise<number> {
  const from = table === 'entity' ? sql`accord.entity_type` : sql`accord.relationship_type`;
  return (await tx.one(Count, sql`select count(*)::int as count from ${from} where tenant = ${tenant}`)).count;
}

export async function upsertEntityType(
  tx: Transaction,
  tenant: string,
  type: { name: string; kind: EntityKind; spec: EntityTypeSpec; revision: number },
  writer: Writer,
): Promise<void> {
  await tx.run(sql`
    insert into accord.entity_type (tenant, name, kind, spec, revision, owner, updated_by)
    values (${tenant}, ${type.name}, ${type.kind}, ${JSON.stringify(type.spec)}, ${type.revision},
      ${JSON.stringify(writer.owner)}, ${writer.actor})
    on conflict (tenant, name) do update set spec = excluded.spec, revision = excluded.revision, owner = excluded.owner,
      updated_at = now(), updated_by = excluded.updated_by`);
}

export async function removeEntityType(tx: Transaction, tenant: string, name: string): Promise<void> {
  await tx.run(sql`delete from accord.entity_type where tenant = ${tenant} and name = ${name}`);
}

/** What is left of a type of actors or resources: a relationship type that names it, or one that is registered. */
export async function usesOfEntityType(tx: Transaction, tenant: string, name: string): Promise<string | undefined> {
  const type = await tx.maybe(
    RelationshipTypeRow,
    sql`select ${relationshipColumns} from accord.relationship_type
      where tenant = ${tenant} and (from_type = ${name} or to_type = ${name}) order by from_type, name, to_type limit 1`,
  );
  if (type !== undefined) return `the relationship type ${type.from_type}:${type.name}:${type.to_type}`;
  const { found } = await tx.one(
    Found,
    sql`select exists (select from accord.entity where tenant = ${tenant} and type = ${name}) as found`,
  );
  return found ? `actors or resources of the type ${name}` : undefined;
}

export function readRelationshipType(
  tx: Transaction,
  tenant: string,
  { from, name, to }: TypeKey,
  lockFor?: 'delete',
): Promise<RelationshipTypeRow | undefined> {
  return tx.maybe(
    RelationshipTypeRow,
    sql`select ${relationshipColumns} from accord.relationship_type
      where tenant = ${tenant} and from_type = ${from} and name = ${name} and to_type = ${to}
      ${lockFor === undefined ? none : sql`for update`}`,
  );
}

/**
 * The relationship types of these keys, locked until the end of the transaction: nobody removes them.
 * @param which all; or only those with maxPerTarget, and nobody else writes relationships of these meanwhile
 */
export async function lockRelationshipTypes(
  tx: Transaction,
  tenant: string,
  keys: readonly TypeKey[],
  which: 'all' | 'limited, alone',
): Promise<RelationshipTypeRow[]> {
  return tx.many(
    RelationshipTypeRow,
    sql`select ${relationshipColumns} from accord.relationship_type
      where tenant = ${tenant} and (from_type, name, to_type) in
        (select * from unnest(${column.texts(keys, (key) => key.from)}, ${column.texts(keys, (key) => key.name)},
          ${column.texts(keys, (key) => key.to)}))
      ${which === 'all' ? none : sql`and spec ? 'maxPerTarget'`}
      order by from_type, name, to_type ${which === 'all' ? sql`for key share` : sql`for update`}`,
  );
}

/** The types of relationships that lead to entities of a type, or from them, in byte order: of one relationship, or of all. */
export function loadTypesTouching(
  tx: Transaction,
  tenant: string,
  { relationshipType, type }: { relationshipType?: string; type: string },
): Promise<RelationshipTypeRow[]> {
  return tx.many(
    RelationshipTypeRow,
    sql`select ${relationshipColumns} from accord.relationship_type
      where tenant = ${tenant} and (from_type = ${type} or to_type = ${type})
        ${relationshipType === undefined ? none : sql`and name = ${relationshipType}`}
      order by from_type, name, to_type`,
  );
}

/** In byte order: of one tenant, or of all in a system transaction. */
export function loadRelationshipTypes(tx: Transaction, tenant?: string, only?: Only): Promise<RelationshipTypeRow[]> {
  return tx.many(
    RelationshipTypeRow,
    sql`select ${relationshipColumns} from accord.relationship_type
      ${tenant === undefined ? none : sql`where tenant = ${tenant}`} ${onlyIs(only, typeKey)}
      order by tenant, from_type, name, to_type`,
  );
}

export const relationshipTypeNames = (tx: Transaction, tenant: string) =>
  listNames(
    tx,
    sql`select ${typeKey} as name, owner from accord.relationship_type where tenant = ${tenant} and not retired`,
  );

export async function upsertRelationshipType(
  tx: Transaction,
  tenant: string,
  { key, spec, revision }: { key: TypeKey; spec: RelationshipTypeSpec; revision: number },
  writer: Writer,
): Promise<void> {
  await tx.run(sql`
    insert into accord.relationship_type (tenant, from_type, name, to_type, spec, revision, owner, updated_by)
    values (${tenant}, ${key.from}, ${key.name}, ${key.to}, ${JSON.stringify(spec)}, ${revision},
      ${JSON.stringify(writer.owner)}, ${writer.actor})
    on conflict (tenant, from_type, name, to_type) do update set spec = excluded.spec, revision = excluded.revision,
      owner = excluded.owner, retired = false, updated_at = now(), updated_by = excluded.updated_by`);
}

/** Keeps the type, without an owner, for the relationships that are left. */
export async function retireRelationshipType(
  tx: Transaction,
  tenant: string,
  key: TypeKey,
  revision: number,
  writer: Writer,
): Promise<void> {
  await tx.run(sql`
    update accord.relationship_type set retired = true, revision = ${revision}, owner = ${JSON.stringify(apiOwner)},
      updated_at = now(), updated_by = ${writer.actor}
    where tenant = ${tenant} and from_type = ${key.from} and name = ${key.name} and to_type = ${key.to}`);
}

/** With what is left of its relationships, which have all expired. */
export async function removeRelationshipType(tx: Transaction, tenant: string, key: TypeKey): Promise<void> {
  const where = sql`where tenant = ${tenant} and from_type = ${key.from} and name = ${key.name} and to_type = ${key.to}`;
  await tx.run(sql`delete from accord.relationship_type ${where}`);
  const hash = sql`accord.relationship_type_hash(${tenant}, ${key.from}, ${key.name}, ${key.to})`;
  await tx.run(sql`delete from accord.relationship ${where} and type_hash = ${hash}`);
}

const UsedType = Type.Object({ from: Type.String(), name: Type.String(), to: Type.String() });

/**
 * Which of the types have a relationship that holds at `now`.
 *
 * It reads one row of each type that has one, and none of the others, by relationship_of_type. With `=` Postgres may look the
 * names up in the primary key, among all rows of the From type; `limit` keeps it from reading all rows of a type at once.
 */
export async function withRelationships(
  tx: Transaction,
  tenant: string,
  keys: readonly TypeKey[],
  now: string,
): Promise<TypeKey[]> {
  const one = (holds: Sql) => sql`(select from accord.relationship r
    where r.type_hash = accord.relationship_type_hash(${tenant}, k.from_type, k.name, k.to_type) and r.tenant is not distinct from ${tenant}
      and r.from_type is not distinct from k.from_type and r.name is not distinct from k.name
      and r.to_type is not distinct from k.to_type and ${holds} limit 1)`;
  return tx.many(
    UsedType,
    sql`select k.from_type as "from", k.name, k.to_type as "to"
      from unnest(${column.texts(keys, (key) => key.from)}, ${column.texts(keys, (key) => key.name)},
        ${column.texts(keys, (key) => key.to)}) as k (from_type, name, to_type)
      where exists (${one(sql`r.expires_at is null`)} union all ${one(sql`r.expires_at > ${now}`)})`,
  );
}

export async function updateEntityTypeOwner(
  tx: Transaction,
  tenant: string,
  name: string,
  owner: Owner,
): Promise<void> {
  await tx.run(sql`update accord.entity_type set owner = ${JSON.stringify(owner)}
    where tenant = ${tenant} and name = ${name}`);
}

export async function updateRelationshipTypeOwner(
  tx: Transaction,
  tenant: string,
  { from, name, to }: TypeKey,
  owner: Owner,
): Promise<void> {
  await tx.run(sql`update accord.relationship_type set owner = ${JSON.stringify(owner)}
    where tenant = ${tenant} and from_type = ${from} and name = ${name} and to_type = ${to}`);
}
