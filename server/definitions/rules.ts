/** The rules of consent definitions, pure: names, attributes, what time has locked, and what is served of them. */

import { isDeepStrictEqual } from 'node:util';
import { type ConsentDefinitionSpec, patterns } from '../../crds/index.ts';
import { pointerStep } from '../../crds/values.ts';
import { instantMs, utc } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import { type Period, parsePeriod } from '../core/periods.ts';
import type { Problem, ProblemPlace } from '../core/problems.ts';
import type { TenantSpec } from '../tenants/index.ts';
import { otherSpelling } from './languages.ts';
import { definitionProblem } from './problems.ts';
import type {
  Attributes,
  Content,
  Definition,
  DocumentPlan,
  EndOfLifePlan,
  StoredDefinition,
  VersionPlan,
} from './schema.ts';

const NAME = new RegExp(patterns.policyName.source, 'u');

/** A problem of one place. */
export function refused(code: Parameters<typeof definitionProblem>[0], pointer: string, detail: string): Problem {
  return definitionProblem(code, { detail, errors: [{ pointer, detail }] });
}

/** @throws Problem consent_name_invalid */
export function checkName(text: string, charsMax: number, pointer: string): void {
  if (NAME.test(text) && text.length <= charsMax) return;
  const detail = `${JSON.stringify(text.slice(0, 80))} is not ${patterns.policyName.words}, at most ${charsMax}.`;
  throw refused('consent_name_invalid', pointer, detail);
}

type Declared = NonNullable<TenantSpec['consentAttributes']>[number];
const words: Record<Declared['type'], string> = {
  string: `Must be a string of at most ${limits.attributeCharsMax} characters.`,
  number: 'Must be a number.',
  boolean: 'Must be true or false.',
  date: 'Must be an RFC 3339 instant.',
};

/**
 * The custom attributes of one object, as the Tenant declares them.
 * @param pointer where they stand
 * @throws Problem consent_attributes_invalid naming each that is not declared, is missing, or is of another type
 */
export function attributesOf(
  spec: TenantSpec,
  object: Declared['object'],
  given: Readonly<Record<string, unknown>>,
  pointer: string,
): Attributes {
  const declared = new Map(
    (spec.consentAttributes ?? []).filter((one) => one.object === object).map((one) => [one.name, one]),
  );
  const errors: ProblemPlace[] = [];
  const refuse = (name: string, detail: string) => errors.push({ pointer: `${pointer}/${pointerStep(name)}`, detail });
  const attributes: [string, string | number | boolean][] = [];
  for (const [name, value] of Object.entries(given)) {
    const type = declared.get(name)?.type;
    if (type === undefined) refuse(name, `The tenant does not declare this attribute for a ${object}.`);
    else if (!isOfType(type, value)) refuse(name, words[type]);
    else attributes.push([name, value]);
  }
  for (const { name, required } of declared.values()) {
    if (required && !Object.hasOwn(given, name)) refuse(name, `The tenant requires this attribute of every ${object}.`);
  }
  if (errors.length === 0) return Object.fromEntries(attributes);
  const detail = errors.map((error) => `${error.pointer}: ${error.detail}`).join(' ');
  throw definitionProblem('consent_attributes_invalid', { detail, errors });
}

function isOfType(type: Declared['type'], value: unknown): value is string | number | boolean {
  if (type === 'date') return typeof value === 'string' && value.length <= 40 && instantMs(value) !== undefined;
  if (type === 'string') return typeof value === 'string' && value.length <= limits.attributeCharsMax;
  return typeof value === type;
}

/** As it is stored. */
export function fallbackOf(asked: ConsentDefinitionSpec['languageFallback']): { languageFallback?: 'lookup' } {
  return asked === 'lookup' ? { languageFallback: asked } : {};
}

/** Whether two documents are the same, whichever revision made them. */
export function isSameDocument(one: DocumentPlan, other: DocumentPlan): boolean {
  const compared = ({ version, language, effectiveDate, attributes, content }: DocumentPlan) => [
    ...[version, language, effectiveDate, attributes, content],
  ];
  return isDeepStrictEqual(compared(one), compared(other));
}

/** A document is locked from its effectiveDate on. */
export function isDocumentLocked({ effectiveDate }: { effectiveDate: number }, now: number): boolean {
  return now >= effectiveDate;
}

/**
 * Why a document stays as it is.
 * @param pointer where it stands
 * @param field of its content, which differs
 */
export function lockedDocument(
  { name, version, document }: { name: string; version: string; document: DocumentPlan },
  pointer: string,
  field: string | undefined,
): Problem {
  const what = `The document ${document.version} in ${document.language} of version ${version} of ${name}`;
  const which = field === undefined ? '' : ` (${field.replace('/', '.')})`;
  const detail = `${what} has been in effect since ${utc(document.effectiveDate)} and cannot change${which}; create a new document.`;
  return refused('document_locked', field === undefined ? pointer : `${pointer}/${field}`, detail);
}

export function isVersionLocked({ documents }: Pick<VersionPlan, 'documents'>, now: number): boolean {
  return documents.some((document) => isDocumentLocked(document, now));
}

export function isDefinitionLocked({ versions }: { versions: readonly VersionPlan[] }, now: number): boolean {
  return versions.some((version) => isVersionLocked(version, now));
}

/** An end of life is locked from its startDate on. */
export function isEndOfLifeLocked({ startDate }: { startDate: number }, now: number): boolean {
  return now >= startDate;
}

/** @throws Problem end_of_life_invalid */
export function endOfLifeOf(
  { startDate, endDate, gracePeriod }: { startDate: string; endDate: string; gracePeriod: string },
  pointer: string,
): EndOfLifePlan {
  const invalid = (field: string, detail: string) => refused('end_of_life_invalid', `${pointer}/${field}`, detail);
  const [start, end] = [instantMs(startDate), instantMs(endDate)];
  if (start === undefined) throw invalid('startDate', 'Must be an RFC 3339 instant with a time zone.');
  if (end === undefined) throw invalid('endDate', 'Must be an RFC 3339 instant with a time zone.');
  if (parsePeriod(gracePeriod) === undefined) throw invalid('gracePeriod', `Must be ${patterns.period.words}.`);
  if (start >= end) throw invalid('startDate', `Must be before endDate, ${new Date(end).toISOString()}.`);
  return { startDate: start, endDate: end, gracePeriod };
}

/** @throws Problem date_in_past */
export function checkStartsLater({ startDate }: EndOfLifePlan, now: number, pointer: string): void {
  if (startDate > now) return;
  throw refused('date_in_past', `${pointer}/startDate`, `Must be in the future; the current time is ${utc(now)}.`);
}

/** @throws Problem date_in_past */
export function checkNotPast(effectiveDate: number, now: number, pointer: string): void {
  if (effectiveDate >= now) return;
  throw refused(
    'date_in_past',
    `${pointer}/effectiveDate`,
    `Must not be in the past; the current time is ${utc(now)}.`,
  );
}

/**
 * No other document of the definition takes effect in the language at the same instant.
 * @throws Problem effective_date_taken
 */
export function checkDateIsFree(
  versions: readonly VersionPlan[],
  version: string,
  document: DocumentPlan,
  pointer: string,
): void {
  for (const other of versions) {
    for (const one of other.documents) {
      if (one.language !== document.language || one.effectiveDate !== document.effectiveDate) continue;
      if (other.version === version && one.version === document.version) continue;
      const detail = `The document ${one.version} of version ${other.version} takes effect in ${one.language} at ${utc(one.effectiveDate)} too.`;
      throw refused('effective_date_taken', `${pointer}/effectiveDate`, detail);
    }
  }
}

/**
 * A language tag is spelled in one way in a definition: tags are compared without case.
 * @param known the languages of its other documents
 * @throws Problem consent_language_ambiguous
 */
export function checkSpelling(language: string, known: Iterable<string>, pointer: string): void {
  const other = otherSpelling(language, known);
  if (other === undefined) return;
  const detail = `${language} is the language tag ${other} in another case, and another document has ${other}: write both alike.`;
  throw refused('consent_language_ambiguous', pointer, detail);
}

/** What is served of a definition. */
export function definitionOf({
  name,
  languageFallback,
  versions,
}: Pick<StoredDefinition, 'name' | 'languageFallback' | 'versions'>): Definition {
  return Object.freeze({
    name,
    ...(languageFallback && { languageFallback }),
    versions: Object.freeze(versions.map(servedVersion)),
  });
}

function servedVersion({ version, endOfLife, documents }: VersionPlan): Definition['versions'][number] {
  return Object.freeze({
    version,
    ...(endOfLife && {
      endOfLife: Object.freeze({ ...endOfLife, gracePeriod: parsePeriod(endOfLife.gracePeriod) as Period }),
    }),
    documents: Object.freeze(
      documents.map(({ version, language, effectiveDate, content }) =>
        Object.freeze({ version, language, effectiveDate, ...(content && { content: servedContent(content) }) }),
      ),
    ),
  });
}

function servedContent({ title, mediaType, digest }: Content) {
  return Object.freeze({ title, mediaType, ...(digest && { digest }) });
}

/** By name, without those that are archived. */
export function definitionsOf(stored: readonly StoredDefinition[]): ReadonlyMap<string, Definition> {
  return new Map(stored.filter((one) => !one.archived).map((one) => [one.name, definitionOf(one)]));
}
