import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Count } from '../core/db/rows.ts';
import { none, sql } from '../core/db/sql.ts';
import { utc } from '../core/instants.ts';
import { apiOwner, type Owner, type Writer } from '../core/ownership.ts';
import { listNames, onlyIs } from '../room/export-store.ts';
import type { Only } from '../room/exporting.ts';
import type { DocumentName } from './address.ts';
import {
  ContentRow,
  type DefinitionPlan,
  DefinitionRow,
  DocumentRow,
  type DocumentWrite,
  type EndOfLifePlan,
  type StoredDefinition,
  type VersionPlan,
  VersionRow,
} from './schema.ts';

export async function readDefinition(
  tx: Transaction,
  tenant: string,
  name: string,
): Promise<StoredDefinition | undefined> {
  return (await loadDefinitions(tx, tenant, [name]))[0];
}

/** Whole definitions by name in byte order: of one tenant (and names), or of all tenants in a system transaction. */
export async function loadDefinitions(
  tx: Transaction,
  tenant?: string,
  names?: readonly string[],
): Promise<StoredDefinition[]> {
  const of = tenant === undefined ? none : sql`where tenant = ${tenant}`;
  const named = names === undefined ? none : sql`and name = any(${names}::text[])`;
  const below = names === undefined ? none : sql`and definition = any(${names}::text[])`;
  const definitions = await tx.many(
    DefinitionRow,
    sql`select tenant, name, attributes, archived, language_fallback, revision, owner from accord.consent_definition ${of} ${named}
      order by tenant, name`,
  );
  if (definitions.length === 0) return [];
  const versions = await tx.many(
    VersionRow,
    sql`select tenant, definition, version, attributes, start_date, end_date, grace_period, revision
      from accord.consent_version ${of} ${below} order by version`,
  );
  const documents = await tx.many(
    DocumentRow,
    sql`select tenant, definition, version, language, document, effective_date, attributes, content, revision
      from accord.consent_document ${of} ${below} order by language, document`,
  );
  return assemble(definitions, versions, documents);
}

function assemble(
  definitions: readonly Static<typeof DefinitionRow>[],
  versions: readonly Static<typeof VersionRow>[],
  documents: readonly Static<typeof DocumentRow>[],
): StoredDefinition[] {
  const documentsOf = Map.groupBy(documents, (row) => `${row.tenant}\0${row.definition}\0${row.version}`);
  const versionsOf = Map.groupBy(versions, (row) => `${row.tenant}\0${row.definition}`);
  return definitions.map(({ language_fallback: languageFallback, ...row }) => ({
    ...row,
    ...(languageFallback === null ? {} : { languageFallback }),
    versions: (versionsOf.get(`${row.tenant}\0${row.name}`) ?? []).map((version) => ({
      version: version.version,
      attributes: version.attributes,
      revision: version.revision,
      ...endOfLifeOf(version),
      documents: (documentsOf.get(`${row.tenant}\0${row.name}\0${version.version}`) ?? []).map((document) => ({
        version: document.document,
        language: document.language,
        effectiveDate: Date.parse(document.effective_date),
        attributes: document.attributes,
        ...(document.content === null ? {} : { content: document.content }),
        revision: document.revision,
      })),
    })),
  }));
}

function endOfLifeOf({ start_date, end_date, grace_period }: Static<typeof VersionRow>): {
  endOfLife?: EndOfLifePlan;
} {
  if (start_date === null || end_date === null || grace_period === null) return {};
  return { endOfLife: { startDate: Date.parse(start_date), endDate: Date.parse(end_date), gracePeriod: grace_period } };
}

const BodyRow = Type.Object({
  definition: Type.String(),
  version: Type.String(),
  language: Type.String(),
  document: Type.String(),
  body: Type.String(),
});

/** The texts of definitions that are stored here. @param names undefined: of all */
export function loadBodies(
  tx: Transaction,
  tenant: string,
  names: readonly string[] | undefined,
): Promise<Static<typeof BodyRow>[]> {
  return tx.many(
    BodyRow,
    sql`select definition, version, language, document, body from accord.consent_document
      where tenant = ${tenant} and body is not null
        ${names === undefined ? none : sql`and definition = any(${names}::text[])`}`,
  );
}

/** Those that are not archived. */
export const definitionNames = (tx: Transaction, tenant: string, only?: Only) =>
  listNames(
    tx,
    sql`select name, owner from accord.consent_definition where tenant = ${tenant} and not archived ${onlyIs(only, sql`name`)}`,
  );

const Named = Type.Object({ name: Type.String() });

/** Names in byte order, archived ones too. */
export async function listDefinitions(tx: Transaction, tenant: string): Promise<string[]> {
  const rows = await tx.many(
    Named,
    sql`select name from accord.consent_definition where tenant = ${tenant} order by name`,
  );
  return rows.map((row) => row.name);
}

export async function countDefinitions(tx: Transaction, tenant: string): Promise<number> {
  const { count } = await tx.one(
    Count,
    sql`select count(*)::int as count from accord.consent_definition where tenant = ${tenant}`,
  );
  return count;
}

/** Creates, replaces or takes out of the archive; what is below it stays. */
export async function upsertDefinition(
  tx: Transaction,
  tenant: string,
  row: Omit<DefinitionPlan, 'versions'> & { revision: number },
  writer: Writer,
): Promise<void> {
  await tx.run(sql`
    insert into accord.consent_definition (tenant, name, attributes, language_fallback, revision, owner, updated_by)
    values (${tenant}, ${row.name}, ${JSON.stringify(row.attributes)}, ${row.languageFallback ?? null}, ${row.revision},
      ${JSON.stringify(writer.owner)}, ${writer.actor})
    on conflict (tenant, name) do update set attributes = excluded.attributes, archived = false,
      language_fallback = excluded.language_fallback, revision = excluded.revision, owner = excluded.owner, updated_at = now(), updated_by = excluded.updated_by`);
}

/** Nobody owns it any more, and nothing of it is active. */
export async function archiveDefinition(
  tx: Transaction,
  tenant: string,
  row: { name: string; revision: number },
  writer: Writer,
): Promise<void> {
  await tx.run(sql`
    update accord.consent_definition set archived = true, revision = ${row.revision}, owner = ${JSON.stringify(apiOwner)},
      updated_at = now(), updated_by = ${writer.actor}
    where tenant = ${tenant} and name = ${row.name}`);
}

export async function updateDefinitionOwner(
  tx: Transaction,
  tenant: string,
  name: string,
  owner: Owner,
): Promise<void> {
  await tx.run(sql`update accord.consent_definition set owner = ${JSON.stringify(owner)}
    where tenant = ${tenant} and name = ${name}`);
}

export type VersionKey = { name: string; version: string };

/** Creates or replaces; its end of life and its documents stay. */
export async function upsertVersion(
  tx: Transaction,
  tenant: string,
  { name, version }: VersionKey,
  { attributes, revision }: Pick<VersionPlan, 'attributes'> & { revision: number },
): Promise<void> {
  await tx.run(sql`
    insert into accord.consent_version (tenant, definition, version, attributes, revision)
    values (${tenant}, ${name}, ${version}, ${JSON.stringify(attributes)}, ${revision})
    on conflict (tenant, definition, version) do update set attributes = excluded.attributes,
      revision = excluded.revision`);
}

export async function updateEndOfLife(
  tx: Transaction,
  tenant: string,
  { name, version }: VersionKey,
  { endOfLife, revision }: { endOfLife: EndOfLifePlan | undefined; revision: number },
): Promise<void> {
  const [start, end] = endOfLife ? [utc(endOfLife.startDate), utc(endOfLife.endDate)] : [null, null];
  await tx.run(sql`
    update accord.consent_version set start_date = ${start}, end_date = ${end},
      grace_period = ${endOfLife?.gracePeriod ?? null}, revision = ${revision}
    where tenant = ${tenant} and definition = ${name} and version = ${version}`);
}

export async function removeVersion(tx: Transaction, tenant: string, { name, version }: VersionKey): Promise<void> {
  await tx.run(sql`delete from accord.consent_version
    where tenant = ${tenant} and definition = ${name} and version = ${version}`);
}

export async function upsertDocument(
  tx: Transaction,
  tenant: string,
  { name, version }: VersionKey,
  { document, revision }: { document: DocumentWrite; revision: number },
): Promise<void> {
  const { body, content } = document;
  await tx.run(sql`
    insert into accord.consent_document (tenant, definition, version, language, document, effective_date, attributes, content,
      body, revision)
    values (${tenant}, ${name}, ${version}, ${document.language}, ${document.version}, ${utc(document.effectiveDate)},
      ${JSON.stringify(document.attributes)}, ${content === undefined ? null : JSON.stringify(content)}, ${body ?? null},
      ${revision})
    on conflict (tenant, definition, version, language, document) do update set effective_date = excluded.effective_date,
      attributes = excluded.attributes, content = excluded.content,
      body = ${body === undefined ? sql`consent_document.body` : sql`excluded.body`}, revision = excluded.revision`);
}

/** The text of one document, archived or not; undefined when there is no such document. */
export function readContent(
  tx: Transaction,
  tenant: string,
  { name, version, document }: DocumentName,
): Promise<Static<typeof ContentRow> | undefined> {
  return tx.maybe(
    ContentRow,
    sql`select effective_date, content, body from accord.consent_document where tenant = ${tenant} and definition = ${name}
      and version = ${version} and language = ${document.language} and document = ${document.version}`,
  );
}

export async function removeDocument(
  tx: Transaction,
  tenant: string,
  { name, version }: VersionKey,
  document: { language: string; version: string },
): Promise<void> {
  await tx.run(sql`delete from accord.consent_document where tenant = ${tenant} and definition = ${name}
    and version = ${version} and language = ${document.language} and document = ${document.version}`);
}
