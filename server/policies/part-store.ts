import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Count } from '../core/db/rows.ts';
import { column, none, sql } from '../core/db/sql.ts';
import type { Owner, Writer } from '../core/ownership.ts';
import { listNames, onlyIs } from '../room/export-store.ts';
import type { Only } from '../room/exporting.ts';
import {
  ContentRow,
  DependentRow,
  OwnedPartRow,
  PartRevisionRow,
  PartRow,
  PartSourceRow,
  UserRow,
} from './part-schema.ts';
import type { Part, PartKind, PartName, PartRevision } from './parts.ts';

/** All libraries and documents of a tenant, by kind and name. */
export function readParts(tx: Transaction, tenant: string): Promise<Part[]> {
  return tx.many(
    PartRow,
    sql`select kind, name, number, digest, bytes, refs from accord.policy_part where tenant = ${tenant}
      order by kind, name collate "C"`,
  );
}

export function readPart(tx: Transaction, tenant: string, { kind, name }: PartName): Promise<OwnedPartRow | undefined> {
  return tx.maybe(
    OwnedPartRow,
    sql`select kind, name, number, digest, bytes, refs, revision, owner, updated_at, updated_by from accord.policy_part
      where tenant = ${tenant} and kind = ${kind} and name = ${name}`,
  );
}

/** Revisions as they are kept. */
export function readPartsAt(tx: Transaction, tenant: string, revisions: readonly PartRevision[]): Promise<Part[]> {
  return tx.many(
    PartRow,
    sql`select kind, name, number, digest, octet_length(content) as bytes, refs from accord.policy_part_revision
      join unnest(${column.texts(revisions, ({ kind }) => kind)}, ${column.texts(revisions, ({ name }) => name)},
        ${column.texts(revisions, ({ number }) => String(number))}::bigint[]) as u (kind, name, number) using (kind, name, number)
      where tenant = ${tenant} and content is not null order by kind, name collate "C"`,
  );
}

/** What a revision holds; undefined when it is not kept. */
export async function readContent(
  tx: Transaction,
  tenant: string,
  { kind, name, number }: PartName & { number: number },
): Promise<string | undefined> {
  const row = await tx.maybe(
    ContentRow,
    sql`select content from accord.policy_part_revision
      where tenant = ${tenant} and kind = ${kind} and name = ${name} and number = ${number}`,
  );
  return row?.content ?? undefined;
}

const Named = Type.Object({ name: Type.String() });

/** Names in byte order after `after`. @param limit undefined: all */
export async function listParts(
  tx: Transaction,
  tenant: string,
  kind: PartKind,
  { after, limit }: { after?: string; limit?: number },
): Promise<string[]> {
  const rows = await tx.many(
    Named,
    sql`select name from accord.policy_part where tenant = ${tenant} and kind = ${kind}
      ${after === undefined ? none : sql`and name collate "C" > ${after}`}
      order by name collate "C" ${limit === undefined ? none : sql`limit ${limit}`}`,
  );
  return rows.map(({ name }) => name);
}

/** What manifests of a tenant's libraries or documents hold. */
export function loadPartSources(
  tx: Transaction,
  tenant: string,
  kind: PartKind,
  only?: Only,
): Promise<PartSourceRow[]> {
  return tx.many(
    PartSourceRow,
    sql`select name, r.content, p.owner from accord.policy_part p
      join accord.policy_part_revision r using (tenant, kind, name, number)
      where tenant = ${tenant} and kind = ${kind} ${onlyIs(only, sql`name`)} order by name collate "C"`,
  );
}

export const partNames = (tx: Transaction, tenant: string, kind: PartKind) =>
  listNames(tx, sql`select name, owner from accord.policy_part where tenant = ${tenant} and kind = ${kind}`);

/** What uses a part, by kind and name. @param limit of all */
export function readUsers(
  tx: Transaction,
  tenant: string,
  { kind, name }: PartName,
  limit?: number,
): Promise<UserRow[]> {
  return tx.many(
    UserRow,
    sql`select user_kind, user_name from accord.policy_use where tenant = ${tenant} and kind = ${kind} and name = ${name}
      order by user_kind, user_name collate "C" ${limit === undefined ? none : sql`limit ${limit}`}`,
  );
}

/** The policies that use a part. */
export function readDependents(tx: Transaction, tenant: string, { kind, name }: PartName): Promise<DependentRow[]> {
  return tx.many(
    DependentRow,
    sql`select p.name, p.number, p.effective_rego, p.graph is not null as drawn, p.artifact, p.data_subjects, p.tests
      from accord.policy p join accord.policy_use u on u.tenant = p.tenant and u.user_kind = 'policy' and u.user_name = p.name
      where u.tenant = ${tenant} and u.kind = ${kind} and u.name = ${name} order by p.name collate "C"`,
  );
}

/** How many libraries and documents the tenant has. */
export async function countParts(tx: Transaction, tenant: string): Promise<number> {
  const row = await tx.one(Count, sql`select count(*)::int as count from accord.policy_part where tenant = ${tenant}`);
  return row.count;
}

const Numbered = Type.Object({ number: Type.Integer() });

/** The number that the next revision gets. */
export async function nextPartNumber(tx: Transaction, tenant: string, { kind, name }: PartName): Promise<number> {
  const row: Static<typeof Numbered> = await tx.one(
    Numbered,
    sql`select coalesce(max(number), 0) + 1 as number from accord.policy_part_revision
      where tenant = ${tenant} and kind = ${kind} and name = ${name}`,
  );
  return row.number;
}

export async function upsertPart(
  tx: Transaction,
  tenant: string,
  part: Part & { revision: number },
  writer: Writer,
): Promise<void> {
  await tx.run(sql`
    insert into accord.policy_part (tenant, kind, name, number, digest, bytes, refs, revision, owner, updated_by)
    values (${tenant}, ${part.kind}, ${part.name}, ${part.number}, ${part.digest}, ${part.bytes}, ${JSON.stringify(part.refs)},
      ${part.revision}, ${JSON.stringify(writer.owner)}, ${writer.actor})
    on conflict (tenant, kind, name) do update set number = excluded.number, digest = excluded.digest,
      bytes = excluded.bytes, refs = excluded.refs, revision = excluded.revision, owner = excluded.owner, updated_at = now(), updated_by = excluded.updated_by`);
}

/** Adds to the history of a part, and forgets what is older than the newest `keep`. @param of absent: it is deleted */
export async function addPartRevision(
  tx: Transaction,
  tenant: string,
  entry: PartName & {
    number: number;
    action: string;
    revision: number;
    of?: { part: Part; content: string };
  },
  writer: Writer,
  keep: number,
): Promise<void> {
  const { kind, name, number, action, revision, of } = entry;
  await Promise.all([
    tx.run(sql`
      insert into accord.policy_part_revision (tenant, kind, name, number, action, digest, content, refs, revision, updated_by)
      values (${tenant}, ${kind}, ${name}, ${number}, ${action}, ${of?.part.digest ?? null}, ${of?.content ?? null},
        ${of === undefined ? null : JSON.stringify(of.part.refs)}, ${revision}, ${writer.actor})`),
    tx.run(sql`
      delete from accord.policy_part_revision
      where tenant = ${tenant} and kind = ${kind} and name = ${name} and number <= ${number - keep}`),
  ]);
}

/** The history of a library or document, newest first, below `before`; without what the revisions hold. */
export function listPartRevisions(
  tx: Transaction,
  tenant: string,
  { kind, name }: PartName,
  { before, limit }: { before?: number; limit: number },
): Promise<PartRevisionRow[]> {
  return tx.many(
    PartRevisionRow,
    sql`select number, action, null as content, updated_at, updated_by from accord.policy_part_revision
      where tenant = ${tenant} and kind = ${kind} and name = ${name}
      ${before === undefined ? none : sql`and number < ${before}`} order by number desc limit ${limit}`,
  );
}

export function readPartRevision(
  tx: Transaction,
  tenant: string,
  { kind, name, number }: PartRevision,
): Promise<PartRevisionRow | undefined> {
  return tx.maybe(
    PartRevisionRow,
    sql`select number, action, content, updated_at, updated_by from accord.policy_part_revision
      where tenant = ${tenant} and kind = ${kind} and name = ${name} and number = ${number}`,
  );
}

export async function updatePartOwner(
  tx: Transaction,
  tenant: string,
  { kind, name }: PartName,
  owner: Owner,
): Promise<void> {
  await tx.run(sql`update accord.policy_part set owner = ${JSON.stringify(owner)}
    where tenant = ${tenant} and kind = ${kind} and name = ${name}`);
}

export async function removePart(tx: Transaction, tenant: string, { kind, name }: PartName): Promise<void> {
  await tx.run(sql`delete from accord.policy_part where tenant = ${tenant} and kind = ${kind} and name = ${name}`);
}

/** Says anew what a policy or library uses. */
export async function replaceUses(
  tx: Transaction,
  tenant: string,
  user: { kind: 'policy' | 'library'; name: string },
  uses: readonly PartName[],
): Promise<void> {
  await tx.run(sql`delete from accord.policy_use
    where tenant = ${tenant} and user_kind = ${user.kind} and user_name = ${user.name}`);
  if (uses.length === 0) return;
  await tx.run(sql`
    insert into accord.policy_use (tenant, user_kind, user_name, kind, name)
    select ${tenant}, ${user.kind}, ${user.name}, kind, name
    from unnest(${column.texts(uses, ({ kind }) => kind)}, ${column.texts(uses, ({ name }) => name)}) as u (kind, name)`);
}
