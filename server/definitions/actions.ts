/**
 * The verbs of the Config API on consent definitions. Each decides under the tenant's row lock, with the clock read there:
 * two writers cannot both pass a lock that time closes.
 */
import { isDeepStrictEqual } from 'node:util';
import { authorOf } from '../core/author.ts';
import type { Transaction } from '../core/db/database.ts';
import { instantMs, utc } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import { checkOwnership, type Writer } from '../core/ownership.ts';
import { problem } from '../core/problems.ts';
import { checkPreconditions, type Preconditions } from '../http/config-api.ts';
import type { ConfigWritten } from '../tenants/index.ts';
import { type ConfigUnit, type ConfigWriteServices, write } from '../writes/index.ts';
import { changedContent, contentPlan, sanitizedContent } from './content.ts';
import { definitionProblem } from './problems.ts';
import {
  attributesOf,
  checkDateIsFree,
  checkName,
  checkNotPast,
  checkSpelling,
  checkStartsLater,
  endOfLifeOf,
  fallbackOf,
  isDefinitionLocked,
  isDocumentLocked,
  isEndOfLifeLocked,
  isSameDocument,
  isVersionLocked,
  lockedDocument,
} from './rules.ts';
import type {
  DefinitionBody,
  DocumentBody,
  EndOfLifeBody,
  Sanitized,
  StoredDefinition,
  StoredDocument,
  StoredVersion,
} from './schema.ts';
import {
  countDefinitions,
  readDefinition,
  updateEndOfLife,
  upsertDefinition,
  upsertDocument,
  upsertVersion,
  type VersionKey,
} from './store.ts';

export type DefinitionServices = ConfigWriteServices;
export type PutOptions = Preconditions;
type Put = Promise<ConfigWritten<{ revision: number }>>;
type Body = Readonly<Record<string, unknown>>;
type DocumentKey = VersionKey & { language: string; document: string };

/**
 * Creates or replaces a definition; what is below it stays. It takes one that is archived out of the archive.
 * @param body its custom attributes, and languageFallback: that is no part of what users agree to, so time does not lock it
 * @throws Problem definition_locked, consent_name_invalid, consent_attributes_invalid, definition_quota_reached,
 *   precondition_failed, and those of ownership
 */
export async function putDefinition(
  services: DefinitionServices,
  writer: Writer,
  tenant: string,
  name: string,
  { languageFallback: asked, ...custom }: DefinitionBody,
  options: PutOptions = {},
): Put {
  checkName(name, limits.consentNameCharsMax, '/params/name');
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const row = await readDefinition(unit.tx, tenant, name);
    checkOwnership(row?.archived ? undefined : row?.owner, writer, unit.tenantRow.spec.configAuthority);
    checkPreconditions(options, row?.revision);
    const attributes = attributesOf(unit.tenantRow.spec, 'definition', custom, '');
    const keeps = row !== undefined && isDeepStrictEqual(row.attributes, attributes);
    if (row && isDefinitionLocked(row, unit.now) && !(keeps && (row.archived || asked !== undefined))) {
      throw definitionProblem('definition_locked');
    }
    const fallback = fallbackOf(asked);
    if (keeps && !row.archived && row.languageFallback === fallback.languageFallback) return { revision: row.revision };
    if (row === undefined) await checkQuota(unit);
    await upsertDefinition(unit.tx, tenant, { name, attributes, ...fallback, revision: unit.revision }, writer);
    unit.changed('consent_definition', name, row?.archived ? 'restore' : 'put');
    return { revision: unit.revision };
  });
}

/**
 * Creates or replaces a version; its end of life and its documents stay.
 * @param body without optInConfig, whose only value is `direct`: its custom attributes
 * @throws Problem consent_definition_not_found, version_locked, and as putDefinition
 */
export async function putVersion(
  services: DefinitionServices,
  writer: Writer,
  tenant: string,
  { name, version }: VersionKey,
  body: Body,
  options: PutOptions = {},
): Put {
  checkName(version, limits.consentVersionCharsMax, '/params/version');
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const definition = await openDefinition(unit, writer, name);
    const row = definition.versions.find((one) => one.version === version);
    checkPreconditions(options, row?.revision);
    const attributes = attributesOf(unit.tenantRow.spec, 'version', body, '');
    if (row && isVersionLocked(row, unit.now)) throw definitionProblem('version_locked');
    if (row && isDeepStrictEqual(row.attributes, attributes)) return { revision: row.revision };
    if (row === undefined && definition.versions.length >= limits.consentVersionsMax) {
      throw quotaReached(`A definition may have ${limits.consentVersionsMax} versions.`);
    }
    await upsertVersion(unit.tx, tenant, { name, version }, { attributes, revision: unit.revision });
    unit.changed('consent_definition', name, 'put', { version });
    return { revision: unit.revision };
  });
}

/**
 * Creates or replaces the end of life of a version, while its startDate lies in the future.
 * @throws Problem consent_version_not_found, end_of_life_locked, end_of_life_invalid, date_in_past, and as putDefinition
 */
export async function putEndOfLife(
  services: DefinitionServices,
  writer: Writer,
  tenant: string,
  { name, version }: VersionKey,
  body: EndOfLifeBody,
  options: PutOptions = {},
): Put {
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const definition = await openDefinition(unit, writer, name);
    const row = requireVersion(definition, version);
    checkPreconditions(options, row.endOfLife && row.revision);
    const { now } = unit;
    if (row.endOfLife && isEndOfLifeLocked(row.endOfLife, now)) {
      const detail = `The startDate, ${utc(row.endOfLife.startDate)}, has been reached.`;
      throw definitionProblem('end_of_life_locked', { detail });
    }
    const endOfLife = endOfLifeOf(body, '');
    checkStartsLater(endOfLife, now, '');
    if (isDeepStrictEqual(row.endOfLife, endOfLife)) return { revision: row.revision };
    await updateEndOfLife(unit.tx, tenant, { name, version }, { endOfLife, revision: unit.revision });
    unit.changed('consent_definition', name, 'put', { version, endOfLife: body });
    return { revision: unit.revision };
  });
}

/**
 * Creates or replaces a document, until it takes effect.
 * @returns `sanitized`, where its text is not served as it was sent
 * @throws Problem consent_version_not_found, document_locked, date_in_past, effective_date_taken, consent_language_ambiguous,
 *   consent_content_invalid, and as putDefinition
 */
export async function putDocument(
  services: DefinitionServices,
  writer: Writer,
  tenant: string,
  { name, version, language, document }: DocumentKey,
  { effectiveDate, content, ...custom }: DocumentBody,
  options: PutOptions = {},
): Promise<ConfigWritten<{ revision: number; sanitized?: Sanitized }>> {
  checkName(language, limits.consentLanguageCharsMax, '/params/language');
  checkName(document, limits.consentVersionCharsMax, '/params/documentVersion');
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const { versions } = await openDefinition(unit, writer, name);
    const parent = requireVersion({ versions }, version);
    const row = parent.documents.find((one) => one.language === language && one.version === document);
    checkPreconditions(options, row?.revision);
    const { now } = unit;
    if (row && isDocumentLocked(row, now)) {
      throw lockedDocument({ name, version, document: row }, '', changedContent(row.content, content));
    }
    if (row === undefined) checkSpelling(language, languagesOf(versions), '/params/language');
    const attributes = attributesOf(unit.tenantRow.spec, 'document', custom, '');
    const written = contentPlan(row?.content, content, '');
    const plan = { version: document, language, effectiveDate: dateOf(effectiveDate), attributes, ...written };
    checkNotPast(plan.effectiveDate, now, '');
    checkDateIsFree(versions, version, plan, '');
    const sanitized = sanitizedContent(plan.content, content?.body);
    const told = sanitized === undefined ? {} : { sanitized };
    if (row && isSameDocument(row, plan)) return { revision: row.revision, ...told };
    if (row === undefined && parent.documents.length >= limits.consentDocumentsMax) {
      throw quotaReached(`A version may have ${limits.consentDocumentsMax} documents.`);
    }
    await upsertDocument(unit.tx, tenant, { name, version }, { document: plan, revision: unit.revision });
    const digest = plan.content?.digest === undefined ? {} : { contentDigest: plan.content.digest };
    unit.changed('consent_definition', name, 'put', { version, language, document, effectiveDate, ...digest });
    return { revision: unit.revision, ...told };
  });
}

function languagesOf(versions: readonly StoredVersion[]): string[] {
  return versions.flatMap(({ documents }) => documents.map(({ language }) => language));
}

function dateOf(text: string): number {
  const ms = instantMs(text);
  if (ms === undefined) {
    const detail = 'Must be an RFC 3339 instant with a time zone, on a day that exists.';
    throw problem('invalid_request', { detail, errors: [{ pointer: '/effectiveDate', detail }] });
  }
  return ms;
}

/** The definition that something is put below. @throws Problem consent_definition_not_found, and those of ownership */
async function openDefinition(
  { tx, tenant, tenantRow }: ConfigUnit,
  writer: Writer,
  name: string,
): Promise<StoredDefinition> {
  const row = await readDefinition(tx, tenant, name);
  if (row === undefined || row.archived) throw definitionProblem('consent_definition_not_found');
  checkOwnership(row.owner, writer, tenantRow.spec.configAuthority);
  return row;
}

/** @throws Problem definition_quota_reached */
export async function checkQuota({ tx, tenant }: Pick<ConfigUnit, 'tx' | 'tenant'>): Promise<void> {
  if ((await countDefinitions(tx, tenant)) < limits.definitionsMax) return;
  throw quotaReached(`A tenant may have ${limits.definitionsMax} consent definitions.`);
}

function quotaReached(detail: string) {
  return definitionProblem('definition_quota_reached', { detail });
}

/** Also one that is archived. @throws Problem consent_definition_not_found */
export async function requireDefinition(tx: Transaction, tenant: string, name: string): Promise<StoredDefinition> {
  const row = await readDefinition(tx, tenant, name);
  if (row === undefined) throw definitionProblem('consent_definition_not_found');
  return row;
}

/** @throws Problem consent_version_not_found */
export function requireVersion({ versions }: Pick<StoredDefinition, 'versions'>, version: string): StoredVersion {
  const row = versions.find((one) => one.version === version);
  if (row === undefined) throw definitionProblem('consent_version_not_found');
  return row;
}

/** @throws Problem consent_document_not_found */
export function requireDocument(
  { documents }: StoredVersion,
  { language, document }: { language: string; document: string },
): StoredDocument {
  const row = documents.find((one) => one.language === language && one.version === document);
  if (row === undefined) throw definitionProblem('consent_document_not_found');
  return row;
}
