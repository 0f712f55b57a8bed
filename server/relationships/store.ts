/** All SQL of the relationships room. `now` is RFC 3339: what has expired at it is not there. */
import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Count, Nullable } from '../core/db/rows.ts';
import { column, none, type Sql, sql } from '../core/db/sql.ts';
import type { Entity, Filter, Line, LineError, Relationship } from './schema.ts';
import * as shapes from './schema.ts';

export type { Filter, Line } from './schema.ts';

const columns = sql`from_type, from_id, name, to_type, to_id, expires_at`;
const unexpired = (now: string) => sql`(expires_at is null or expires_at > ${now})`;

/** A page of what begins at an entity (`from`) or leads to it (`to`), in the order of the index, after a row. */
export function listRelationships(
  tx: Transaction,
  tenant: string,
  side: 'from' | 'to',
  { type, id }: Entity,
  page: { after?: shapes.RelationshipRow; limit: number; now: string },
): Promise<shapes.RelationshipRow[]> {
  const { after } = page;
  const [mine, order, beyond] =
    side === 'from'
      ? [
          sql`from_type = ${type} and from_id = ${id}`,
          sql`name, to_type, to_id`,
          after && sql`and (name, to_type, to_id) > (${after.name}, ${after.to_type}, ${after.to_id})`,
        ]
      : [
          sql`to_type = ${type} and to_id = ${id}`,
          sql`name, from_type, from_id`,
          after && sql`and (name, from_type, from_id) > (${after.name}, ${after.from_type}, ${after.from_id})`,
        ];
  return tx.many(
    shapes.RelationshipRow,
    sql`select ${columns} from accord.relationship where tenant = ${tenant} and ${mine} ${beyond ?? none}
      and ${unexpired(page.now)} order by ${order} limit ${page.limit}`,
  );
}

/** A page of all relationships, in the order of the key. */
export function exportPage(
  tx: Transaction,
  tenant: string,
  page: { after?: shapes.RelationshipRow; limit: number; now: string },
): Promise<shapes.RelationshipRow[]> {
  const { after } = page;
  const beyond = after
    ? sql`and (from_type, from_id, name, to_type, to_id) >
        (${after.from_type}, ${after.from_id}, ${after.name}, ${after.to_type}, ${after.to_id})`
    : none;
  return tx.many(
    shapes.RelationshipRow,
    sql`select ${columns} from accord.relationship where tenant = ${tenant} ${beyond} and ${unexpired(page.now)}
      order by from_type, from_id, name, to_type, to_id limit ${page.limit}`,
  );
}

/** Until the end of the transaction nobody else adds a relationship of this type to this target, one at a time. */
export async function lockTarget(
  tx: Transaction,
  tenant: string,
  { from, relationshipType, to }: Relationship,
): Promise<void> {
  const target = JSON.stringify([tenant, from.type, relationshipType, to.type, to.id]);
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${target}, 5))`);
}

/** How many others of its type lead to its target, counted up to `most`. */
export async function countOthers(
  tx: Transaction,
  tenant: string,
  { from, relationshipType, to }: Relationship,
  { most, now }: { most: number; now: string },
): Promise<number> {
  const row = await tx.one(
    Count,
    sql`select count(*)::int as count from (select from accord.relationship
      where tenant = ${tenant} and to_type = ${to.type} and to_id = ${to.id} and name = ${relationshipType}
        and from_type = ${from.type} and from_id <> ${from.id} and ${unexpired(now)} limit ${most}) as others`,
  );
  return row.count;
}

const Sum = Type.Object({ count: Type.Integer() });

/** How many relationships there are, as limits.maxRelationships counts them: expired ones too, until they are deleted. */
export async function countRelationships(tx: Transaction, tenant: string): Promise<number> {
  const row = await tx.one(
    Sum,
    sql`select coalesce(sum(change), 0)::bigint as count from accord.relationship_change where tenant = ${tenant}`,
  );
  return row.count;
}

const Quota = Type.Object({ most: Nullable(Type.Integer()), count: Nullable(Type.Integer()) });

/** limits.maxRelationships of the tenant, and where it has one, how many relationships there are. */
export function readQuota(tx: Transaction, tenant: string): Promise<Static<typeof Quota>> {
  return tx.one(
    Quota,
    sql`select q.most, case when q.most is not null then
        (select coalesce(sum(change), 0)::bigint from accord.relationship_change where tenant = ${tenant}) end as count
      from (values (1)) as one left join (select (spec #>> '{limits,maxRelationships}')::bigint as most
        from accord.tenant where tenant = ${tenant}) q on true`,
  );
}

/** Until the end of the transaction nobody else who takes this lock makes relationships of the tenant. */
export async function lockQuota(tx: Transaction, tenant: string): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`accord.relationships.${tenant}`}, 0))`);
}

/**
 * Makes a relationship, or gives one that is there another expiry.
 * @param expiry `replace`: the one that is given; `later`: that or the one it has, whichever is later
 */
export async function upsertRelationship(
  tx: Transaction,
  tenant: string,
  { from, relationshipType, to, expiresAt }: Relationship,
  now: string,
  expiry: 'replace' | 'later',
): Promise<'created' | 'updated'> {
  const never = sql`'infinity'::timestamptz`;
  const kept =
    expiry === 'replace'
      ? sql`excluded.expires_at`
      : sql`nullif(greatest(coalesce(r.expires_at, ${never}), coalesce(excluded.expires_at, ${never})), ${never})`;
  const row = await tx.one(
    shapes.Written,
    sql`insert into accord.relationship as r (tenant, from_type, from_id, name, to_type, to_id, expires_at)
      values (${tenant}, ${from.type}, ${from.id}, ${relationshipType}, ${to.type}, ${to.id}, ${expiresAt ?? null})
      on conflict (tenant, from_type, from_id, name, to_type, to_id) do update set expires_at = ${kept}
      returning old.tenant is not null as was_there, coalesce(old.expires_at > ${now}, true) as was_unexpired`,
  );
  return row.was_there && row.was_unexpired ? 'updated' : 'created';
}

/** @returns whether it was there and had not expired */
export async function removeRelationship(
  tx: Transaction,
  tenant: string,
  { from, relationshipType, to }: Relationship,
  now: string,
): Promise<boolean> {
  const rows = await tx.many(
    shapes.Removed,
    sql`delete from accord.relationship where tenant = ${tenant} and from_type = ${from.type} and from_id = ${from.id}
      and name = ${relationshipType} and to_type = ${to.type} and to_id = ${to.id}
      returning ${unexpired(now)} as was_unexpired`,
  );
  return rows[0]?.was_unexpired ?? false;
}

/** Removes at most `limit` that the filter names; how many. */
export function removeMatching(tx: Transaction, tenant: string, filter: Filter, limit: number): Promise<number> {
  const is = (column: Sql, value: string | undefined) => (value === undefined ? none : sql`and ${column} = ${value}`);
  const { fromType, fromId, relationshipType, toType, toId } = filter;
  const isType = fromType !== undefined && relationshipType !== undefined && toType !== undefined;
  const isOfType =
    isType && fromId === undefined && toId === undefined
      ? sql`and type_hash = accord.relationship_type_hash(${tenant}, ${fromType}, ${relationshipType}, ${toType})`
      : none;
  return tx.run(sql`
    delete from accord.relationship where ctid in (select ctid from accord.relationship where tenant = ${tenant}
      ${is(sql`from_type`, fromType)} ${is(sql`from_id`, fromId)} ${is(sql`name`, relationshipType)}
      ${is(sql`to_type`, toType)} ${is(sql`to_id`, toId)} ${isOfType} limit ${limit})`);
}

function arraysOfColumns(lines: readonly Line[]): Sql {
  const texts = (read: (line: Line) => string) => column.texts(lines, read);
  return sql`${texts((one) => one.from.type)}, ${texts((one) => one.from.id)}, ${texts((one) => one.relationshipType)},
    ${texts((one) => one.to.type)}, ${texts((one) => one.to.id)}, ${column.instants(lines, (one) => one.expiresAt ?? null)}`;
}

function arrays(lines: readonly Line[]): Sql {
  return sql`unnest(${arraysOfColumns(lines)}, ${column.bigints(lines, (one) => one.line)},
    ${column.integers(lines, (one) => one.maxPerTarget ?? null)}) as l (${columns}, line, most)`;
}

/** Lines that would lead more relationships to a target than its type allows; those that are there already do not count. */
export async function linesPastLimit(
  tx: Transaction,
  tenant: string,
  lines: readonly Line[],
  now: string,
): Promise<Set<number>> {
  const rows = await tx.many(
    shapes.LineNumber,
    sql`with fresh as (select l.* from ${arrays(lines)} where not exists (select from accord.relationship r
          where r.tenant = ${tenant} and r.from_type = l.from_type and r.from_id = l.from_id and r.name = l.name
            and r.to_type = l.to_type and r.to_id = l.to_id and (r.expires_at is null or r.expires_at > ${now}))),
        placed as (select line, most, row_number() over (partition by from_type, name, to_type, to_id order by line)
          + (select count(*) from accord.relationship r where r.tenant = ${tenant} and r.to_type = f.to_type and r.to_id = f.to_id
              and r.name = f.name and r.from_type = f.from_type and (r.expires_at is null or r.expires_at > ${now})) as place
          from fresh f)
      select line from placed where place > most`,
  );
  return new Set(rows.map((row) => row.line));
}

/** Lines whose relationships have no row yet, not even an expired one; in their order. */
export async function linesToAdd(tx: Transaction, tenant: string, lines: readonly Line[]): Promise<number[]> {
  const rows = await tx.many(
    shapes.LineNumber,
    sql`select l.line from ${arrays(lines)} where not exists (select from accord.relationship r
        where r.tenant = ${tenant} and r.from_type = l.from_type and r.from_id = l.from_id and r.name = l.name
          and r.to_type = l.to_type and r.to_id = l.to_id) order by l.line`,
  );
  return rows.map((row) => row.line);
}

/** Writes lines, each relationship at most once among them. */
export function insertLines(
  tx: Transaction,
  tenant: string,
  lines: readonly Line[],
): Promise<{ created: number; updated: number }> {
  return tx.one(
    shapes.Inserted,
    sql`with put as (
        insert into accord.relationship as r (tenant, ${columns})
        select ${tenant}, ${columns} from unnest(${arraysOfColumns(lines)}) as l (${columns}) order by from_type, from_id, name, to_type, to_id
        on conflict (tenant, from_type, from_id, name, to_type, to_id) do update set expires_at = excluded.expires_at
          where r.expires_at is distinct from excluded.expires_at
        returning old.tenant is null as made)
      select (count(*) filter (where made))::int as created, (count(*) filter (where not made))::int as updated from put`,
  );
}

const importColumns = sql`id, lines, digest, created, updated, unchanged, refused, errors, started_at, finished_at`;

/** Begins an import unless it is there. @returns whether it was begun */
export async function beginImport(tx: Transaction, tenant: string, id: string): Promise<boolean> {
  return (
    (await tx.run(
      sql`insert into accord.relationship_import (tenant, id) values (${tenant}, ${id}) on conflict do nothing`,
    )) > 0
  );
}

/** @param forUpdate nobody else writes it until the end of the transaction */
export function readImport(
  tx: Transaction,
  tenant: string,
  id: string,
  forUpdate = false,
): Promise<shapes.ImportRow | undefined> {
  return tx.maybe(
    shapes.ImportRow,
    sql`select ${importColumns} from accord.relationship_import where tenant = ${tenant} and id = ${id}
      ${forUpdate ? sql`for update` : none}`,
  );
}

/** Adds a batch's counts. */
export async function advanceImport(
  tx: Transaction,
  tenant: string,
  id: string,
  batch: {
    lines: number;
    digest: string;
    created: number;
    updated: number;
    unchanged: number;
    refused: number;
    errors: LineError[];
  },
): Promise<void> {
  await tx.run(sql`
    update accord.relationship_import set lines = ${batch.lines}, digest = ${batch.digest}, created = created + ${batch.created},
      updated = updated + ${batch.updated}, unchanged = unchanged + ${batch.unchanged},
      refused = refused + ${batch.refused}, errors = errors || ${JSON.stringify(batch.errors)}::jsonb
    where tenant = ${tenant} and id = ${id}`);
}

export async function finishImport(tx: Transaction, tenant: string, id: string): Promise<void> {
  await tx.run(sql`update accord.relationship_import set finished_at = now()
    where tenant = ${tenant} and id = ${id} and finished_at is null`);
}

/** Lets the planner know what an import created, where that is such a share of the table. In a transaction of its own, which lasts a second. */
export async function analyzeRelationships(tx: Transaction, created: number, percent: number): Promise<void> {
  await tx.run(sql`select accord.analyze_relationships(${created}::bigint, ${percent}::integer)`);
}

/**
 * Removes the errors of imports that contain an id as a whole word: with neither a letter, a digit nor _ before or behind it.
 * @returns of how many imports
 */
export function removeImportErrors(tx: Transaction, tenant: string, id: string): Promise<number> {
  const named = `(?<![[:alnum:]_])${id.replace(/[^\p{L}\p{N}_]/gu, '\\$&')}(?![[:alnum:]_])`;
  const naming = sql`(e ->> 'detail') ~ ${named}`;
  return tx.run(sql`update accord.relationship_import set errors = (select coalesce(jsonb_agg(e), '[]')
      from jsonb_array_elements(errors) e where not ${naming})
    where tenant = ${tenant} and exists (select from jsonb_array_elements(errors) e where ${naming})`);
}
