/** The verbs on tenants' mail templates and mail settings. */
import { isDeepStrictEqual } from 'node:util';
import { authorOf } from '../core/author.ts';
import type { Transaction } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { checkDeletionOwnership, checkOwnership, type Owner, type Writer } from '../core/ownership.ts';
import { type ProblemPlace, problem } from '../core/problems.ts';
import { checkPreconditions, type Preconditions } from '../http/config-api.ts';
import type { ConfigWritten } from '../tenants/index.ts';
import { type ConfigWriteServices, transferRow, write } from '../writes/index.ts';
import { type Part, variablesOf } from './liquid.ts';
import { mailProblem } from './problems.ts';
import { renderingInput, writePart } from './rendering.ts';
import { mailLanguageOf } from './rules.ts';
import { placeOf, TemplateError } from './template-error.ts';
import {
  countTemplates,
  loadTemplates,
  type MailSettings,
  readSettings,
  readTemplate,
  removeTemplate,
  type TemplateSpec,
  updateTemplateOwner,
  upsertSettings,
  upsertTemplate,
} from './template-store.ts';
import { texts } from './texts.ts';
import { builtIn, isBuiltIn, sampleVariables, shownVariables } from './variables.ts';

type Key = { name: string; language: string };

const partsOf = ({ subject, html, text }: Partial<TemplateSpec>) =>
  [
    ['subject', subject],
    ['html', html],
    ['text', text],
  ] as const;
type Field = ReturnType<typeof partsOf>[number][0];
const partOf = (field: Field): Part => (field === 'html' ? 'html' : 'text');

/** @throws Problem mail_template_invalid, naming each wrong place */
export function checkTemplate({ name, language }: Key, spec: Partial<TemplateSpec>): void {
  const places = partsOf(spec).flatMap(([field, source]) =>
    source === undefined ? [] : wrongPlaces(field, source, name, language),
  );
  if (spec.html === undefined && spec.text === undefined)
    places.push({ pointer: '/text', detail: 'A template needs html or text.' });
  const [first] = places;
  if (first !== undefined)
    throw mailProblem('mail_template_invalid', { detail: `${first.pointer}: ${first.detail}`, errors: places });
}

function wrongPlaces(field: Field, source: string, name: string, language: string): ProblemPlace[] {
  const pointer = `/${field}`;
  try {
    const roots = variablesOf(partOf(field), source);
    if (!isBuiltIn(name)) {
      // What values its variables will have is not known: it is tried without any.
      writePart(field, source, renderingInput(name, {}, { isLenient: true }));
      return [];
    }
    const there = Object.keys(builtIn[name].variables);
    const unknown = roots.filter((root) => !there.includes(root.name));
    if (unknown.length > 0) return unknown.map((root) => unknownVariable(pointer, root, there));
    const words = mailLanguageOf(language);
    const samples = shownVariables(
      name,
      words,
      sampleVariables(name, { application: 'Example', language: words }),
      texts[words].somebody,
    );
    writePart(field, source, renderingInput(name, samples));
    return [];
  } catch (error) {
    if (error instanceof TemplateError) return [placeOf(pointer, error)];
    throw error;
  }
}

/** The variables that a stored template reads, in the order in which they stand. */
export function usedVariables(spec: TemplateSpec): string[] {
  const names = partsOf(spec).flatMap(([field, source]) =>
    source === undefined ? [] : variablesOf(partOf(field), source),
  );
  return [...new Set(names.map(({ name }) => name))];
}

function unknownVariable(
  pointer: string,
  { name, line, column }: { name: string; line: number; column: number },
  there: readonly string[],
): ProblemPlace {
  const detail = `Line ${line}, column ${column}: the mail has no variable ${name}; it has ${there.join(', ')}.`;
  return { pointer, detail, line, column };
}

/** Tags are compared without case (RFC 5646): of two that differ in nothing else, one would never be sent. */
function checkLanguage(language: string, others: readonly { language: string }[]): void {
  const same = others.find((one) => one.language.toLowerCase() === language.toLowerCase());
  if (same === undefined) return;
  const detail = `There is a template in ${same.language}, which is the same language: write it in the same way.`;
  throw mailProblem('mail_template_invalid', { detail, errors: [{ pointer: '/language', detail }] });
}

/** @throws Problem mail_template_invalid, mail_templates_full, precondition_failed, those of ownership */
export async function putTemplate(
  services: ConfigWriteServices,
  writer: Writer,
  tenant: string,
  { name, language, spec }: Key & { spec: TemplateSpec },
  options: Preconditions = {},
): Promise<ConfigWritten<{ revision: number }>> {
  checkTemplate({ name, language }, spec);
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const others = await loadTemplates(unit.tx, tenant, name);
    const row = others.find((one) => one.language === language);
    if (row === undefined) checkLanguage(language, others);
    const ownership = checkOwnership(row?.owner, writer, unit.tenantRow.spec.configAuthority);
    checkPreconditions(options, row?.revision);
    if (row === undefined && (await countTemplates(unit.tx, tenant)) >= limits.mailTemplatesMax)
      throw mailProblem('mail_templates_full');
    if (row && isDeepStrictEqual(row.spec, spec) && isDeepStrictEqual(row.owner, writer.owner))
      return { revision: row.revision };
    await upsertTemplate(unit.tx, tenant, { name, language, spec, revision: unit.revision }, writer);
    unit.changed('mail_template', `${name}/${language}`, ownership === 'adopted' ? 'adopt' : 'put');
    return { revision: unit.revision };
  });
}

/** Mails are written by the built-in template again, where there is one. @throws Problem mail_template_not_found, ownership */
export async function deleteTemplate(
  services: ConfigWriteServices,
  writer: Writer,
  tenant: string,
  key: Key,
  options: Preconditions = {},
): Promise<ConfigWritten<void>> {
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const row = await readTemplate(unit.tx, tenant, key);
    if (row === undefined) {
      if (writer.owner.source === 'api') throw mailProblem('mail_template_not_found');
      return;
    }
    checkDeletionOwnership(row.owner, writer, unit.tenantRow.spec.configAuthority);
    checkPreconditions(options, row.revision);
    await removeTemplate(unit.tx, tenant, key);
    unit.changed('mail_template', `${key.name}/${key.language}`, 'delete');
  });
}

/** Gives the writer's template to another owner as it is; does nothing when it is not (any more) the writer's. */
export function transferTemplate(
  services: ConfigWriteServices,
  writer: Writer,
  tenant: string,
  key: Key,
  to: Owner,
): Promise<ConfigWritten<void>> {
  const row = {
    kind: 'mail_template' as const,
    name: `${key.name}/${key.language}`,
    ownerOf: async (tx: Transaction) => (await readTemplate(tx, tenant, key))?.owner,
    setOwner: (tx: Transaction, owner: Owner) => updateTemplateOwner(tx, tenant, key, owner),
  };
  return transferRow(services, tenant, writer, row, to);
}

/** @throws Problem mail_settings_in_manifest, config_authority, precondition_failed */
export async function putSettings(
  services: ConfigWriteServices,
  writer: Writer,
  tenant: string,
  spec: MailSettings,
  options: Preconditions = {},
): Promise<ConfigWritten<{ revision: number }>> {
  if (/[\r\n]/.test(spec.from)) throw problem('invalid_request');
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const tenantSpec = unit.tenantRow.spec;
    if (tenantSpec.mail !== undefined) throw mailProblem('mail_settings_in_manifest');
    const row = await readSettings(unit.tx, tenant);
    checkOwnership(row && writer.owner, writer, tenantSpec.configAuthority);
    checkPreconditions(options, row?.revision);
    if (row && isDeepStrictEqual(row.spec, spec)) return { revision: row.revision };
    await upsertSettings(unit.tx, tenant, { spec, revision: unit.revision }, writer);
    unit.changed('mail_settings', 'mail', 'put');
    return { revision: unit.revision };
  });
}
