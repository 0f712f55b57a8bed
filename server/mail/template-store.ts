/** All SQL of tenants' mail templates and mail settings. */
import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Count, Instant, Json } from '../core/db/rows.ts';
import { sql } from '../core/db/sql.ts';
import type { Owner, Writer } from '../core/ownership.ts';
import { listNames, onlyIs } from '../room/export-store.ts';
import type { Only } from '../room/exporting.ts';

/** The parts of a mail, in Liquid. Without `text` it is made of the HTML. */
export type TemplateSpec = { subject: string; html?: string; text?: string };
export type MailSettings = { from: string; replyTo?: string };

const TemplateRow = Type.Object({
  ...{ name: Type.String(), language: Type.String(), spec: Json<TemplateSpec>(), revision: Type.Integer() },
  ...{ owner: Json<Owner>(), updated_at: Instant, updated_by: Type.String() },
});
export type TemplateRow = Static<typeof TemplateRow>;
const columns = sql`name, language, spec, revision, owner, updated_at, updated_by`;
/** The name of one in the API. */
const path = sql`concat(name, '/', language)`;
type Key = { name: string; language: string };

/** Of one name, or all. By name and language in byte order. */
export function loadTemplates(tx: Transaction, tenant: string, name?: string): Promise<TemplateRow[]> {
  return tx.many(
    TemplateRow,
    sql`select ${columns} from accord.mail_template
      where tenant = ${tenant} ${name === undefined ? sql`` : sql`and name = ${name}`} order by name, language`,
  );
}

/** What manifests of a tenant's templates hold. */
export function loadTemplateSources(tx: Transaction, tenant: string, only?: Only): Promise<TemplateRow[]> {
  return tx.many(
    TemplateRow,
    sql`select ${columns} from accord.mail_template where tenant = ${tenant} ${onlyIs(only, path)} order by name, language`,
  );
}

export const templateNames = (tx: Transaction, tenant: string) =>
  listNames(tx, sql`select ${path} as name, owner from accord.mail_template where tenant = ${tenant}`);

export async function readTemplate(tx: Transaction, tenant: string, key: Key): Promise<TemplateRow | undefined> {
  return (await loadTemplates(tx, tenant, key.name)).find(({ language }) => language === key.language);
}

export async function countTemplates(tx: Transaction, tenant: string): Promise<number> {
  const row = await tx.one(
    Count,
    sql`select count(*)::int as count from accord.mail_template where tenant = ${tenant}`,
  );
  return row.count;
}

export async function upsertTemplate(
  tx: Transaction,
  tenant: string,
  { name, language, spec, revision }: Key & { spec: TemplateSpec; revision: number },
  writer: Writer,
): Promise<void> {
  await tx.run(sql`
    insert into accord.mail_template (tenant, name, language, spec, revision, owner, updated_by)
    values (${tenant}, ${name}, ${language}, ${JSON.stringify(spec)}, ${revision}, ${JSON.stringify(writer.owner)},
      ${writer.actor})
    on conflict (tenant, name, language) do update set spec = excluded.spec, revision = excluded.revision,
      owner = excluded.owner, updated_at = now(), updated_by = excluded.updated_by`);
}

export async function updateTemplateOwner(
  tx: Transaction,
  tenant: string,
  { name, language }: Key,
  owner: Owner,
): Promise<void> {
  await tx.run(sql`
    update accord.mail_template set owner = ${JSON.stringify(owner)}
    where tenant = ${tenant} and name = ${name} and language = ${language}`);
}

export async function removeTemplate(tx: Transaction, tenant: string, { name, language }: Key): Promise<void> {
  await tx.run(sql`
    delete from accord.mail_template where tenant = ${tenant} and name = ${name} and language = ${language}`);
}

const SettingsRow = Type.Object({
  ...{ spec: Json<MailSettings>(), revision: Type.Integer(), updated_at: Instant, updated_by: Type.String() },
});
export type SettingsRow = Static<typeof SettingsRow>;

export function readSettings(tx: Transaction, tenant: string): Promise<SettingsRow | undefined> {
  return tx.maybe(
    SettingsRow,
    sql`select spec, revision, updated_at, updated_by from accord.mail_settings where tenant = ${tenant}`,
  );
}

export async function upsertSettings(
  tx: Transaction,
  tenant: string,
  { spec, revision }: { spec: MailSettings; revision: number },
  writer: Writer,
): Promise<void> {
  await tx.run(sql`
    insert into accord.mail_settings (tenant, spec, revision, updated_by)
    values (${tenant}, ${JSON.stringify(spec)}, ${revision}, ${writer.actor})
    on conflict (tenant) do update set spec = excluded.spec, revision = excluded.revision, updated_at = now(),
      updated_by = excluded.updated_by`);
}
